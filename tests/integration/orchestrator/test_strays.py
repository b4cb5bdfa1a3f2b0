"""What is listed and what is removed, with real processes, locks and working trees."""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from orchestrator.cleaning import clean
from orchestrator.errors import NotForUs
from orchestrator.holding import hold_for_use
from orchestrator.leftovers import leftovers, remove
from orchestrator.ports import Absence
from orchestrator.removals import Pick, Wish, removals
from orchestrator.survey import survey
from orchestrator.system import machine
from orchestrator.system.mac_processes import MacTable
from orchestrator.system.mac_sockets import MacSockets
from orchestrator.verdicts import Verdict
from tests.patience import PATIENCE_S, until
from tests.stray_place import (
    NOW,
    cleaned,
    git,
    grow,
    holder,
    is_of,
    only,
    seen,
)

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@pytest.fixture
def yard(yard):
    yield yard
    yard.stop()


@pytest.fixture
def grove(yard):
    """A repository with working trees: beside it, in one path prefix, nested, removed twice."""
    repository = yard.root / "repo"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    for name in ("wt", "wt2", "wt/inner", "removed", "deleted"):
        git(repository, "worktree", "add", "-q", "-b", f"b-{name.replace('/', '-')}", f"../{name}")
    return yard


def test_each_gateway_is_told_by_its_own_worktree_and_only_mine_are_mine(grove):
    root = grove.root
    for name in ("wt", "wt2", "wt/inner", "removed", "deleted"):
        grow(grove, root / name)
    git(root / "repo", "worktree", "remove", "--force", "../removed")
    shutil.rmtree(root / "deleted")

    found = {one.worktree: one for one in survey(grove.machine, near=str(root / "repo"))}
    told = {
        name: (one.verdict, one.branch, one.is_worktree_gone)
        for name in ("wt", "wt2", "wt/inner", "removed", "deleted")
        for one in [found[str(root / name)]]
    }
    assert told == {
        "wt": (Verdict.IDLE, "b-wt", False),
        "wt2": (Verdict.IDLE, "b-wt2", False),
        "wt/inner": (Verdict.IDLE, "b-wt-inner", False),
        "removed": (Verdict.IDLE, "b-removed", True),
        "deleted": (Verdict.IDLE, "b-deleted", True),
    }
    one = found[str(root / "wt")]
    assert one.memory_bytes is not None
    assert one.memory_bytes > 1_000_000
    assert one.age_s is not None
    assert one.record is not None
    assert one.ports == (one.record.port,)

    mine = replace(NOW, worktree=str(root / "wt"))
    done = cleaned(grove, mine)
    assert [(gone.removal.stray.worktree, gone.is_done) for gone in done] == [
        (str(root / "wt"), True)
    ]
    left = {one.worktree for one in seen(grove) if is_of(grove, one)}
    assert left == {str(root / name) for name in ("wt2", "wt/inner", "removed", "deleted")}
    assert all(gone.is_done for gone in cleaned(grove))
    assert grove.marked() == []
    assert grove.machine.state.names(".json") == ()


def test_the_young_are_left_alone(yard):
    yard.start_script()
    assert cleaned(yard, Wish(older_than_s=600.0)) == ()
    assert only(yard, Verdict.IDLE).idle_s < 600


def test_what_a_run_holds_is_left_alone_until_its_holder_is_killed(yard):
    started = yard.start_script()
    with holder(yard) as (process, _):
        held = only(yard, Verdict.HELD)
        assert held.held_by.text == f"run run-of-the-holder (PID {process.pid})"
        assert cleaned(yard) == ()
        pick = Pick(pid=started.held.pid, start=started.record.identity.start_ticks)
        with pytest.raises(NotForUs, match="was left alone: in use"):
            cleaned(yard, replace(NOW, picks=(pick,)))
        process.kill()
        process.wait()
        assert only(yard, Verdict.IDLE).held_by is None
    assert [gone.why for gone in cleaned(yard)] == ["stopped"]
    assert started.held.ended(0)


