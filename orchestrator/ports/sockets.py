"""Who listens, who is connected, and what a port is free for."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One listening socket."""

    host: str
    port: int
    pids: frozenset[int]
    """Every process that holds it; empty = not visible to this user."""


class Sockets(Protocol):
    """Reads the kernel's socket table."""

    def listeners(self, port: int) -> tuple[Listener, ...]:
        """Return who listens on a port, on any address."""
        ...

    def socket_numbers(self, port: int) -> frozenset[int] | None:
        """Return numbers that tell the port's listening sockets apart; cheap: not who holds them.

        ``None`` = this system has no such numbers.
        """
        ...

    def all_listeners(self) -> tuple[Listener, ...]:
        """Return every listening socket of this network namespace."""
        ...

    def obstacle(self, port: int) -> str | None:
        """Try whether the port can be listened on; return what stands in the way, if anything."""
        ...

    def peers(
        self, ours: tuple[str, int], theirs: tuple[str, int], near: Collection[int]
    ) -> frozenset[int]:
        """Return who holds ``theirs`` end of our connection, looking at ``near`` first."""
        ...

    def ephemeral_floor(self) -> int:
        """Return the lowest port that outgoing connections may take."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Connections to one port at one moment."""

    established: int
    seen: frozenset[str]
    """A word for each connection that is there or ended a moment ago, to compare two readings."""


class TrafficMeter(Protocol):
    """Counts connections."""

    def traffic(self, port: int, members: Collection[int]) -> Traffic | None:
        """Return who is connected to a port that ``members`` listen on; ``None`` = not visible."""
        ...
