"""After a storm of starts, stops and killed commands, everything is accounted for."""

import os
import shutil
import sys
from collections import Counter

import pytest

from orchestrator.verdicts import Verdict
from tests.stray_storm import Storm, cleaned, grown, of_this_folder, ours, rage, settle

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(shutil.which("node") is None, reason="its gateways are Node's"),
]
# `STORM=10,5,120 pytest …/test_stray_storm.py`: fifty gateways of ten worktrees, two minutes.
TREES, GATEWAYS, SECONDS = (int(one) for one in os.environ.get("STORM", "3,2,6").split(","))


def test_afterwards_each_process_is_on_the_list_and_nothing_is_left_after_cleaning(tmp_path):
    storm = Storm(
        home=tmp_path, worktrees=TREES, gateways=GATEWAYS, seconds=SECONDS, workers=4, seed=7
    )
    lines = grown(storm)
    tally = rage(storm, lines)
    here, listed = settle(storm)
    living = ours(here)
    told = Counter(process.pid for one in listed for process in one.processes)
    try:
        assert set(told) == set(living), tally
        assert set(told.values()) <= {1}
        verdicts = Counter(one.verdict for one in listed)
        assert set(verdicts) <= {Verdict.IDLE, Verdict.DEAD, Verdict.UNREGISTERED}, verdicts
    finally:
        left = cleaned(here)
    assert left == []
    assert of_this_folder(here) == ()
    assert ours(here) == {}
    assert here.state.names(".json") == ()
    for suffix in (".lock", ".use", ".port"):
        held = [name for name in here.state.names(suffix) if here.state.use_of(name).is_held]
        assert held == []
    assert lines[0].leftovers() == []
    sys.stderr.write(f"{tally} {dict(verdicts)}\n")
