"""Lock files that are removed: never two at once, never a lock on what is gone, nothing left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.leftovers import remove_locks, remove_traces
from orchestrator.system import machine
from orchestrator.system.state import DiskState
from tests.command_line import CommandLine
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

# Each takes the lock as often as it gets it, proves that it is alone with a file that may not be
# there yet, and removes the lock's file.
TAKER = """
import os, sys
from pathlib import Path
from orchestrator.system.state import DiskState
root, wanted = Path(sys.argv[1]), int(sys.argv[2])
state, taken = DiskState(root), 0
inside = root / "inside"
print("here", flush=True)
sys.stdin.readline()  # until the others are here, too
while taken < wanted:
    lock = state.lock("x.lock", "one of many")
    if isinstance(lock, str):
        continue
    os.close(os.open(inside, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    inside.unlink()
    lock.remove()
    taken += 1
"""
ROOT = Path(__file__).parents[3]


def test_however_often_its_file_is_removed_only_one_has_a_lock(tmp_path):
    words = [sys.executable, "-c", TAKER, str(tmp_path), "100"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    takers = [
        subprocess.Popen(words, env=environment, stdin=pipe, stdout=pipe, text=True)
        for _ in range(6)
    ]
    for taker in takers:
        assert taker.stdout is not None
        assert taker.stdout.readline() == "here\n"
    for taker in takers:
        assert taker.stdin is not None
        taker.stdin.write("go\n")
        taker.stdin.flush()
    for taker in takers:
        taker.communicate(timeout=PATIENCE_S)
    assert [taker.returncode for taker in takers] == [0] * 6
    assert list(tmp_path.iterdir()) == []


class Swapped(DiskState):
    """Opens the file of a moment ago: somebody removed it between our open and our lock."""

    def __init__(self, root):
        super().__init__(root)
        self.times = 1
        self.replaced = True

    def _open(self, name, more=0):  # type: ignore[explicit-override]  # typing.override came with 3.12
        descriptor = super()._open(name, more)
        if self.times:
            self.times -= 1
            (self.root / name).unlink()
            if self.replaced:
                (self.root / name).touch()
        return descriptor


@pytest.mark.parametrize("replaced", [True, False], ids=["another is there", "none is there"])
@pytest.mark.parametrize("way", ["lock", "share"])
def test_a_lock_on_a_file_that_is_gone_is_none(tmp_path, way, replaced):
    state = Swapped(tmp_path)
    state.replaced = replaced
    lock = getattr(state, way)("x.use", "we")
    assert not isinstance(lock, str)
    there = (tmp_path / "x.use").stat()
    assert os.fstat(lock.descriptor).st_ino == there.st_ino
    assert state.use_of("x.use").notes == ("we",)
    lock.release()


@pytest.mark.parametrize("way", ["lock", "share"])
def test_files_that_never_stay_are_given_up_on(tmp_path, way):
    state = Swapped(tmp_path)
    state.times = 10_000
    assert getattr(state, way)("x.use", "we") == "another process"


def test_a_lock_that_was_let_go_removes_nothing(tmp_path):
    state = DiskState(tmp_path)
    lock = state.lock("x.lock", "we")
    assert not isinstance(lock, str)
    lock.release()
    lock.remove()
    assert (tmp_path / "x.lock").exists()


@pytest.fixture
def command(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    return CommandLine(tmp_path / "home", folder)


def test_a_run_that_ended_well_leaves_nothing_in_the_state_folder(command):
    done = command("demo", "--runs", "1", "--json")
    assert done.code == 0, done.err
    assert done.gateway["log"] is None
    assert [path.name for path in command.state.iterdir()] == ["trusted"]


def test_a_start_that_failed_keeps_its_log_and_a_later_good_one_takes_only_its_own(command):
    (command.cwd / "broken.py").write_text("raise SystemExit('it broke')\n")
    broken = command("exec", "--entry", "broken.py", "--", "true")
    assert broken.code != 0
    kept = sorted(path.name for path in command.state.iterdir() if path.suffix == ".log")
    assert len(kept) == 1
    good = command("exec", "--preset", "demo", "--", "true")
    assert (good.code, good.out) == (0, "")
    assert sorted(path.name for path in command.state.iterdir() if path.suffix == ".log") == kept
    bad = command("exec", "--preset", "demo", "--", "false")
    assert bad.code == 1
    assert len([path for path in command.state.iterdir() if path.suffix == ".log"]) == 2


def test_what_is_used_or_on_record_keeps_everything(tmp_path):
    here = machine(tmp_path / "st")
    for name in ("aaaaaaaa.log", "aaaaaaaa.end", "bbbbbbbb.log", "bbbbbbbb.json"):
        here.state.write(name, b"{}")
    use = here.state.share("aaaaaaaa.use", "somebody")
    assert not isinstance(use, str)
    assert not remove_traces(here, ["aaaaaaaa"])
    assert not remove_traces(here, ["bbbbbbbb"])
    use.release()
    remove_locks(here, "aaaaaaaa")
    assert {"aaaaaaaa.log", "aaaaaaaa.use", "bbbbbbbb.log"} <= {
        path.name for path in here.state.root.iterdir()
    }
    assert remove_traces(here, ["aaaaaaaa"])
    attached = here.state.share("cccccccc.use", "attached")
    assert not isinstance(attached, str)
    attached.release()
    remove_locks(here, "cccccccc")
    left = {path.name for path in here.state.root.iterdir()}
    assert left == {"bbbbbbbb.log", "bbbbbbbb.json", "bbbbbbbb.lock", "bbbbbbbb.use"}