def test_a_holder_that_died_before_its_child_leaves_the_hold_to_it(yard):
    yard.start_script()
    with holder(yard, leaves_child=True) as (process, child):
        process.kill()
        process.wait()
        held = only(yard, Verdict.HELD)
        assert held.held_by.text == "run run-of-the-holder"
        assert cleaned(yard) == ()
        os.kill(child, signal.SIGKILL)
        until(lambda: not yard.machine.state.use_of(f"{yard.instance.id}.use").is_held)
    only(yard, Verdict.IDLE)


def test_taken_into_use_between_the_look_and_the_removal_it_is_left_alone(yard):
    yard.start_script()
    wanted = removals(seen(yard), NOW)
    lock = hold_for_use(yard.machine, yard.instance, "late-run")
    done = clean(yard.machine, wanted, is_ended=lambda: False)
    assert [(one.is_done, one.fault) for one in done] == [(False, None)]
    assert "took it into use" in done[0].why
    lock.release()
    idle = only(yard, Verdict.IDLE)
    assert idle.idle_s < 60


def test_started_again_between_the_look_and_the_removal_the_new_one_lives(yard):
    yard.start_script()
    wanted = removals(seen(yard), NOW)
    yard.stop()
    second = yard.start_script()
    done = clean(yard.machine, wanted, is_ended=lambda: False)
    assert [one.why for one in done] == ["its record changed meanwhile"]
    assert not second.held.ended(0)


def test_the_dead_are_put_away_with_shim_and_what_escaped_from_them(yard):
    escape = (
        "import os, subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'],"
        " start_new_session=True)\n"
    )
    started = yard.start_script(f"{escape}from server import serve\nserve()\n")
    os.kill(started.held.pid, signal.SIGKILL)
    assert started.held.ended(PATIENCE_S)
    dead = only(yard, Verdict.DEAD)
    assert "1 of its processes are left" in dead.reason
    assert [gone.why for gone in cleaned(yard)] == [
        "what was left of it is ended, its record put away"
    ]
    assert yard.marked() == []
    assert {path.suffix for path in yard.machine.state.root.iterdir()}.isdisjoint(
        {".json", ".py", ".cjs"}
    )


def test_what_carries_our_marker_without_a_record_is_ended(yard):
    started = yard.start_script()
    record = yard.machine.state.root / f"{yard.instance.id}.json"
    kept = record.read_bytes()
    record.write_bytes(kept[:100])
    assert {one.verdict for one in seen(yard) if is_of(yard, one)} == {Verdict.UNVERIFIED}
    assert cleaned(yard) == ()
    record.unlink()
    only(yard, Verdict.UNREGISTERED)
    assert [gone.why for gone in cleaned(yard)] == [f"ended PID {started.held.pid}"]
    assert started.held.ended(0)


def test_a_gateway_of_another_state_folder_is_not_ours_to_end(yard):
    started = yard.start_script()
    other = machine(yard.root / "other")
    found = [one for one in survey(other, near="/") if one.pid == started.held.pid]
    assert [one.verdict for one in found] == [Verdict.ELSEWHERE]
    pick = Pick(pid=started.held.pid, start=started.record.identity.start_ticks)
    with pytest.raises(NotForUs):
        removals(survey(other, near="/"), replace(NOW, picks=(pick,)))
    assert all(one.action == "keep" for one in removals(found, NOW))


