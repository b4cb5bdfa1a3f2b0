"""From where the endpoint is seen: address, round trip, and the edge that takes the requests."""

from collections.abc import Mapping
from statistics import median

from bench.model.run import Vantage

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
    """Collects what connecting and answers tell."""

    def __init__(self) -> None:
        self._address: str | None = None
        self._connects_ns: list[int] = []
        self._connections = 0
        self._edge: dict[str, str] = {}
        self._answers = 0

    def connected(self, address: str, took_ns: int) -> None:
        """Take one TCP connect."""
        self._address = address
        self._connections += 1
        if len(self._connects_ns) < _MOST_CONNECTIONS:
            self._connects_ns.append(took_ns)

    def answered(self, headers: Mapping[str, str]) -> None:
        """Take the headers of an answer; only the first few are looked at."""
        if self._answers >= _MOST_ANSWERS:
            return
        self._answers += 1
        for name in _EDGE_HEADERS:
            if name in headers and name not in self._edge:
                self._edge[name] = headers[name][:_MOST_CHARACTERS]

    def vantage(self) -> Vantage:
        """Return what is known by now."""
        times = self._connects_ns
        return Vantage(
            address=self._address,
            connections=self._connections,
            round_trip_ms=min(times) / _NS_PER_MS if times else None,
            round_trip_p50_ms=median(times) / _NS_PER_MS if times else None,
            edge=dict(self._edge),
        )
