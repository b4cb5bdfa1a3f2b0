"""Holding a process on macOS: its end comes through kqueue, with status. Not confirmed yet.

``NOTE_EXIT | NOTE_EXITSTATUS`` is allowed to any process that may signal the target, parent or
not (XNU since macOS 12, ``filt_procattach``); before that only to its parent, and everybody else
is refused with EACCES. Then the end is noted all the same, without a status. Python has no name
for the second flag.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from orchestrator.events import Exit, from_wait_status
from orchestrator.ports import Absence, Held, ProcessInfo, ProcessTable
from orchestrator.system.checked import CheckedHeld, Look

NOTE_EXIT = 0x8000_0000
NOTE_EXITSTATUS = 0x0400_0000
NOTE_EXIT_DETAIL = 0x0200_0000
# The next two are bits of the data, not of the flags (XNU, ``filt_procevent``).
NOTE_EXIT_MEMORY = 0x0002_0000
_STATUS_BITS = 0xFFFF
_TURN_S = 0.02


class EndQueue(Protocol):
    """Hears of the end of one process."""

    def wait(self, timeout_s: float) -> tuple[int, int] | None:
        """Return flags and data once it ended; ``None`` = not within this time.

        Where the flags hold ``NOTE_EXITSTATUS`` the low 16 bits of the data are the wait status.
        """
        ...

    def close(self) -> None:
        """Let go."""
        ...


class Kqueue:
    """An ``EndQueue`` on the real kqueue; attaches at once, and must before the end.

    Args:
        pid: Whose end.
        api: The ``select`` module of a system that has kqueue.

    Raises:
        ProcessLookupError: It is gone.
    """

    def __init__(self, pid: int, api: Any) -> None:  # noqa: ANN401  # its names exist on macOS only
        self._api = api
        self._queue = api.kqueue()
        try:
            try:
                self._attach(pid, NOTE_EXIT | NOTE_EXITSTATUS | NOTE_EXIT_DETAIL)
            except PermissionError:
                self._attach(pid, NOTE_EXIT | NOTE_EXIT_DETAIL)
        except OSError:
            self._queue.close()
            raise

    def _attach(self, pid: int, notes: int) -> None:
        api = self._api
        flags = api.KQ_EV_ADD | api.KQ_EV_ONESHOT
        wanted = api.kevent(pid, filter=api.KQ_FILTER_PROC, flags=flags, fflags=notes)
        # No room for events: a refusal is raised instead of being put into the list.
        self._queue.control([wanted], 0, 0)

    def wait(self, timeout_s: float) -> tuple[int, int] | None:
        """Return flags and data once it ended."""
        heard = self._queue.control(None, 1, timeout_s)
        return (heard[0].fflags, heard[0].data) if heard else None

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()


class KqueueHeld:
    """One process whose end is noted by the kernel; signals are checked right before."""

    def __init__(self, seen: ProcessInfo, look: Look, queue: EndQueue) -> None:
        self._checked = CheckedHeld(seen, look)
        self._queue = queue
        self._end: Exit | None = None

    @property
    def pid(self) -> int:
        """Its PID."""
        return self._checked.pid

    def send(self, number: int, *, group: bool = False) -> bool:
        """Compare, then signal."""
        return self._checked.send(number, group=group)

    def ended(self, timeout_s: float) -> bool:
        """Wait for the kernel's note; it comes a moment before the process is a zombie.

        The note is given out once, to one of the threads that wait (watching and stopping do):
        the others must not wait for it until their time is up.
        """
        deadline = time.perf_counter() + timeout_s
        while self._end is None:
            left = deadline - time.perf_counter()
            heard = self._queue.wait(max(0.0, min(left, _TURN_S)))
            if heard is not None:
                self._end = _end_of(*heard)
            elif left <= 0:
                break
        return self._end is not None

    def exit(self) -> Exit:
        """Return what the kernel noted."""
        return self._end or Exit()

    def close(self) -> None:
        """Close the queue."""
        self._queue.close()


def _end_of(flags: int, data: int) -> Exit:
    end = Exit()
    if flags & NOTE_EXITSTATUS:
        end = from_wait_status(data & _STATUS_BITS, "kqueue")
    has_detail = bool(flags & NOTE_EXIT_DETAIL)
    return msgspec.structs.replace(end, by_memory=has_detail and bool(data & NOTE_EXIT_MEMORY))


class MacHolder:
    """Takes hold by kqueue; where that is refused, by comparing.

    Args:
        table: Reads the process table.
        queue_for: Attaches to a process.
    """

    def __init__(self, table: ProcessTable, queue_for: Callable[[int], EndQueue]) -> None:
        self._table = table
        self._queue_for = queue_for

    def hold(self, pid: int) -> Held | None:
        """Take hold of whatever has this PID now."""
        queue: EndQueue | None = None
        try:
            queue = self._queue_for(pid)
        except ProcessLookupError:
            return None
        except OSError:
            queue = None
        seen = self._table.look(pid)
        if isinstance(seen, Absence):
            if queue is not None:
                with contextlib.suppress(OSError):
                    queue.close()
            return None
        if queue is None:
            return CheckedHeld(seen, self._table.look)
        return KqueueHeld(seen, self._table.look, queue)

    def memory_counter(self, pid: int) -> Callable[[], int | None]:
        """Count nothing: here the note of the end itself says whether memory was the reason."""
        del pid
        return lambda: None