def test_old_files_of_gateways_that_are_gone_are_removed_and_their_locks_last(yard):
    state = yard.machine.state
    yard.start_script()
    for ending in (".py", ".log", ".end", ".lock"):
        state.write(f"aaaaaaaa{ending}", b"x")
    for name in ("cccccccc.lock", "cccccccc.use", "dddddddd.lock", "notes.txt"):
        state.write(name, b"x")
    (state.root / "bbbbbbbb.d").mkdir()
    (state.root / "bbbbbbbb.d" / "config").write_text("x")
    assert leftovers(yard.machine, older_than_s=600) == ()
    week_ago = time.clock_gettime(time.CLOCK_REALTIME) - 8 * 24 * 3600
    for path in state.root.iterdir():
        os.utime(path, (week_ago, week_ago))
    found = leftovers(yard.machine, older_than_s=600)
    assert [one.name for one in found] == [
        "aaaaaaaa.py",
        "bbbbbbbb.d",
        "aaaaaaaa.log",
        "aaaaaaaa.end",
        "cccccccc.lock",
        "dddddddd.lock",
        "cccccccc.use",
    ]
    lock = state.lock("bbbbbbbb.lock", "somebody starts it")
    use = state.share("dddddddd.use", "somebody uses it")
    partly = tuple(one for one in found if one.name != "aaaaaaaa.end")
    assert [one.name for one in remove(yard.machine, partly)] == [
        "aaaaaaaa.py",
        "aaaaaaaa.log",
        "cccccccc.lock",
        "cccccccc.use",
    ]
    assert (state.root / "aaaaaaaa.lock").exists()
    assert [one.name for one in remove(yard.machine, found[3:4])] == ["aaaaaaaa.end"]
    lock.release()
    use.release()
    assert remove(yard.machine, found[1:2]) == found[1:2]
    left = {path.name for path in state.root.iterdir()}
    mine = yard.instance.id
    assert {"dddddddd.lock", "notes.txt", f"{mine}.json", f"{mine}.log", f"{mine}.py"} <= left
    assert [name for name in left if name.startswith(("aaaaaaaa", "bbbbbbbb", "cccccccc"))] == []
    with suppress(FileNotFoundError):
        (state.root / "notes.txt").unlink()


def test_a_shared_lock_is_held_by_any_number_and_refused_while_one_has_it_alone(yard):
    state = yard.machine.state
    assert not state.use_of("one.use").is_held
    assert state.use_of("one.use").quiet_s is None
    first, second = state.share("one.use", "first"), state.share("one.use", "second")
    assert not isinstance(first, str)
    assert not isinstance(second, str)
    assert state.use_of("one.use").notes == ("first", "second")
    assert state.lock("one.use", "alone") == "first\nsecond\n"
    first.release()
    first.release()
    assert state.use_of("one.use").is_held
    second.release()
    quiet = state.use_of("one.use")
    assert (quiet.is_held, quiet.notes) == (False, ())
    assert quiet.quiet_s is not None
    alone = state.lock("one.use", "alone")
    assert state.share("one.use", "third") == "alone"
    assert not isinstance(alone, str)
    alone.release()
    third = state.share("one.use", "third")
    assert state.use_of("one.use").notes == ("third",)
    assert not isinstance(third, str)
    third.release()
    assert state.age_s("one.use") is not None
    assert state.age_s("none") is None


def test_the_mac_tables_see_listeners_and_memory_of_this_user(yard):
    """Psutil's side of them, as far as this system has it too."""
    started = yard.start_script()
    sockets = MacSockets(yard.machine.table)
    mine = [one for one in sockets.all_listeners() if started.held.pid in one.pids]
    assert [one.port for one in mine] == [started.record.port]
    table = MacTable(lambda _: Absence.HIDDEN, "boot")
    assert (table.detail(started.held.pid).resident_bytes or 0) > 1_000_000
    assert table.detail(2**22 + 7).resident_bytes is None


def test_what_a_killed_writer_left_half_written_goes_with_its_gateway(yard):
    state = yard.machine.state
    names = ("aaaaaaaa.json.k_1x.part", "aaaaaaaa.exit~")
    for name in names:
        (state.root / name).parent.mkdir(exist_ok=True)
        (state.root / name).write_bytes(b"{")
    found = leftovers(yard.machine, older_than_s=0)
    assert {one.name for one in found} == set(names)
    assert remove(yard.machine, found) == found
