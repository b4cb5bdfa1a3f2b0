"""From where the endpoint is seen: address, round trip, and the edge that takes the requests."""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Literal

from bench.client.exchange import Phases
from bench.model.surroundings import Vantage

_EDGE_HEADERS = (
    "cf-ray",
    "x-amz-cf-pop",
    "x-served-by",
    "x-vercel-id",
    "fly-request-id",
    "x-azure-ref",
    "x-akamai-request-id",
    "x-gateway-region",
    "server",
    "via",
)
"""Headers in which content delivery networks and gateways name the place that answered."""
_MOST_ANSWERS = 16
_MOST_CONNECTIONS = 4096
_MOST_CHARACTERS = 200
_NS_PER_MS = 1_000_000


class Outlook:
    """Collects what connecting and answers tell.

    Args:
        proxy: Address of the proxy that is between, without its password.
        mask: Takes secrets out of what a server says.
    """

    def __init__(
        self, proxy: str | None = None, *, mask: Callable[[str], str] = lambda text: text
    ) -> None:
        self._proxy = proxy
        self._mask = mask
        self._address: str | None = None
        self._phases: dict[str, list[int]] = {"dns": [], "connect": [], "proxy": [], "tls": []}
        self._connections = 0
        self._tls: str | None = None
        self._spoken: set[Literal["1.1", "2"]] = set()
        self._edge: dict[str, str] = {}
        self._answers = 0

    def connected(self, address: str, phases: Phases) -> None:
        """Take one new connection."""
        self._address = address
        self._connections += 1
        if self._connections > _MOST_CONNECTIONS:
            return
        for name, times in self._phases.items():
            took_ns: int | None = getattr(phases, f"{name}_ns")
            if took_ns is not None:
                times.append(took_ns)

    def secured(self, version: str) -> None:
        """Take what TLS agreed on."""
        self._tls = version

    def spoke(self, version: Literal["1.1", "2"]) -> None:
        """Take which HTTP a request went over."""
        self._spoken.add(version)

    def answered(self, headers: Mapping[str, str]) -> None:
        """Take the headers of an answer; only the first few are looked at."""
        if self._answers >= _MOST_ANSWERS:
            return
        self._answers += 1
        for name in _EDGE_HEADERS:
            if name in headers and name not in self._edge:
                self._edge[name] = self._mask(headers[name])[:_MOST_CHARACTERS]

    def vantage(self) -> Vantage:
        """Return what is known by now."""
        connects = self._phases["connect"]
        return Vantage(
            address=self._address,
            connections=self._connections,
            round_trip_ms=min(connects) / _NS_PER_MS if connects else None,
            round_trip_p50_ms=self._p50_ms("connect"),
            edge=dict(self._edge),
            http_versions=tuple(sorted(self._spoken)),
            tls=self._tls,
            proxy=self._proxy,
            dns_p50_ms=self._p50_ms("dns"),
            proxy_p50_ms=self._p50_ms("proxy"),
            tls_p50_ms=self._p50_ms("tls"),
        )

    def _p50_ms(self, phase: str) -> float | None:
        times = self._phases[phase]
        return median(times) / _NS_PER_MS if times else None
