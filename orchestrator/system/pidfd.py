"""Holding a process by a pidfd: it can't be mistaken for another, and tells how it ended.

``PIDFD_GET_INFO`` gives the wait status to any process, parent or not, on Linux >= 6.15; before
that a zombie's ``/proc/PID/stat`` does, as long as nobody reaped it. Both are tried, not asked by
version: a container may take either away.
"""

import errno
import fcntl
import os
import select
import signal
import struct
from collections.abc import Callable
from pathlib import Path

from orchestrator.events import Exit, from_wait_status
from orchestrator.ports import Absence, Held, ProcessTable
from orchestrator.system.checked import CheckedHeld
from orchestrator.system.procfs import read_stat

_SIGNAL_PROCESS_GROUP = 4  # PIDFD_SIGNAL_PROCESS_GROUP, Linux >= 6.9
# _IOWR(0xFF, 11, 64 bytes) and the bit of struct pidfd_info.mask, from linux/pidfd.h
_GET_INFO = (3 << 30) | (64 << 16) | (0xFF << 8) | 11
_INFO_EXIT = 1 << 3
_INFO_ASKED = 0x1F
_EXIT_CODE_AT = 60
# PID 1 was seen to reap after up to 2 s; the kernel tells the status only after that.
_REAP_WAIT_MS = 3_000


class PidfdHeld:
    """One process."""

    def __init__(self, pid: int, fd: int, start_ticks: int) -> None:
        self._pid = pid
        self._fd = fd
        self._ticks = start_ticks

    @property
    def pid(self) -> int:
        """Its PID."""
        return self._pid

    def ended(self, timeout_s: float) -> bool:
        """Wait until it is dead, reaped or not."""
        return bool(self._poll(select.POLLIN, int(timeout_s * 1000)))

    def exit(self) -> Exit:
        """Return how it ended: from the zombie, else from the kernel once it is reaped."""
        end = self._of_zombie() or self._of_kernel()
        if end is None and self._poll(0, _REAP_WAIT_MS):
            end = self._of_kernel()
        return end or Exit()

    def send(self, number: int, *, group: bool = False) -> bool:
        """Signal it, or the group whose number is its PID."""
        try:
            signal.pidfd_send_signal(self._fd, number, None, _SIGNAL_PROCESS_GROUP if group else 0)
        except ProcessLookupError:
            return False
        except OSError as refused:
            if not group or refused.errno != errno.EINVAL:
                raise
            return self._send_to_group(number)
        return True

    def close(self) -> None:
        """Close the descriptor."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _poll(self, events: int, timeout_ms: int) -> list[tuple[int, int]]:
        poller = select.poll()
        poller.register(self._fd, events)
        return poller.poll(timeout_ms)

    def _send_to_group(self, number: int) -> bool:
        stat = read_stat(self._pid)
        if stat is None or stat.start_ticks != self._ticks:
            return False  # the number may be another's by now: members are ended one by one
        os.killpg(self._pid, number)
        return True

    def _of_zombie(self) -> Exit | None:
        stat = read_stat(self._pid)
        if stat is None or stat.start_ticks != self._ticks or stat.state != "zombie":
            return None
        # To another user the field reads 0, which would be a lie.
        if os.geteuid() not in (0, Path(f"/proc/{self._pid}").stat().st_uid):
            return None
        return from_wait_status(stat.wait_status, "zombie")

    def _of_kernel(self) -> Exit | None:
        answer = bytearray(64)
        struct.pack_into("<Q", answer, 0, _INFO_ASKED)
        try:
            fcntl.ioctl(self._fd, _GET_INFO, answer, True)  # noqa: FBT003  # mutate the buffer
        except OSError:  # ENOTTY, EINVAL: an older kernel; ESRCH: reaped before we asked
            return None
        (mask,) = struct.unpack_from("<Q", answer, 0)
        if not mask & _INFO_EXIT:
            return None
        (status,) = struct.unpack_from("<i", answer, _EXIT_CODE_AT)
        return from_wait_status(status, "pidfd")


class LinuxHolder:
    """Takes hold by pidfd; where the kernel or a sandbox refuses it, by comparing.

    Args:
        table: Reads the process table.
        open_pidfd: Opens a descriptor for a PID.
    """

    def __init__(
        self, table: ProcessTable, open_pidfd: Callable[[int], int] = os.pidfd_open
    ) -> None:
        self._table = table
        self._open_pidfd = open_pidfd

    def hold(self, pid: int) -> Held | None:
        """Take hold of whatever has this PID now."""
        try:
            fd = self._open_pidfd(pid)
        except (ProcessLookupError, FileNotFoundError):
            return None
        except OSError as refused:
            # A PID without a task (it is just being reaped) gives EINVAL: as good as gone.
            if refused.errno == errno.EINVAL:
                return None
            seen = self._table.look(pid)
            return None if isinstance(seen, Absence) else CheckedHeld(seen, self._table.look)
        stat = read_stat(pid)
        return PidfdHeld(pid, fd, -1 if stat is None else stat.start_ticks)

    def memory_counter(self, pid: int) -> Callable[[], int | None]:
        """Count in the process's cgroup, else over the whole machine."""
        path, word = memory_file(pid)
        return lambda: _count(path, word)


def memory_file(pid: int) -> tuple[Path, str]:
    """Return which file counts out-of-memory kills for a process, and its word for them."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            path = Path(f"/sys/fs/cgroup{group}/memory.events")
        elif "memory" in controllers.split(","):
            path = Path(f"/sys/fs/cgroup/memory{group}/memory.oom_control")
        else:
            continue
        if _count(path, "oom_kill") is not None:
            return path, "oom_kill"
    return Path("/proc/vmstat"), "oom_kill"


def _count(path: Path, word: str) -> int | None:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(" ")
        if name == word:
            return int(value)
    return None
