"""The process table of Linux, read from ``/proc``.

``/proc/PID/stat`` is parsed after its last bracket: a name may hold blanks and brackets itself.
"""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orchestrator.errors import ForeignProc
from orchestrator.exposure import MARKER, RECORD_MARKER
from orchestrator.identity import Identity
from orchestrator.ports import Absence, ProcessDetail, ProcessInfo

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_READ_BYTES = 65_536
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# Docker, Podman, containerd, Kubernetes, LXC: `/docker/<id>`, `docker-<id>.scope`, `libpod-<id>`.
_CONTAINER = re.compile(
    r"(docker|libpod|cri-containerd|crio|lxc(?:\.payload)?)[-/.][\w.-]+|kubepods[^\n]*"
)
State = Literal["alive", "stopped", "zombie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """The fields of ``/proc/PID/stat`` that matter; numbers in brackets are those of proc(5)."""

    name: str
    letter: str
    """State (3)."""
    parent: int
    group: int
    session: int
    terminal: int
    cpu_ticks: int
    """User and system time (14 + 15)."""
    waited_cpu_ticks: int
    """The same of children that were waited for (16 + 17)."""
    threads: int
    """(20)"""
    start_ticks: int
    """(22)"""
    resident_pages: int
    """(24); since Linux 6.2 it may lag behind by a few pages for each processor."""
    wait_status: int
    """(52); 0 too when this user may not know it."""

    @property
    def state(self) -> State:
        """Z with other threads running is alive: only its first thread ended."""
        if self.letter in "ZX":
            return "alive" if self.threads > 1 else "zombie"
        return "stopped" if self.letter in "Tt" else "alive"


def parse_stat(text: str) -> Stat:
    """Read the line of ``/proc/PID/stat``."""
    name_ends = text.rindex(")")
    fields = text[name_ends + 2 :].split()
    return Stat(
        name=text[text.index("(") + 1 : name_ends],
        letter=fields[0],
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        terminal=int(fields[4]),
        cpu_ticks=int(fields[11]) + int(fields[12]),
        waited_cpu_ticks=int(fields[13]) + int(fields[14]),
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
        resident_pages=int(fields[21]),
        wait_status=int(fields[49]) if len(fields) > 49 else 0,  # noqa: PLR2004  # field 52
    )


def read_stat(pid: int) -> Stat | None:
    """Return the stat of a process; ``None`` when it is gone or hidden."""
    block = _read(f"/proc/{pid}/stat")
    return parse_stat(os.fsdecode(block)) if block else None


def _read(path: str) -> bytes | None:
    """Read a file of ``/proc``: hundreds of them for one look around, so without a Path or a file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # gone meanwhile, or not for this user: both mean "not seen"
        return None
    try:
        parts = []
        while part := os.read(descriptor, _READ_BYTES):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _strings(block: bytes | None) -> tuple[str, ...] | None:
    if not block:
        return None
    return tuple(os.fsdecode(part) for part in block.rstrip(b"\0").split(b"\0"))


def _markers(pid: int) -> tuple[str | None, str | None]:
    block = _read(f"/proc/{pid}/environ") or b""
    return _variable(block, MARKER), _variable(block, RECORD_MARKER)


def _variable(block: bytes, name: str) -> str | None:
    _, found, rest = (b"\0" + block).partition(f"\0{name}=".encode())
    return os.fsdecode(rest.partition(b"\0")[0]) if found else None


def _namespace(pid: int) -> str | None:
    try:
        return str(os.stat(f"/proc/{pid}/ns/pid").st_ino)  # noqa: PTH116  # no Path object needed
    except OSError:  # gone, or another user's
        return None


def _container(process: str) -> str | None:
    """Return the container that the control group of a process is named after."""
    found = _CONTAINER.search((_read(f"/proc/{process}/cgroup") or b"").decode(errors="replace"))
    return None if found is None else found[0].strip("/")


def _folder(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115  # no Path object needed
    except OSError:
        return None


class ProcfsTable:
    """Reads ``/proc``; needs no privilege, sees less of other users' processes.

    Raises:
        ForeignProc: What is mounted there numbers processes as another PID namespace does.
    """

    def __init__(self) -> None:
        there = int(os.readlink("/proc/self"))  # noqa: PTH115  # no Path object needed
        if there != os.getpid():
            raise ForeignProc(os.getpid(), there)
        self._boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        self._namespace = str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116  # no Path object needed

    def ourselves(self) -> Identity:
        """Return the identity of this very process."""
        seen = read_stat(os.getpid())
        return self._identity(os.getpid(), 0 if seen is None else seen.start_ticks)

    def look(self, pid: int) -> ProcessInfo | Absence:
        """Return what can be seen of one process."""
        stat = read_stat(pid)
        if stat is not None:
            return self._info(pid, stat)
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return Absence.GONE
        except PermissionError:
            return Absence.HIDDEN
        # Born, or hidden by the mount option hidepid, since we looked.
        stat = read_stat(pid)
        return Absence.HIDDEN if stat is None else self._info(pid, stat)

    def everyone(self) -> tuple[ProcessInfo, ...]:
        """Return all processes that can be seen."""
        found = []
        for name in os.listdir("/proc"):  # noqa: PTH208  # no Path object needed
            if name.isdecimal():
                stat = read_stat(int(name))
                if stat is not None:
                    found.append(self._info(int(name), stat))
        return tuple(found)

    def detail(self, pid: int) -> ProcessDetail:
        """Return memory, PID namespace and container of one process."""
        statm = (_read(f"/proc/{pid}/statm") or b"").split()
        mine = _container("self")
        theirs = _container(str(pid))
        return ProcessDetail(
            resident_bytes=int(statm[1]) * _PAGE_BYTES if len(statm) > 1 else None,
            namespace=_namespace(pid),
            container=None if theirs == mine else theirs,
        )

    def _identity(self, pid: int, ticks: int) -> Identity:
        return Identity(
            boot_id=self._boot_id, pid_namespace=self._namespace, pid=pid, start_ticks=ticks
        )

    def _info(self, pid: int, stat: Stat) -> ProcessInfo:
        try:
            user = os.stat(f"/proc/{pid}").st_uid  # noqa: PTH116  # no Path object needed
        except OSError:
            user = -1
        up_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        marker, record_path = _markers(pid)
        return ProcessInfo(
            identity=self._identity(pid, stat.start_ticks),
            parent=stat.parent,
            group=stat.group,
            session=stat.session,
            state=stat.state,
            name=stat.name,
            user=user,
            has_terminal=stat.terminal != 0,
            argv=_strings(_read(f"/proc/{pid}/cmdline")),
            folder=_folder(pid),
            marker=marker,
            record_path=record_path,
            age_s=max(0.0, up_s - stat.start_ticks / _TICKS_PER_S),
        )
