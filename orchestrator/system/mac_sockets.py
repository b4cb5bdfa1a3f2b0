"""The socket table of macOS, process by process with psutil. Not confirmed on a Mac yet.

The table of the whole machine needs root there; a user's own processes do not.
"""

import ipaddress
import os
import socket
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import psutil

from orchestrator.ports import Listener, ProcessTable
from orchestrator.system.bind_trial import bind_fault

_LOOPBACKS = ("127.0.0.1", "::1")
_CONNECT_S = 0.5
_EPHEMERAL_FLOOR = 49_152  # net.inet.ip.portrange.first

_ASK_TWICE = 2

Address = tuple[str, int]
Ask = Callable[[int], Sequence[Any]]


def _ask(pid: int) -> Sequence[Any]:
    return psutil.Process(pid).net_connections(kind="tcp")


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
            for local, _, status in connections_of(pid):
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
            for local, _, status in connections_of(pid):
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
            if any((local, remote) == (theirs, ours) for local, remote, _ in connections_of(pid))
        )

    def _own(self) -> list[int]:
        user = os.geteuid()
        return [one.pid for one in self._table.everyone() if user in (0, one.user)]


def connections_of(pid: int, ask: Ask = _ask) -> list[tuple[Address, Address, str]]:
    """Return local address, remote address and state of each TCP socket of a process.

    A process whose sockets open and close meanwhile is refused now and then, so once more is
    asked; what stays refused is not seen, which never means that there is nothing.
    """
    for _ in range(_ASK_TWICE):
        try:
            found = ask(pid)
        except psutil.NoSuchProcess:
            return []
        except (psutil.Error, OSError):
            continue
        return [(_plain(one.laddr), _plain(one.raddr), one.status) for one in found]
    return []


def _plain(address: Sequence[str | int]) -> Address:
    """Give IPv4 addresses of dual-stack sockets as IPv4, a missing address as no port at all.

    XNU keeps them in the last four of sixteen bytes that are otherwise zero, which reads as
    ``::127.0.0.1`` and not as ``::ffff:127.0.0.1``.
    """
    if not address:
        return "", 0
    host = str(address[0]) or "*"
    if host == "*":
        return "0.0.0.0", int(address[1])  # noqa: S104  # compared only
    if ":" in host:
        number = int(ipaddress.IPv6Address(host.split("%")[0]))
        if number >> 32 in (0, 0xFFFF) and number & 0xFFFF_FFFF > 1:
            host = str(ipaddress.IPv4Address(number & 0xFFFF_FFFF))
    return host, int(address[1])


def _accepts(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.settimeout(_CONNECT_S)
            return trial.connect_ex((host, port)) == 0
    except OSError:  # no IPv6 here
        return False
