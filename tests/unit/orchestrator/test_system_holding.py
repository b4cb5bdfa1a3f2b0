"""Holding by comparison and by kqueue, on a fake table and a fake queue."""

import errno
import queue
import signal
import threading

import pytest

from orchestrator.events import Exit
from orchestrator.ports import Absence
from orchestrator.system.checked import CheckedHeld
from orchestrator.system.mac_kqueue import (
    NOTE_EXIT,
    NOTE_EXIT_DETAIL,
    NOTE_EXIT_MEMORY,
    NOTE_EXITSTATUS,
    Kqueue,
    KqueueHeld,
    MacHolder,
)
from tests.fakes_orchestrator import FakeTable, process

# Far above any pid_max: a signal that got through would hit nobody.
NOBODY = 2**22 + 4242


class FakeQueue:
    """Notes prepared ends."""

    def __init__(self, *heard):
        self.heard = list(heard)
        self.is_closed = False

    def wait(self, timeout_s):
        return self.heard.pop(0) if self.heard else None

    def close(self):
        self.is_closed = True


def held_of(seen, *heard):
    table = FakeTable(seen)
    return table, KqueueHeld(seen, table.look, FakeQueue(*heard))


TOLD = NOTE_EXIT | NOTE_EXITSTATUS | NOTE_EXIT_DETAIL


@pytest.mark.parametrize(
    ("flags", "data", "expected"),
    [
        pytest.param(TOLD, 15, Exit(signal=15, source="kqueue"), id="a signal"),
        pytest.param(TOLD, 256, Exit(code=1, source="kqueue"), id="an exit status"),
        pytest.param(TOLD, 0, Exit(code=0, source="kqueue"), id="exit status 0"),
        pytest.param(
            TOLD,
            NOTE_EXIT_MEMORY | 9,
            Exit(signal=9, source="kqueue", by_memory=True),
            id="memory, in the data",
        ),
        pytest.param(
            TOLD | NOTE_EXIT_MEMORY,
            9,
            Exit(signal=9, source="kqueue"),
            id="the same bit among the flags says nothing",
        ),
        pytest.param(NOTE_EXIT, 0, Exit(), id="no status was asked for: not an exit with 0"),
    ],
)
def test_an_end_comes_with_what_the_kernel_tells(flags, data, expected):
    _, held = held_of(process(), (flags, data))
    assert held.ended(0)
    assert held.ended(0)
    assert held.exit() == expected


def test_nothing_noted_is_alive_and_unknown():
    _, held = held_of(process())
    assert not held.ended(0)
    assert held.exit() == Exit()
    assert held.pid == 4242
    held.close()


class OneNote(queue.Queue[tuple[int, int]]):
    """A queue that gives its note to one waiter only, as kqueue does."""

    def wait(self, timeout_s):
        try:
            return self.get(timeout=timeout_s) if timeout_s else self.get_nowait()
        except queue.Empty:
            return None

    def close(self):
        """Hold nothing."""


def test_every_thread_that_waits_hears_of_the_one_note():
    notes = OneNote()
    held = KqueueHeld(process(), FakeTable(process()).look, notes)
    heard: queue.Queue[bool] = queue.Queue()
    for _ in range(3):
        threading.Thread(target=lambda: heard.put(held.ended(3600)), daemon=True).start()
    notes.put((TOLD, 15))
    # An hour is what each would wait for a note of its own.
    assert [heard.get(timeout=30) for _ in range(3)] == [True] * 3
    assert held.exit() == Exit(signal=15, source="kqueue")


def test_a_reused_pid_is_not_signalled():
    table, held = held_of(process(NOBODY, 1000))
    table.processes[NOBODY] = process(NOBODY, 2000)
    assert not held.send(signal.SIGKILL)
    assert not held.send(signal.SIGKILL, group=True)


@pytest.mark.parametrize("state", ["alive", "zombie"])
def test_a_process_that_went_meanwhile_is_no_error(state):
    _, held = held_of(process(NOBODY, state=state))
    assert not held.send(signal.SIGTERM)
    assert not held.send(signal.SIGTERM, group=True)


class Moving:
    """A table in which a process is another thing at each look."""

    def __init__(self, *seen):
        self.seen = list(seen)

    def look(self, pid):
        return self.seen.pop(0)


