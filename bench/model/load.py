"""Load: what is sent how fast in stages, how each stage ended, and how good its client was.

A stage is measured in one go: what resumes a run repeats an unfinished stage from its beginning.
"""

from typing import Literal

from bench.model.paired import PairPlace
from bench.model.record import Record

Arrival = Literal["constant", "poisson", "gamma"]
StageKind = Literal["closed", "open", "trace"]
SaturationReason = Literal["degradation", "success", "slo"]
Stamps = Literal["kernel", "loop", "mixed"]
StageEnd = Literal[
    "requests",
    "duration",
    "trace",
    "errors",
    "tokens",
    "saturated",
    "skipped",
    "budget",
    "max_cost",
    "stopped",
    "worker_lost",
]


class StopRules(Record, frozen=True, kw_only=True):
    """What ends a stage before its time; each ``None`` or false = never."""

    error_share: float | None = None
    """0..1; the share of failures is surely above it (lower end of Wilson's interval)."""
    tokens: int | None = None
    """Completion tokens of all answers of the stage."""
    on_saturation: bool = False
    """Requests in flight and TTFT both keep rising."""


class Stage(Record, frozen=True, kw_only=True):
    """One shape of load, kept up until it ends.

    Closed loop (neither rate nor offsets): ``concurrency`` requests in flight, each followed by the
    next. Open loop: requests come when they are due, whether or not earlier ones were answered.
    """

    number: int
    """From 1, in the order in which the stages of one target and case are run."""
    concurrency: int | None = None
    """Closed loop: requests in flight. Open loop: most of them; ``None`` = no limit."""
    concurrency_from: int | None = None
    """A ramp begins with so many and reaches ``concurrency`` at the end of ``duration_ms``."""
    rate_per_second: float | None = None
    rate_from: float | None = None
    """A ramp begins with this rate and reaches ``rate_per_second`` at the end."""
    arrival: Arrival = "poisson"
    burstiness: float = 1.0
    """Shape of the gamma gaps: 1 = Poisson, below 1 = bursts, above 1 = more even."""
    offsets_ms: tuple[float, ...] = ()
    """A recorded trace: when each request is due, ascending from 0."""
    input_tokens: tuple[int | None, ...] = ()
    """Of the trace, one per request; empty = the trace has no lengths."""
    output_tokens: tuple[int | None, ...] = ()
    requests: int | None = None
    """Measured requests, at most."""
    duration_ms: float | None = None
    """Nothing is sent later; what is in flight finishes."""
    warmups: int = 0
    """Requests before the measured ones, excluded from figures."""
    turns: int = 1
    """Requests of one conversation, each with all that was said before."""
    lock_step: bool = False
    """All begin at once, instead of one after another."""
    stops: StopRules = StopRules()
    fresh_connections: bool = False
    """Each request opens a connection of its own, which is closed after it."""
    prompt_bytes: int | None = None
    """Length of every prompt; ``None`` = the case's own."""
    chunks_kept: int = 0
    """Trials whose chunks are recorded, the first ones; of the others only the gaps are."""
    pair: PairPlace | None = None
    """Of a block of two arms in turn."""

    @property
    def kind(self) -> StageKind:
        """Whether answers or the clock decide when the next request is sent."""
        if self.offsets_ms:
            return "trace"
        return "closed" if self.rate_per_second is None else "open"


class Sweep(Record, frozen=True, kw_only=True):
    """Stages of rising load until one is saturated, then between the last good one and that."""

    by: Literal["concurrency", "rate"]
    low: float
    high: float
    """The highest level that is tried."""
    template: Stage
    """Every stage but for its number and level."""


class ClientReading(Record, frozen=True, kw_only=True):
    """How well this client did its work during one stage; milliseconds. ``None`` = not measured."""

    stamps: Stamps | None = None
    """Who stamped the arriving reads: the kernel on arrival, or this process on reading."""
    reads: int = 0
    receive_lag_p50_ms: float | None = None
    """From a read's arrival at this host to its turn in this process (kernel stamps only)."""
    receive_lag_p99_ms: float | None = None
    receive_lag_max_ms: float | None = None
    stamps_discarded: int = 0
    """Kernel stamps that could not be right (the wall clock was set): the loop's was taken."""
    loop_lag_p99_ms: float | None = None
    """How late a 5 ms tick of the event loop came."""
    loop_lag_max_ms: float | None = None
    utilisation_mean: float | None = None
    """Processor time of the measuring thread by wall time, 0..1."""
    utilisation_max: float | None = None
    """Of the busiest second."""
    gc_pause_max_ms: float | None = None
    """``None`` = no garbage collection happened."""
    connections_opened: int = 0
    """While the stage was measured: those opened before are not in it."""
    requests: int = 0
    load_average: float | None = None
    """Of the machine over the last minute, at the end; what else runs there is in it."""
    processors: int | None = None


class ClockAnchor(Record, frozen=True, kw_only=True):
    """Where a load process's clock stands beside the leading one's.

    Durations come from one clock only; this places them beside those of others.
    """

    offset_ns: int = 0
    """Its clock less the leading one."""
    uncertainty_ns: int = 0
    """Half the fastest round trip in which it was read; 0 = it is the same clock."""


class SenderReading(Record, frozen=True, kw_only=True):
    """One of several load processes of a stage."""

    number: int
    """Of the load process; its records are in ``STEM.N.jsonl``."""
    sent: int = 0
    clock: ClockAnchor = ClockAnchor()
    client: ClientReading = ClientReading()
    lost: str | None = None
    """How it was lost before the stage's end; ``None`` = it came to it."""


class StageBegun(Record, frozen=True, kw_only=True, tag="stage_begun"):
    """Written before a stage's first request; a repeated one replaces what was measured of it."""

    target_id: str
    case_id: str
    stage: Stage
    attempt: int = 1
    offset_ms: float


class StageDone(Record, frozen=True, kw_only=True, tag="stage"):
    """How a stage ended; without it the stage is unfinished."""

    target_id: str
    case_id: str
    number: int
    attempt: int = 1
    reason: StageEnd
    detail: str = ""
    """What triggered it, with values."""
    scheduled: int | None = None
    """Requests of an open loop's schedule; ``None`` in a closed loop."""
    sent: int = 0
    dropped: int = 0
    """Due and never sent: still waiting for a free place when the stage ended."""
    late: int = 0
    """Sent more than 10 ms after they were due."""
    unreached: int = 0
    """Failed before a connection stood."""
    unreached_by: str = ""
    """Code of the last one's error."""
    connections: int | None = None
    """So many could be open at a time, fewer than were asked for; ``None`` = as many as asked."""
    began_offset_ms: float
    """The first measured request could be sent; warm-ups are over."""
    sending_ended_offset_ms: float
    ended_offset_ms: float
    """The last request in flight had ended."""
    total_p50_ms: float | None = None
    success_rate: float | None = None
    attainment: float | None = None
    saturated: SaturationReason | None = None
    """Held against the first stage of the same target and case."""
    client: ClientReading = ClientReading()
    """Of several load processes the worst of each figure, and the sum of what is counted."""
    senders: tuple[SenderReading, ...] = ()
    """The load processes; empty = the process that leads the run sent all."""
