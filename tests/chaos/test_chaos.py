"""Whatever happened to our commands: every gateway is accounted for, and only ours is removed."""

import shutil
import tempfile
from pathlib import Path

import pytest

from orchestrator.records import GatewayRecord, Instance, decode
from orchestrator.strays import Stray
from orchestrator.survey import survey
from orchestrator.verdicts import Verdict
from tests.chaos.disorder import Disorder, Strangers
from tests.patience import until

pytestmark = [pytest.mark.chaos, pytest.mark.integration]

KEPT = {".end", ".lock", ".log", ".1", ".port", ".use", ".node"}
"""What may be in the state folder when no gateway is: how they ended, logs, locks."""
OURS = {Verdict.IDLE, Verdict.DEAD, Verdict.UNREGISTERED}


@pytest.fixture
def disorder(size):
    # Not pytest's folder: its name holds words that people kill by.
    root = Path(tempfile.mkdtemp(prefix="c")).resolve()
    made = Disorder(root=root, size=size)
    yield made
    left = [(one.pid, one.command) for one in made.marked()]
    made.end_marked()
    assert left == [], "a gateway of this test is still running"
    shutil.rmtree(root)


@pytest.fixture
def strangers(disorder):
    made = Strangers(disorder.trees[::3])
    yield made
    made.close()


def test_after_two_minutes_of_disorder_everything_is_accounted_for(disorder, strangers, tell):
    disorder.unleash()
    for what, count in sorted(disorder.done.items()):
        tell(f"{count:4} {what}")
    assert disorder.faults == []
    try:
        accounted_for(disorder)
    finally:
        put_away(disorder)
    assert disorder.line.records() == []
    assert disorder.marked() == []
    left = {path.name for path in disorder.line.state.iterdir() if path.suffix not in KEPT}
    assert left == set()
    assert strangers.ended() == []


def accounted_for(disorder: Disorder) -> None:
    """Every process of ours is in one row, every record is whole, every lock is free."""
    (mine,) = until(lambda: at_rest(disorder))
    listed = {process.pid for one in mine for process in one.processes}
    assert {one.pid for one in disorder.marked()} <= listed
    odd = [one for one in mine if one.verdict not in OURS | {Verdict.SUSPECT}]
    assert odd == []
    for path in disorder.line.state.glob("*.json"):
        record = decode(path.read_bytes())
        assert isinstance(record, GatewayRecord)
        assert (
            record.id == path.stem == Instance(worktree=Path(record.worktree), name=record.name).id
        )
        for suffix in (".lock", ".use"):
            lock = disorder.machine.state.lock(record.id + suffix, "the test")
            assert not isinstance(lock, str), f"{record.id}{suffix} is held by {lock}"
            lock.release()


def at_rest(disorder: Disorder) -> tuple[list[Stray], ...]:
    """Return what is there, once nothing comes and goes; ``()`` = something still does.

    What a killed command had begun, or was running, comes to its end a moment later.
    """
    before = {one.pid for one in disorder.marked()}
    found = survey(disorder.machine, near=str(disorder.root))
    mine = [one for one in found if one.worktree and one.worktree.startswith(str(disorder.root))]
    is_held = any(one.verdict is Verdict.HELD for one in mine)
    return () if is_held or {one.pid for one in disorder.marked()} != before else (mine,)


def put_away(disorder: Disorder) -> None:
    """Stop half of them by name, and have the rest cleaned up."""
    for tree, name in disorder.gateways()[::2]:
        stopped = disorder.line("stop", name, "--gateway", str(tree), "--json")
        assert stopped.code == 0, stopped
    cleaned = disorder.line("clean", "--older-than", "0s", "--yes", "--json")
    assert cleaned.code == 0, cleaned
