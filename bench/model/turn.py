"""One turn of an agentic trial: a request, its answer, and the tool calls that followed."""

from bench.model.agent import ToolTrace
from bench.model.record import Record
from bench.model.trial import Refusal, Response


class TurnTrace(Record, frozen=True, kw_only=True):
    """One turn, written down when its tools are done."""

    number: int
    """From 1."""
    response: Response
    """Its tool calls stand in ``calls``, not here."""
    calls: tuple[ToolTrace, ...] = ()
    started_offset_ms: float
    """When the request began, since the run's first record."""
    answered_offset_ms: float
    """When its answer was complete, or it failed."""
    sent_at_ns: int | None = None
    """t0 as a reading of this machine's monotonic clock; ``None`` = cancelled."""
    model_ms: float
    tool_ms: float
    own_ms: float
    cost_usd: float | None = None
    cost_source: str | None = None
    computed_cost_usd: float | None = None
    """Token counts at known prices, also where the gateway reported a cost."""
    spent_usd: float | None = None
    """What it counts for in spend: its cost, else its whole reserve; ``None`` = unknown."""
    refusals: tuple[Refusal, ...] = ()
    """Earlier attempts at its request."""
    pin_violated: bool | None = None
    invalidated: str | None = None
    """Class of the incident, or ``cancelled``, that keeps the turn from being gone on from."""

    @property
    def is_whole(self) -> bool:
        """Whether a later process can go on after this turn."""
        return self.response.error is None and self.invalidated is None
