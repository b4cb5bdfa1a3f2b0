"""What processes use on macOS, from libproc and psutil. Not confirmed on a Mac yet.

There is no PSS, and the system keeps no time of waited-for children: both stay unknown.
"""

import os
from collections.abc import Collection

import psutil

from orchestrator.system.mac_processes import MacTable
from orchestrator.watch_ports import Connections, Kin, Usage


class MacMeter:
    """Asks for one process at a time.

    Args:
        table: Tells one process from another that gets its PID later.
    """

    def __init__(self, table: MacTable) -> None:
        self._table = table

    def pids(self) -> frozenset[int]:
        """Return every PID there is."""
        return frozenset(psutil.pids())

    def kin(self, pid: int) -> Kin | None:
        """Return parent and session."""
        info = self._table.brief(pid)
        try:
            session = os.getsid(pid)
        except OSError:  # a zombie has none, another user's may not be asked for
            session = -1
        if info is None:
            return None
        return Kin(
            start_ticks=info.start_us,
            parent=info.parent,
            session=session,
            is_stopped=info.state == "stopped",
        )

    def usage(self, pid: int) -> Usage | None:
        """Return what one process uses; another user's shows only that it is there."""
        info = self._table.brief(pid)
        if info is None or info.state == "zombie":
            return None
        known = Usage(pid=pid, start_ticks=info.start_us, parent=info.parent)
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                times = process.cpu_times()
                return Usage(
                    pid=pid,
                    start_ticks=info.start_us,
                    parent=info.parent,
                    cpu_ms=(times.user + times.system) * 1000,
                    resident_bytes=process.memory_info().rss,
                    threads=process.num_threads(),
                    descriptors=process.num_fds(),
                )
        except (psutil.Error, OSError):
            return known

    def proportional_bytes(self, pid: int) -> int | None:  # noqa: ARG002  # the port's signature
        """Return nothing: macOS splits no shared pages."""
        return None

    def connections(self, port: int, pids: Collection[int]) -> Connections | None:
        """Count the sockets of these processes; one that was not accepted yet is nobody's."""
        incoming = outgoing = 0
        for pid in pids:
            try:
                held = psutil.Process(pid).net_connections(kind="tcp")
            except (psutil.Error, OSError):
                return None
            for one in held:
                if one.status == psutil.CONN_ESTABLISHED:
                    is_ours = one.laddr.port == port
                    incoming += is_ours
                    outgoing += not is_ours
        return Connections(incoming=incoming, waiting=0, outgoing=outgoing)
