"""The socket table of Linux: who listens, and who holds the other end of one connection."""

import contextlib
import ipaddress
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from orchestrator.ports import Listener
from orchestrator.system.bind_trial import bind_fault
from orchestrator.system.sock_diag import listening_inodes

_LISTEN = "0A"
_TABLES = ("tcp", "tcp6")
Address = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of ``/proc/net/tcp`` or ``tcp6``."""

    local: Address
    remote: Address
    state: str
    inode: int
    """0 = the connection waits to be accepted, or nobody holds it any more."""


def _address(text: str) -> Address:
    host, port = text.split(":")
    # The kernel prints 32-bit words in the machine's byte order (proc(5)).
    words = [bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8)]
    address = ipaddress.ip_address(b"".join(words))
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address), int(port, 16)


def parse_rows(text: str) -> Iterator[Row]:
    """Read the table; IPv4 addresses of dual-stack sockets are given as IPv4."""
    for line in text.splitlines()[1:]:
        fields = line.split()
        yield Row(
            local=_address(fields[1]),
            remote=_address(fields[2]),
            state=fields[3],
            inode=int(fields[9]),
        )


def read_rows() -> list[Row]:
    """Read both tables of this network namespace."""
    rows: list[Row] = []
    for name in _TABLES:
        with contextlib.suppress(FileNotFoundError):  # no IPv6 in this kernel
            rows += parse_rows(Path(f"/proc/net/{name}").read_text())
    return rows


def holders(inodes: Collection[int], pids: Iterable[int]) -> dict[int, set[int]]:
    """Return which of these processes hold which of these sockets."""
    wanted = {f"socket:[{inode}]": inode for inode in inodes}
    found: dict[int, set[int]] = {}
    for pid in pids:
        try:
            descriptors = list(os.scandir(f"/proc/{pid}/fd"))
        except OSError:  # gone, or another user's
            continue
        for descriptor in descriptors:
            with contextlib.suppress(OSError):
                inode = wanted.get(os.readlink(descriptor.path))  # noqa: PTH115  # hot loop
                if inode is not None:
                    found.setdefault(inode, set()).add(pid)
    return found


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _listeners(rows: Iterable[Row]) -> tuple[Listener, ...]:
    waiting = [row for row in rows if row.state == _LISTEN]
    if not waiting:
        return ()
    held = holders({row.inode for row in waiting}, _all_pids())
    return tuple(
        Listener(
            host=row.local[0],
            port=row.local[1],
            pids=frozenset(held.get(row.inode, frozenset())),
        )
        for row in waiting
    )


class LinuxSockets:
    """Reads ``/proc/net``."""

    def listeners(self, port: int) -> tuple[Listener, ...]:
        """Return who listens on a port, on any address."""
        return _listeners(row for row in read_rows() if row.local[1] == port)

    def socket_numbers(self, port: int) -> frozenset[int] | None:
        """Return the inodes of the port's listening sockets."""
        listening = listening_inodes(port)
        return self._numbers_in_table(port) if listening is None else listening

    def _numbers_in_table(self, port: int) -> frozenset[int]:
        """Return the same where netlink is refused, for a hundred times the price."""
        found = set()
        # Thousands of lines after a load test: only the few that count are taken apart.
        ending = f":{port:04X}"
        for name in _TABLES:
            with contextlib.suppress(FileNotFoundError):  # no IPv6 in this kernel
                for line in Path(f"/proc/net/{name}").read_text().splitlines():
                    if ending in line:
                        fields = line.split()
                        if fields[1].endswith(ending) and fields[3] == _LISTEN:
                            found.add(int(fields[9]))
        return frozenset(found)

    def all_listeners(self) -> tuple[Listener, ...]:
        """Return every listening socket."""
        return _listeners(read_rows())

    def obstacle(self, port: int) -> str | None:
        """Look for listeners, then try to bind."""
        for row in read_rows():
            if row.state == _LISTEN and row.local[1] == port:
                return f"something listens on {row.local[0]}"
        return bind_fault(port)

    def ephemeral_floor(self) -> int:
        """Return the lowest port that outgoing connections may take."""
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        return int(text.split()[0])

    def peers(self, ours: Address, theirs: Address, near: Collection[int]) -> frozenset[int]:
        """Return who holds the other end of one connection.

        Args:
            ours: Local address of our socket.
            theirs: The address we connected to.
            near: PIDs to look at first.
        """
        inodes = {
            row.inode
            for row in read_rows()
            if row.local == theirs and row.remote == ours and row.inode
        }
        if not inodes:
            return frozenset()
        held = holders(inodes, near) or holders(inodes, _all_pids())
        return frozenset().union(*held.values())
