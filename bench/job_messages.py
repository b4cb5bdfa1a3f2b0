"""What the job says on its line to the benchmark, as it is written there. Pure.

A new message, or a new field of one, is optional for the other side. ``docs/journal.md`` lists them.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from bench.model.paired import Side
from bench.model.surroundings import Gateway

Clean = Callable[[str], str]
"""Takes secrets out of a text: a gateway may die of an error that holds its client's key."""


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A line on the wire; unknown fields are ignored."""


class GatewayState(Message, frozen=True, kw_only=True):
    """The gateway as ``hello`` and ``outcome`` describe it."""

    build: dict[str, Any] = {}
    identity: dict[str, Any] = {}
    events: tuple[dict[str, Any], ...] = ()
    ready_after_ms: float | None = None
    exit: dict[str, Any] | None = None

    def record(self, *, simulated_upstream: bool | None, side: Side | None = None) -> Gateway:
        """Return the journal's record of it."""
        return Gateway(
            build=self.build,
            identity=self.identity,
            events=self.events,
            ready_after_ms=self.ready_after_ms,
            exit=self.exit,
            simulated_upstream=simulated_upstream,
            side=side,
        )


class Hello(Message, frozen=True, kw_only=True):
    """First line from the job: what is measured, and whether it costs anything."""

    run_id: str
    launch: dict[str, Any] | None = None
    gateway: GatewayState = GatewayState()
    gateways: dict[Side, GatewayState] = {}
    """Both of a comparison; empty = there is only ``gateway``."""
    labels: dict[Side, str] = {}
    """What people know them by."""
    is_same: bool = False
    """Both are the same build with the same description."""
    simulated_upstream: bool = False
    free_because: str | None = None
    """Why requests cost nothing; ``None`` = they may be paid."""
    answer_book: str | None = None
    """Where the simulator expects the right answers; ``None`` = nobody reads them."""
    grace_ms: float = 0.0
    """How long the gateway may take to end after it was asked to."""

    def records(self) -> tuple[Gateway, ...]:
        """Return the journal's record of each gateway."""
        return records_of(self, self)


class IncidentText(Message, frozen=True, kw_only=True):
    """What happened; when and where it is written down is the reader's business."""

    incident_class: str = msgspec.field(name="class")
    at_ns: int | None = None
    summary: str = ""
    detail: dict[str, Any] = {}
    fatal: bool = True
    """Only in ``incident``: False = the run goes on."""
    since_ns: int | None = None
    """What was in flight since then was touched; ``None`` = nothing was, or all when fatal."""
    told: bool = False
    """The job has shown it to people already."""


class Incoming(Message, frozen=True, kw_only=True):
    """Any later line from the job; which fields it has depends on ``type``."""

    type: str
    id: int | None = None
    incident: IncidentText | None = None
    gateway: GatewayState = GatewayState()
    gateways: dict[Side, GatewayState] = {}
    at_ns: int | None = None
    values: dict[str, float] = {}
    side: Side | None = None


def records_of(told: "Hello | Incoming", hello: Hello) -> tuple[Gateway, ...]:
    """Return the journal's record of each gateway that a message tells of."""
    simulated = hello.simulated_upstream
    if not told.gateways:
        return (told.gateway.record(simulated_upstream=simulated),)
    return tuple(
        state.record(simulated_upstream=simulated, side=side)
        for side, state in told.gateways.items()
    )


def without(value: Any, clean: Clean) -> Any:  # noqa: ANN401  any JSON value
    """Return ``value`` with every text in it cleaned."""
    match value:
        case str():
            return clean(value)
        case dict():
            return {key: without(one, clean) for key, one in value.items()}
        case list() | tuple():
            return type(value)(without(one, clean) for one in value)
        case _:
            return value
