"""A run that is interrupted once more while its reports are made."""

import pytest

from bench.cli.console import Console
from bench.cli.going_on import Again
from bench.cli.talk import carried_out
from bench.errors import Interrupted


def test_its_hint_goes_on_with_what_its_journal_does_not_hold():
    def run():
        raise Interrupted("/a b/c.jsonl", run_id="r")

    with pytest.raises(Interrupted) as twice:
        carried_out(run, Console(), Again(words=("--no-tag",)))
    assert twice.value.run_id == "r"
    assert twice.value.hint == (
        "`gateway-bench resume '/a b/c.jsonl' --no-tag` asks what is missing, "
        "`gateway-bench render '/a b/c.jsonl'` makes the reports"
    )
