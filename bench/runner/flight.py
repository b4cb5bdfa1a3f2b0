"""One request that was admitted, and what came of it."""

from datetime import datetime

from bench.model.blocks import PlannedTrial
from bench.model.record import Value
from bench.model.trial import Refusal, Response
from bench.ports import Call

_NOTHING_YET = Response()


class Flight(Value, frozen=True, kw_only=True):
    """A request that was admitted, and what came of it."""

    planned: PlannedTrial
    call: Call
    attempt: int
    turn: int | None
    """Of an agentic trial."""
    reserve: float | None
    waited_ns: int
    """At the gate, for money that others held."""
    began_ns: int
    began_at: datetime
    """The same moment in UTC: some prices depend on the hour."""
    ended_ns: int = 0
    sent_at_ns: int | None = None
    """``None`` when it was cancelled: nobody can say when or whether it was sent."""
    response: Response = _NOTHING_YET
    refusals: tuple[Refusal, ...] = ()
    """Earlier attempts at it, which HTTP 429 refused."""
    is_settled: bool = False
    """Its money is counted already."""
    invalidated: str | None = None
    """What happened to it, when it counts nowhere."""
