"""The process table of macOS, from libproc and psutil. Not confirmed on a Mac yet.

The start time is the kernel's own note (``pbi_start_tvsec``, ``pbi_start_tvusec``): written at the
fork, kept over exec, not moved with the clock. psutil's ``create_time`` is, and is not used for
identity. Processes of other users are hidden (XNU, ``proc_pidinfo``: same user or root).
"""

import ctypes
import ctypes.util
import errno
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import psutil

from orchestrator.exposure import MARKER, RECORD_MARKER
from orchestrator.identity import Identity
from orchestrator.ports import Absence, ProcessDetail, ProcessInfo

_PROC_PIDTBSDINFO = 3
_FIND_ZOMBIES = 1
# struct proc_bsdinfo of sys/proc_info.h: twelve u32, comm[16], name[32], five u32, an i32,
# then start seconds and microseconds as u64.
_BSDINFO = struct.Struct("=12I16s32s5Ii2Q")
_STOPPED = 4  # SSTOP
_ZOMBIE = 5  # SZOMB
_NO_TERMINAL = 0xFFFFFFFF  # NODEV

_BOOT_SESSION = b"kern.bootsessionuuid"
_BOOT_TIME = b"kern.boottime"
_SYSCTL_ROOM = 64

ReadInfo = Callable[[int], bytes | Absence]
AskPsutil = Callable[[int], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BsdInfo:
    """The part of ``struct proc_bsdinfo`` that matters."""

    status: int
    parent: int
    user: int
    name: str
    group: int
    terminal: int
    start_us: int

    @property
    def state(self) -> Literal["alive", "stopped", "zombie"]:
        """State in our words."""
        if self.status == _ZOMBIE:
            return "zombie"
        return "stopped" if self.status == _STOPPED else "alive"


def parse_bsdinfo(data: bytes) -> BsdInfo:
    """Read the bytes that ``proc_pidinfo`` filled in."""
    fields = _BSDINFO.unpack(data[: _BSDINFO.size])
    short, long = fields[12], fields[13]
    name = (long if long.strip(b"\0") else short).split(b"\0", 1)[0]
    return BsdInfo(
        status=fields[1],
        parent=fields[4],
        user=fields[5],
        name=name.decode(errors="replace"),
        group=fields[15],
        terminal=fields[17],
        start_us=fields[20] * 1_000_000 + fields[21],
    )


def load(name: str) -> Any:  # pragma: no cover  # macOS only  # noqa: ANN401  # a C library
    """Load one of the system's C libraries."""
    return ctypes.CDLL(ctypes.util.find_library(name), use_errno=True)


def libproc_reader(
    library: Any,  # noqa: ANN401  # a C library
    last_error: Callable[[], int] = ctypes.get_errno,
) -> ReadInfo:
    """Return what asks libproc for one process.

    Args:
        library: Holds ``proc_pidinfo``.
        last_error: The ``errno`` of the last call.
    """

    def read(pid: int) -> bytes | Absence:
        buffer = ctypes.create_string_buffer(_BSDINFO.size)
        filled = library.proc_pidinfo(
            pid, _PROC_PIDTBSDINFO, ctypes.c_uint64(_FIND_ZOMBIES), buffer, _BSDINFO.size
        )
        if filled == _BSDINFO.size:
            return buffer.raw
        return Absence.GONE if last_error() == errno.ESRCH else Absence.HIDDEN

    return read


def boot_session(library: Any) -> str:  # noqa: ANN401  # a C library
    """Return what tells this boot from others: ``kern.bootsessionuuid``.

    Where that is not to be had, the boot time: it moves when the clock is set, and then a process
    of before reads as one of another boot, which is never signalled.

    Raises:
        OSError: Neither is to be had.
    """
    session = _sysctl(library, _BOOT_SESSION)
    if session:
        return session.split(b"\0", 1)[0].decode()
    seconds = _sysctl(library, _BOOT_TIME)
    if seconds is None:
        raise OSError(ctypes.get_errno(), f"sysctl {_BOOT_TIME.decode()}")
    return f"boottime:{struct.unpack_from('=q', seconds)[0]}"


def _sysctl(library: Any, name: bytes) -> bytes | None:  # noqa: ANN401  # a C library
    buffer = ctypes.create_string_buffer(_SYSCTL_ROOM)
    size = ctypes.c_size_t(_SYSCTL_ROOM)
    if library.sysctlbyname(name, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)):
        return None
    return buffer.raw[: size.value]


class MacTable:
    """Reads libproc; command lines, folders and environments come from psutil.

    Args:
        read: Asks for one process.
        boot_id: Of this boot.
        ask: Gives what psutil knows of one process.
    """

    def __init__(self, read: ReadInfo, boot_id: str, ask: AskPsutil = psutil.Process) -> None:
        self._read = read
        self._boot_id = boot_id
        self._ask = ask

    def brief(self, pid: int) -> BsdInfo | None:
        """Return what one question to libproc tells of a process; ``None`` = not seen."""
        data = self._read(pid)
        return parse_bsdinfo(data) if isinstance(data, bytes) else None

    def ourselves(self) -> Identity:
        """Return the identity of this very process."""
        data = self._read(os.getpid())
        start_us = 0 if isinstance(data, Absence) else parse_bsdinfo(data).start_us
        return self._identity(os.getpid(), start_us)

    def look(self, pid: int) -> ProcessInfo | Absence:
        """Return what can be seen of one process."""
        data = self._read(pid)
        if not isinstance(data, Absence):
            return self._info(pid, parse_bsdinfo(data))
        if data is Absence.HIDDEN:
            # Signal 0 reaches nobody: it only asks whether the PID is in use.
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return Absence.GONE
            except PermissionError:
                return Absence.HIDDEN
        return data

    def everyone(self) -> tuple[ProcessInfo, ...]:
        """Return all processes that can be seen."""
        seen = ((pid, self._read(pid)) for pid in psutil.pids())
        return tuple(
            self._info(pid, parse_bsdinfo(data))
            for pid, data in seen
            if not isinstance(data, Absence)
        )

    def detail(self, pid: int) -> ProcessDetail:
        """Return the memory of one process; there are no PID namespaces here."""
        try:
            return ProcessDetail(resident_bytes=self._ask(pid).memory_info().rss)
        except (psutil.Error, OSError):
            return ProcessDetail()

    def _identity(self, pid: int, start_us: int) -> Identity:
        return Identity(boot_id=self._boot_id, pid_namespace=None, pid=pid, start_ticks=start_us)

    def _info(self, pid: int, info: BsdInfo) -> ProcessInfo:
        words = self._told(pid, "cmdline")
        # Often empty for binaries that Apple protects: the marker is best effort here.
        environment = self._told(pid, "environ") or {}
        return ProcessInfo(
            identity=self._identity(pid, info.start_us),
            parent=info.parent,
            group=info.group,
            session=_session(pid),
            state=info.state,
            name=info.name,
            user=info.user,
            has_terminal=info.terminal not in (0, _NO_TERMINAL),
            argv=tuple(words) if words else None,
            folder=self._told(pid, "cwd") or None,
            marker=environment.get(MARKER),
            record_path=environment.get(RECORD_MARKER),
            age_s=max(0.0, time.clock_gettime(time.CLOCK_REALTIME) - info.start_us / 1e6),
        )

    def _told(self, pid: int, what: str) -> Any:  # noqa: ANN401  # psutil is untyped
        """Ask one thing at a time: what is refused must not hide what is not."""
        try:
            return getattr(self._ask(pid), what)()
        except (psutil.Error, OSError):
            return None


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:  # a zombie has none, another user's may not be asked for
        return -1
