"""What is written of a run's surroundings: the gateway, the machine, and the way to the endpoint."""

from typing import Any, Literal

import msgspec

from bench.model.paired import Side
from bench.model.record import Record

_ENDING_CLASSES = frozenset(
    {
        "gateway_killed",
        "gateway_oom",
        "gateway_stopped",
        "gateway_crash",
        "gateway_draining_or_hung",
        "gateway_suspended",
        "port_taken",
    }
)


class Incident(Record, frozen=True, kw_only=True, tag="incident"):
    """Something that happened to the gateway, this client or the machine."""

    incident_class: str = msgspec.field(name="class")
    """``gateway_killed`` ... as listed in docs/errors.md."""
    at: str
    at_ns: int | None = None
    """Monotonic reading at which it happened or was noticed."""
    noticed_ns: int | None = None
    """Monotonic reading at which the benchmark process had the notice."""
    summary: str
    """One paragraph for people: what happened, with values."""
    detail: dict[str, Any] = {}
    since_ns: int | None = None
    """Monotonic reading since when it touched whatever was in flight; ``None`` = it touched only
    the trials that are named."""
    touched_trials: tuple[str, ...] = ()

    @property
    def ends_run(self) -> bool:
        """Whether no further request can be trusted to reach the gateway that was verified."""
        return self.incident_class in _ENDING_CLASSES


class Gateway(Record, frozen=True, kw_only=True, tag="gateway"):
    """What the job knows of the gateway: build, identity, life, how it ended. Last one wins."""

    build: dict[str, Any] = {}
    identity: dict[str, Any] = {}
    events: tuple[dict[str, Any], ...] = ()
    ready_after_ms: float | None = None
    exit: dict[str, Any] | None = None
    simulated_upstream: bool | None = None
    side: Side | None = None
    """Which of two gateways; ``None`` = there is only one."""


class Sample(Record, frozen=True, kw_only=True, tag="sample"):
    """Resource use of the gateway's session at one moment."""

    at_ns: int
    values: dict[str, float]
    side: Side | None = None
    """As in ``Gateway``."""


class Vantage(Record, frozen=True, kw_only=True, tag="vantage"):
    """From where the endpoint was seen: two runs from two places are not the same measurement."""

    address: str | None = None
    """The address that was connected to."""
    connections: int = 0
    round_trip_ms: float | None = None
    """Shortest TCP connect: about one round trip. ``None`` = no connection was made."""
    round_trip_p50_ms: float | None = None
    edge: dict[str, str] = {}
    """What answers say of the edge that took the request (``cf-ray``, ``x-amz-cf-pop`` …)."""
    http_versions: tuple[Literal["1.1", "2"], ...] = ()
    """That requests went over."""
    tls: str | None = None
    """Version that was agreed on; ``None`` = plain http."""
    proxy: str | None = None
    """Between here and there; round trips are then those to the proxy."""
    dns_p50_ms: float | None = None
    """Looking the name up, median over the connections that were opened."""
    proxy_p50_ms: float | None = None
    """Until the proxy had connected on, the same."""
    tls_p50_ms: float | None = None
    """TLS handshake, the same."""
