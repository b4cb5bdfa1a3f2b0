"""The process table of macOS, from libproc and psutil. Not confirmed on a Mac yet.

The start time is the kernel's own note (``pbi_start_tvsec``, ``pbi_start_tvusec``), which does not
move with the clock; psutil's ``create_time`` is not used for identity.
"""

import ctypes
import ctypes.util
import os
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

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

ReadInfo = Callable[[int], bytes | None]


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


def libproc_reader() -> ReadInfo:  # pragma: no cover  # macOS only
    """Return what asks libproc for one process; ``None`` = gone or not allowed."""
    library = ctypes.CDLL(ctypes.util.find_library("proc"), use_errno=True)

    def read(pid: int) -> bytes | None:
        buffer = ctypes.create_string_buffer(_BSDINFO.size)
        filled = library.proc_pidinfo(
            pid, _PROC_PIDTBSDINFO, ctypes.c_uint64(_FIND_ZOMBIES), buffer, _BSDINFO.size
        )
        return buffer.raw if filled == _BSDINFO.size else None

    return read


def boot_session() -> str:  # pragma: no cover  # macOS only
    """Return ``kern.bootsessionuuid``."""
    library = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
    buffer = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(buffer))
    name = b"kern.bootsessionuuid"
    if library.sysctlbyname(name, buffer, ctypes.byref(size), None, ctypes.c_size_t(0)):
        raise OSError(ctypes.get_errno(), "sysctl kern.bootsessionuuid")
    return buffer.value.decode()


class MacTable:
    """Reads libproc; command lines and environments come from psutil.

    Args:
        read: Asks for one process.
        boot_id: Of this boot.
    """

    def __init__(self, read: ReadInfo, boot_id: str) -> None:
        self._read = read
        self._boot_id = boot_id

    def ourselves(self) -> Identity:
        """Return the identity of this very process."""
        data = self._read(os.getpid())
        return self._identity(os.getpid(), 0 if data is None else parse_bsdinfo(data).start_us)

    def look(self, pid: int) -> ProcessInfo | Absence:
        """Return what can be seen of one process."""
        data = self._read(pid)
        if data is not None:
            return self._info(pid, parse_bsdinfo(data))
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return Absence.GONE
        except PermissionError:
            return Absence.HIDDEN
        return Absence.HIDDEN

    def everyone(self) -> tuple[ProcessInfo, ...]:
        """Return all processes that can be seen."""
        seen = ((pid, self._read(pid)) for pid in psutil.pids())
        return tuple(self._info(pid, parse_bsdinfo(data)) for pid, data in seen if data)

    def detail(self, pid: int) -> ProcessDetail:
        """Return the memory of one process; there are no PID namespaces here."""
        try:
            return ProcessDetail(resident_bytes=psutil.Process(pid).memory_info().rss)
        except (psutil.Error, OSError):
            return ProcessDetail()

    def _identity(self, pid: int, start_us: int) -> Identity:
        return Identity(boot_id=self._boot_id, pid_namespace=None, pid=pid, start_ticks=start_us)

    def _info(self, pid: int, info: BsdInfo) -> ProcessInfo:
        argv, folder, marker, record_path = _seen_by_psutil(pid)
        return ProcessInfo(
            identity=self._identity(pid, info.start_us),
            parent=info.parent,
            group=info.group,
            session=_session(pid),
            state=info.state,
            name=info.name,
            user=info.user,
            has_terminal=info.terminal not in (0, _NO_TERMINAL),
            argv=argv,
            folder=folder,
            marker=marker,
            record_path=record_path,
            age_s=max(0.0, time.clock_gettime(time.CLOCK_REALTIME) - info.start_us / 1e6),
        )


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:  # a zombie has none, another user's may not be asked for
        return -1


def _seen_by_psutil(
    pid: int,
) -> tuple[tuple[str, ...] | None, str | None, str | None, str | None]:
    """Return command line, folder and the two markers, as far as this user may see them."""
    argv: tuple[str, ...] | None = None
    folder: str | None = None
    marker: str | None = None
    record_path: str | None = None
    try:
        process = psutil.Process(pid)
        argv = tuple(process.cmdline()) or None
        folder = process.cwd()
        # Often empty for binaries that Apple protects: the marker is best effort here.
        environment = process.environ()
        marker, record_path = environment.get(MARKER), environment.get(RECORD_MARKER)
    except (psutil.Error, OSError):
        return argv, folder, marker, record_path
    return argv, folder, marker, record_path
