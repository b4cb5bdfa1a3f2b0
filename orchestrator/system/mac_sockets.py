"""The socket table of macOS, process by process with psutil. Not confirmed on a Mac yet.

The table of the whole machine needs root there; a user's own processes do not.
"""

import os
import socket
from collections.abc import Collection, Iterable, Sequence

import psutil

from orchestrator.ports import Listener, ProcessTable
from orchestrator.system.bind_trial import bind_fault

_LOOPBACKS = ("127.0.0.1", "::1")
_CONNECT_S = 0.5
_EPHEMERAL_FLOOR = 49_152  # net.inet.ip.portrange.first

Address = tuple[str, int]


class MacSockets:
    """Asks every process of this user.

    Args:
        table: Lists the processes.
    """

    def __init__(self, table: ProcessTable) -> None:
        self._table = table

    def listeners(self, port: int) -> tuple[Listener, ...]:
        """Return who listens on a port; somebody out of sight shows by answering."""
        found: dict[str, set[int]] = {}
        for pid in self._own():
            for local, _, status in _connections(pid):
                if status == psutil.CONN_LISTEN and local[1] == port:
                    found.setdefault(local[0], set()).add(pid)
        if not found:
            found = {host: set() for host in _LOOPBACKS if _accepts(host, port)}
        return tuple(
            Listener(host=host, port=port, pids=frozenset(pids)) for host, pids in found.items()
        )

    def socket_numbers(self, port: int) -> frozenset[int] | None:  # noqa: ARG002  # as the port has it
        """Return nothing: sockets have no numbers here."""
        return None

    def all_listeners(self) -> tuple[Listener, ...]:
        """Return every listening socket of this user's processes; those of others are not seen."""
        found: dict[Address, set[int]] = {}
        for pid in self._own():
            for local, _, status in _connections(pid):
                if status == psutil.CONN_LISTEN:
                    found.setdefault(local, set()).add(pid)
        return tuple(
            Listener(host=host, port=port, pids=frozenset(pids))
            for (host, port), pids in found.items()
        )

    def obstacle(self, port: int) -> str | None:
        """Connect, then bind: here a more specific address can be bound beside a listener."""
        for host in _LOOPBACKS:
            if _accepts(host, port):
                return f"something listens on {host}"
        return bind_fault(port)

    def peers(self, ours: Address, theirs: Address, near: Collection[int]) -> frozenset[int]:
        """Return who holds the other end of one connection."""
        return self._holding(ours, theirs, near) or self._holding(ours, theirs, self._own())

    def ephemeral_floor(self) -> int:
        """Return the lowest port that outgoing connections may take."""
        return _EPHEMERAL_FLOOR

    def _holding(self, ours: Address, theirs: Address, pids: Iterable[int]) -> frozenset[int]:
        return frozenset(
            pid
            for pid in pids
            if any((local, remote) == (theirs, ours) for local, remote, _ in _connections(pid))
        )

    def _own(self) -> list[int]:
        user = os.geteuid()
        return [one.pid for one in self._table.everyone() if user in (0, one.user)]


def _connections(pid: int) -> list[tuple[Address, Address, str]]:
    try:
        found = psutil.Process(pid).net_connections(kind="tcp")
    except (psutil.Error, OSError):  # ended meanwhile, or not for this user: not seen
        return []
    return [(_plain(one.laddr), _plain(one.raddr), one.status) for one in found]


def _plain(address: Sequence[str | int]) -> Address:
    """Give IPv4 addresses of dual-stack sockets as IPv4, a missing address as no port at all."""
    if not address:
        return "", 0
    host = str(address[0]).removeprefix("::ffff:")
    return ("0.0.0.0" if host in ("*", "") else host), int(address[1])  # noqa: S104  # compared only


def _accepts(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.settimeout(_CONNECT_S)
            return trial.connect_ex((host, port)) == 0
    except OSError:  # no IPv6 here
        return False
