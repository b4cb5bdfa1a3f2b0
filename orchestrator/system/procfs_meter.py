"""What processes use, from Linux's ``/proc``. Written to be cheap: it runs each second."""

import os
from collections.abc import Collection, Iterator

from orchestrator.system.procfs import parse_stat
from orchestrator.watch_ports import Connections, Kin, Usage

_MS_PER_TICK = 1000 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ESTABLISHED = b"01"
_NOT_ACCEPTED = b"0"


class ProcfsMeter:
    """Reads ``/proc``; descriptors, PSS and sockets only of what this user may look into."""

    def pids(self) -> frozenset[int]:
        """Return every PID there is."""
        return frozenset(int(name) for name in os.listdir("/proc") if name.isdecimal())  # noqa: PTH208  # hot

    def kin(self, pid: int) -> Kin | None:
        """Return parent and session."""
        data = _read(f"/proc/{pid}/stat")
        if not data:
            return None
        stat = parse_stat(data.decode(errors="surrogateescape"))
        return Kin(
            start_ticks=stat.start_ticks,
            parent=stat.parent,
            session=stat.session,
            is_stopped=stat.state == "stopped",
        )

    def usage(self, pid: int) -> Usage | None:
        """Return what one process uses; a zombie uses nothing."""
        data = _read(f"/proc/{pid}/stat")
        if not data:
            return None
        stat = parse_stat(data.decode(errors="surrogateescape"))
        if stat.state == "zombie":
            return None
        return Usage(
            pid=pid,
            start_ticks=stat.start_ticks,
            parent=stat.parent,
            cpu_ms=stat.cpu_ticks * _MS_PER_TICK,
            waited_cpu_ms=stat.waited_cpu_ticks * _MS_PER_TICK,
            resident_bytes=stat.resident_pages * _PAGE_BYTES,
            threads=stat.threads,
            descriptors=_descriptors(pid),
        )

    def proportional_bytes(self, pid: int) -> int | None:
        """Return the PSS line of ``smaps_rollup``; the kernel walks the page tables for it."""
        for line in (_read(f"/proc/{pid}/smaps_rollup") or b"").splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
        return None

    def connections(self, port: int, pids: Collection[int]) -> Connections | None:
        """Count from one read of the table; what comes in over loopback has a row at each end."""
        tables = [_read("/proc/net/tcp"), _read("/proc/net/tcp6")]
        if tables == [None, None]:
            return None
        own = _socket_inodes(pids)
        at_port = b":%04X" % port
        incoming = waiting = outgoing = 0
        for local, inode in _established(tables):
            if local.endswith(at_port):
                incoming += 1
                waiting += inode == _NOT_ACCEPTED
            elif inode in own:
                outgoing += 1
        return Connections(incoming=incoming, waiting=waiting, outgoing=outgoing)


def _established(tables: list[bytes | None]) -> Iterator[tuple[bytes, bytes]]:
    """Give local address and inode of each established connection."""
    for table in tables:
        for line in (table or b"").splitlines()[1:]:
            fields = line.split(None, 10)
            if fields[3] == _ESTABLISHED:
                yield fields[1], fields[9]


def _socket_inodes(pids: Collection[int]) -> set[bytes]:
    found = set()
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208  # hot loop
        except OSError:  # ended, or another user's
            continue
        for name in names:
            try:
                target = os.readlink(f"{folder}/{name}")  # noqa: PTH115  # hot loop
            except OSError:  # closed meanwhile
                continue
            if target.startswith("socket:["):
                found.add(target[8:-1].encode())
    return found


def _descriptors(pid: int) -> int | None:
    """Count descriptors: since Linux 6.2 they are the size of their folder."""
    folder = f"/proc/{pid}/fd"
    try:
        return os.stat(folder).st_size or len(os.listdir(folder))  # noqa: PTH116, PTH208  # hot
    except OSError:  # ended, or another user's
        return None


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  # hot loop
            return file.read()
    except OSError:  # ended meanwhile, or not for this user: both mean "not seen"
        return None
