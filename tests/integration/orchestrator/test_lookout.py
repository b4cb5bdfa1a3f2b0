"""The lookout over real gateways, folders and disks: what they use, and what changes around them."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from orchestrator.lookout import Lookout, Reading, Watched
from orchestrator.notes import Note
from orchestrator.records import Instance
from orchestrator.stopping import stop
from orchestrator.system.sock_diag import listening_inodes
from tests.patience import PATIENCE_S, until
from tests.small_disk import small_disk

pytestmark = pytest.mark.integration

GIT = shutil.which("git") or "git"
_LINES = 4

# Starts a worker when it is asked for, so that nothing depends on how fast anything is.
PARENT = """
import os, subprocess, sys, threading, time
from server import serve
def work():
    while not os.path.exists("go"):
        time.sleep(0.02)
    {what}
if __name__ == "__main__":
    threading.Thread(target=work, daemon=True).start()
    serve()
"""
BUSY_CHILD = """
import os, time
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
while not os.path.exists("seen"):
    time.sleep(0.02)
with open("spent", "w") as file:
    file.write(f"{os.getpid()} {time.process_time() * 1000}")
"""


class Seen:
    """What a lookout over one gateway told, waited for."""

    def __init__(self, yard, started, **more):
        self.readings: list[Reading] = []
        self.notes: list[Note] = []
        self._told = threading.Condition()
        self.lookout = Lookout(
            yard.machine,
            Watched(record=started.record, **more),
            on_reading=lambda one: self._take(self.readings, one),
            on_note=lambda one: self._take(self.notes, one),
            turn_s=0.05,
        )

    def _take(self, kept, one):
        with self._told:
            kept.append(one)
            self._told.notify_all()

    def until(self, condition):
        with self._told:
            assert self._told.wait_for(condition, PATIENCE_S), (self.readings[-1:], self.notes)

    def turns(self, count):
        """Wait until it looked around some more times."""
        wanted = len(self.readings) + count
        self.until(lambda: len(self.readings) >= wanted)

    def note(self, name):
        """Wait for a notice of a class."""
        self.until(lambda: any(one.incident_class == name for one in self.notes))
        return next(one for one in self.notes if one.incident_class == name)

    def values(self, name):
        return [one.values[name] for one in self.readings if name in one.values]


@pytest.fixture
def looked_at(yard):
    made = []

    @contextmanager
    def begin(started, **more):
        seen = Seen(yard, started, **more)
        made.append(seen)
        seen.turns(2)
        yield seen
        seen.lookout.close()

    yield begin
    for seen in made:
        seen.lookout.close()


# ---- samples -------------------------------------------------------------------------------------


def test_a_gateway_is_sampled_from_ready_to_stop_with_memory_at_both_ends(yard, looked_at):
    started = yard.start_script()
    with looked_at(started) as seen:
        seen.lookout.finish()
    first, last = seen.readings[0].values, seen.readings[-1].values
    for values in (first, last):
        assert {"cpuMs", "rssMb", "pssMb", "threads", "descriptors", "processes"} <= set(values)
        assert {"connectionsIn", "connectionsOut", "connectionsWaiting"} <= set(values)
        assert 0 < values["pssMb"] <= values["rssMb"]
    assert first["processes"] == 1.0
    middle = seen.readings[1].values
    assert "pssMb" not in middle
    assert "connectionsIn" not in middle
    assert seen.values("cpuMs") == sorted(seen.values("cpuMs"))
    yard.stop(held=started.held)
    assert seen.notes == []


def test_after_the_end_nothing_is_taken_any_more(yard, looked_at):
    started = yard.start_script()
    with looked_at(started) as seen:
        seen.lookout.finish()
        seen.lookout.finish()
        taken = len(seen.readings)
        yard.stop(held=started.held)
        seen.lookout.finish()
    assert len(seen.readings) == taken


def test_a_dead_gateway_gives_no_sample_of_nothing(yard, looked_at):
    started = yard.start_script()
    with looked_at(started) as seen:
        started.held.send(9)
        assert started.held.ended(PATIENCE_S)
        seen.lookout.finish()
    assert all(one.values["processes"] for one in seen.readings)
    yard.stop(held=started.held)


def test_the_work_of_a_worker_that_came_and_went_is_counted_once(yard, looked_at):
    yard.write("busy.py", BUSY_CHILD)
    what = "subprocess.run([sys.executable, 'busy.py']); time.sleep(600)"
    started = yard.start_script(PARENT.format(what=what))
    with looked_at(started) as seen:
        before_ms = seen.values("cpuMs")[-1]
        (yard.worktree / "go").touch()
        seen.until(lambda: 2.0 in seen.values("processes"))
        (yard.worktree / "seen").touch()
        seen.until(lambda: seen.values("processes")[-1] == 1.0)
        pid, told = (yard.worktree / "spent").read_text().split()
        until(lambda: not Path(f"/proc/{pid}").exists())  # its time is its parent's from then on
        seen.turns(2)
        spent_ms = seen.values("cpuMs")[-1] - before_ms
    told_ms = float(told)
    # The kernel counts in ticks; what it took to start the worker is the gateway's own.
    assert told_ms - 20 <= spent_ms < 2 * told_ms
    assert seen.values("cpuMs") == sorted(seen.values("cpuMs"))
    yard.stop(held=started.held)


def test_connections_are_counted_around_an_incident(yard, looked_at):
    started = yard.start_script()
    address = ("127.0.0.1", started.record.port)
    with looked_at(started) as seen, ExitStack() as lines:
        for _ in range(_LINES):
            lines.enter_context(socket.create_connection(address, timeout=PATIENCE_S))
        asked = len(seen.values("connectionsIn"))
        for _ in range(400):
            seen.lookout.look_closely()
            seen.until(lambda known=asked: len(seen.values("connectionsIn")) > known)
            asked = len(seen.values("connectionsIn"))
            if seen.values("connectionsIn")[-1] == _LINES:
                break
        assert seen.values("connectionsIn")[-1] == _LINES
        # It may not have accepted them yet; once it has, it holds more descriptors than before, with
        # the one of the health check that it may have had then.
        seen.until(lambda: seen.values("descriptors")[-1] > seen.values("descriptors")[0])
    yard.stop(held=started.held)


# ---- the build and its folder --------------------------------------------------------------------


def git(folder, *words):
    subprocess.run(
        [GIT, "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(folder), *words],
        check=True,
        capture_output=True,
    )


def test_a_built_file_that_changes_under_a_running_gateway_is_noticed(yard, looked_at):
    yard.write("dist/chunk.py", "A = 1\n")
    started = yard.start_script()
    with looked_at(started) as seen:
        seen.turns(6)
        yard.write("dist/chunk.py", "A = 2\n")
        note = seen.note("build_changed")
    assert note.detail["files"] == {"chunk.py": "changed"}
    assert "`chunk.py` (1 changed)" in note.summary
    yard.stop(held=started.held)


def test_a_touched_file_and_what_a_gateway_writes_itself_are_no_change(yard, looked_at):
    path = yard.write("dist/chunk.py", "A = 1\n")
    started = yard.start_script()
    with looked_at(started) as seen:
        seen.turns(6)
        os.utime(path)
        yard.write("dist/cache.json", "{}")
        yard.write("dist/node_modules/x/index.js", "1")
        yard.write("dist/.hidden/x.js", "1")
        seen.turns(12)
    assert seen.notes == []
    yard.stop(held=started.held)


def test_another_commit_checked_out_under_a_running_gateway_is_noticed(yard, looked_at):
    git(yard.worktree, "init", "-q")
    git(yard.worktree, "commit", "-q", "--allow-empty", "-m", "one")
    started = yard.start_script()
    with looked_at(started) as seen:
        seen.turns(6)
        git(yard.worktree, "commit", "-q", "--allow-empty", "-m", "two")
        note = seen.note("build_changed")
    assert note.detail["head"].startswith(
        f"git's HEAD went from {started.record.build.commit[:12]}"
    )
    yard.stop(held=started.held)


def test_git_is_read_as_git_says_also_in_a_linked_tree_and_packed(yard):
    premises = yard.machine.premises
    assert premises.head(yard.worktree) is None
    git(yard.worktree, "init", "-q")
    assert premises.head(yard.worktree) is None, "no commit yet"
    git(yard.worktree, "commit", "-q", "--allow-empty", "-m", "one")
    linked = yard.root / "linked"
    git(yard.worktree, "worktree", "add", "-q", str(linked))

    def said(folder):
        words = [GIT, "-C", str(folder), "rev-parse", "HEAD"]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    git(linked, "commit", "-q", "--allow-empty", "-m", "two")
    assert premises.head(yard.worktree) == said(yard.worktree)
    assert premises.head(linked) == said(linked)
    git(yard.worktree, "pack-refs", "--all")
    assert premises.head(linked) == said(linked)
    git(linked, "checkout", "-q", "--detach")
    assert premises.head(linked) == said(linked)


def test_a_worktree_that_is_removed_under_a_running_gateway_is_noticed_as_that(yard, looked_at):
    started = yard.start_script()
    with looked_at(started) as seen:
        # At once: file by file it would be seen as a build that changes, first.
        yard.worktree.rename(yard.root / "removed")
        shutil.rmtree(yard.root / "removed")
        note = seen.note("worktree_gone")
        seen.turns(12)
    assert note.detail == {"worktree": str(yard.worktree), "isReplaced": False}
    assert [one.incident_class for one in seen.notes] == ["worktree_gone"]
    yard.stop(held=started.held)


# ---- processes, disks, logs, databases -----------------------------------------------------------


def test_a_worker_whose_name_others_kill_by_is_noticed_when_it_comes(yard, looked_at):
    yard.write("dist/worker.py", "import time\ntime.sleep(600)\n")
    what = "subprocess.run([sys.executable, 'dist/worker.py', 's3cret-value'])"
    started = yard.start_script(PARENT.format(what=what))
    with looked_at(started, secrets=("s3cret-value",)) as seen:
        assert seen.notes == []
        (yard.worktree / "go").touch()
        note = seen.note("exposed")
    (found,) = note.detail["processes"]
    assert found["pid"] != started.held.pid
    assert "dist/worker.py" in found["command"]
    assert "s3cret-value" not in str(note.detail) + note.summary
    yard.stop(held=started.held)


def test_little_room_for_results_is_noticed_on_a_real_small_disk(yard, looked_at, tmp_path):
    started = yard.start_script()
    with small_disk(tmp_path / "small", kilobytes=512), looked_at(started) as seen:
        seen.lookout.add_folder(tmp_path / "small", "the results")
        note = seen.note("disk_low")
        seen.lookout.close()
    assert note.detail["folder"] == str(tmp_path / "small")
    assert note.detail["freeBytes"] <= 512 * 1024
    assert "left where the results are written" in note.summary
    yard.stop(held=started.held)


def test_a_log_beyond_its_limit_is_emptied_and_that_is_told(yard, looked_at):
    started = yard.start_script()
    log = Path(started.record.log)
    with looked_at(started) as seen:
        with log.open("ab") as file:
            file.truncate(65 * 1024 * 1024)  # a hole: no disk is used
        note = seen.note("log_guard")
    assert log.stat().st_size < 1024 * 1024
    assert note.detail["path"] == str(log)
    yard.stop(held=started.held)


def test_two_gateways_that_name_one_database_are_told_apart_from_two_that_do_not(yard, looked_at):
    shop = {"DATABASE_URL": "postgres://me:hunter22@localhost/shop"}
    other_shop = {"DATABASE_URL": "postgresql://you@127.0.0.1:5432/shop"}
    first = yard.start_script(environment=shop)
    assert "hunter22" not in (yard.root / "st" / f"{first.record.id}.json").read_text()
    with looked_at(first) as seen:
        seen.turns(12)
        assert seen.notes == []
        second = Instance(worktree=yard.worktree, name="second")
        request = replace(yard.request, instance=second, run_id=f"{yard.run_id}b")
        twin = yard.start(sys.executable, "dist/serve.py", request=request, environment=other_shop)
        note = seen.note("shared_database")
        assert note.detail["pid"] == twin.held.pid
        assert note.detail["variable"] == "DATABASE_URL"
    stop(yard.machine, second, held=twin.held)
    yard.stop(held=first.held)


# ---- ourselves -----------------------------------------------------------------------------------

STOPPED = """
import sys, time
from pathlib import Path
from orchestrator import system
from orchestrator.checks import SleepCheck
check = SleepCheck(system.machine(Path(sys.argv[1])))
check.rest(0.1)
print("resting", flush=True)
sys.stdin.readline()
print(*(note.line for note in check.look()), sep="\\n", flush=True)
"""


def test_a_watch_that_was_stopped_by_a_signal_does_not_say_that_the_machine_slept(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as watch:
        assert watch.stdout is not None
        assert watch.stdin is not None
        assert watch.stdout.readline() == "resting\n"
        os.kill(watch.pid, 19)
        time.sleep(5.3)  # the shortest standstill that is worth a word
        os.kill(watch.pid, 18)
        told, _ = watch.communicate("\n", timeout=PATIENCE_S)
    assert re.match(r"watch_halted: The watch over the gateway stood still for \d+ s", told)
    assert "machine was awake" in told


def test_the_clock_that_counts_sleep_is_never_behind_the_one_that_does_not(yard):
    boot_ns = yard.machine.clock.boot_ns()
    assert boot_ns is not None
    assert boot_ns >= yard.machine.clock.now_ns() - 1_000_000


def test_a_fault_of_the_lookout_is_told_and_ends_nothing(yard):
    started = yard.start_script()

    def refuse(_):
        message = "no room"
        raise OSError(message)

    told = threading.Event()
    notes = []

    def take(note):
        notes.append(note)
        told.set()

    watched = Watched(record=msgspec.structs.replace(started.record))
    lookout = Lookout(yard.machine, watched, on_reading=refuse, on_note=take)
    assert told.wait(PATIENCE_S)
    lookout.close()
    assert notes[0].incident_class == "watch_halted"
    assert "OSError: no room" in notes[0].summary
    yard.stop(held=started.held)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6], ids=["IPv4", "IPv6"])
def test_listeners_are_the_same_by_netlink_and_in_the_whole_table(yard, family):
    sockets = yard.machine.sockets
    host = "127.0.0.1" if family is socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as server:
        port = server.getsockname()[1]
        inode = os.fstat(server.fileno()).st_ino
        with socket.create_connection((host, port)):
            assert listening_inodes(port) == frozenset({inode})
            assert sockets.socket_numbers(port) == sockets._numbers_in_table(port)
    assert sockets.socket_numbers(port) == frozenset()
