"""One health request, and who answered it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthQuestion:
    """One health request: a GET to a literal address, no proxies, no redirects."""

    host: str
    port: int
    path: str
    timeout_s: float
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthAnswer:
    """What came back, and from whom."""

    status: int | None
    """``None`` when there was no HTTP answer."""
    body: str = ""
    """At most 64 KiB."""
    fault: str | None = None
    """``refused``, ``timed out``, ``reset``, ``no HTTP``…"""
    owners: frozenset[int] = frozenset()
    """Processes that hold the other end of exactly this connection; empty = not visible."""


class HealthProbe(Protocol):
    """Asks for health."""

    def ask(self, question: HealthQuestion, near: Collection[int]) -> HealthAnswer:
        """Ask once; of the PIDs that may hold the other end, look at ``near`` first."""
        ...