class Refusing:
    """The `killpg` of macOS for a group of zombies."""

    def __init__(self):
        self.asked = []

    def __call__(self, group, number):
        self.asked.append((group, number))
        raise PermissionError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(process(NOBODY, state="zombie"), id="a zombie by now"),
        pytest.param(Absence.GONE, id="gone by now"),
    ],
)
def test_a_refused_group_whose_leader_is_dead_by_now_is_no_error(then):
    killpg = Refusing()
    held = CheckedHeld(process(NOBODY), Moving(process(NOBODY), then).look, killpg=killpg)
    assert not held.send(signal.SIGKILL, group=True)
    assert killpg.asked == [(NOBODY, signal.SIGKILL)]


def test_a_refused_group_whose_leader_lives_is_an_error():
    held = CheckedHeld(process(NOBODY), FakeTable(process(NOBODY)).look, killpg=Refusing())
    with pytest.raises(PermissionError):
        held.send(signal.SIGKILL, group=True)


def test_without_help_of_the_kernel_a_zombie_is_dead_and_nobody_can_tell_how():
    table = FakeTable(process())
    held = CheckedHeld(process(), table.look)
    assert not held.ended(0.03)
    table.processes[4242] = process(state="zombie")
    assert held.ended(10)
    assert held.exit() == Exit()
    held.close()


def holder(table, answer):
    def attach(pid):
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return MacHolder(table, attach)


def test_a_process_is_held_by_its_queue():
    queue = FakeQueue()
    held = holder(FakeTable(process()), queue).hold(4242)
    assert isinstance(held, KqueueHeld)
    held.close()
    assert queue.is_closed


def test_a_refused_queue_falls_back_to_comparing():
    refused = PermissionError(errno.EPERM, "no")
    assert isinstance(holder(FakeTable(process()), refused).hold(4242), CheckedHeld)


def test_what_is_gone_is_not_held():
    assert holder(FakeTable(), ProcessLookupError()).hold(4242) is None
    queue = FakeQueue()
    assert holder(FakeTable(), queue).hold(4242) is None
    assert queue.is_closed


def test_memory_kills_are_not_counted_there():
    assert holder(FakeTable(), FakeQueue()).memory_counter(1)() is None


class FakeSelect:
    """The names of the `select` module that kqueue needs."""

    KQ_FILTER_PROC, KQ_EV_ADD, KQ_EV_ONESHOT = -5, 1, 16

    def __init__(self, *, refusals=(), events=()):
        self.refusals, self.events = list(refusals), list(events)
        self.watched, self.is_closed = [], False

    def kqueue(self):
        return self

    def kevent(self, pid, **asked):
        return pid, asked

    def control(self, changes, most, timeout):
        if changes:
            if self.refusals:
                raise self.refusals.pop(0)
            self.watched += changes
            return []
        return [self.events.pop(0)] if self.events else []

    def close(self):
        self.is_closed = True


class Note:
    fflags, data = NOTE_EXIT, 9


def test_the_queue_asks_for_exit_and_status():
    api = FakeSelect(events=[Note])
    queue = Kqueue(4242, api)
    (pid, asked) = api.watched[0]
    assert pid == 4242
    assert asked["fflags"] & 0x8400_0000 == 0x8400_0000
    assert queue.wait(0) == (NOTE_EXIT, 9)
    assert queue.wait(0) is None
    queue.close()
    assert api.is_closed


def test_a_queue_for_a_process_that_is_gone_is_closed():
    api = FakeSelect(refusals=[ProcessLookupError()])
    with pytest.raises(ProcessLookupError):
        Kqueue(4242, api)
    assert api.is_closed


def test_where_only_a_parent_is_told_the_status_the_end_alone_is_asked_for():
    api = FakeSelect(refusals=[PermissionError(errno.EACCES, "no")])
    Kqueue(4242, api)
    ((_, asked),) = api.watched
    assert asked["fflags"] & NOTE_EXIT
    assert not asked["fflags"] & NOTE_EXITSTATUS
    assert not api.is_closed


def test_a_queue_that_is_refused_twice_is_closed():
    api = FakeSelect(refusals=[PermissionError(errno.EACCES, "no")] * 2)
    with pytest.raises(PermissionError):
        Kqueue(4242, api)
    assert api.is_closed
