"""What a target does when more is asked of it at once: load points, and stages of a series."""

from typing import Literal

from bench.model.figures import AdjustedSummary, NumericSummary, Rate, SketchSummary
from bench.model.load import ClientReading, SaturationReason, Stage, StageEnd
from bench.model.record import Record


class LoadPoint(Record, frozen=True, kw_only=True):
    """One target with so many requests in flight. Times are those of ``connection``'s kind."""

    case_id: str
    concurrency: int
    """How many requests were to be in flight."""
    attempted: int
    succeeded: int
    success_rate: float | None
    achieved_requests_per_second: float | None
    """Version 2: from the first start to the last end, breaks between blocks included."""
    ttft_p50_ms: float | None
    total_p50_ms: float | None
    degradation: float | None
    """``total_p50_ms`` by that of the lowest concurrency; ``None`` where kinds of connection differ."""
    success: Rate | None = None
    requests_per_second: float | None = None
    """Per second in which at least one request of this point was in flight; failed ones too."""
    answers_per_second: float | None = None
    """The same, whole answers only."""
    mean_in_flight: float | None = None
    """How many requests really were in flight, over the same seconds."""
    connection: Literal["warm", "cold", "promptCached", "all"] | None = None
    ttft_ms: NumericSummary | None = None
    total_ms: NumericSummary | None = None
    ttft_degradation: float | None = None


class LoadSummary(Record, frozen=True, kw_only=True):
    """The load curve of one target, by ascending concurrency."""

    target_id: str
    points: tuple[LoadPoint, ...]
    saturation_concurrency: int | None
    """The first point with ``degradation`` >= 2 or a success rate below 95 %; ``None``: none was."""
    saturation_reason: SaturationReason | None = None


class SloResult(Record, frozen=True, kw_only=True):
    """One objective over all requests sent."""

    slo: str
    kept: Rate


class StageSummary(Record, frozen=True, kw_only=True):
    """One load stage. Rates are per second, times milliseconds; ``None`` = not measured."""

    target_id: str
    case_id: str
    number: int
    label: str
    """What was asked for, in words."""
    stage: Stage
    level: float
    """In flight (closed loop) or per second (open loop)."""
    reason: StageEnd | None
    """Why it ended; ``None`` = it did not end in order."""
    detail: str = ""
    attempted: int = 0
    succeeded: int = 0
    set_aside: int = 0
    cancelled: int = 0
    warmups: int = 0
    success: Rate
    errors_by_cause: dict[str, int] = {}
    scheduled: int | None = None
    dropped: int = 0
    late: int = 0
    asked_per_second: float | None = None
    sent_per_second: float | None = None
    """Sends after the first, by the time from the first to the last."""
    requests_per_second: float | None = None
    answers_per_second: float | None = None
    """Whole ones, per second in which any request was in flight."""
    tokens_per_second: float | None = None
    """Of all streams together, over the same seconds."""
    mean_in_flight: float | None = None
    peak_in_flight: int = 0
    window_seconds: float | None = None
    """The steady part, without filling and draining."""
    window_answers_per_second: float | None = None
    window_tokens_per_second: float | None = None
    connection: Literal["warm", "cold", "promptCached", "all"] | None = None
    """Whose times stand below."""
    ttft_ms: NumericSummary | None = None
    first_token_ms: NumericSummary | None = None
    total_ms: NumericSummary | None = None
    tpot_ms: NumericSummary | None = None
    itl_ms: SketchSummary | None = None
    stream_tokens_per_second: NumericSummary | None = None
    due_ttft_ms: NumericSummary | None = None
    """From when the request was due: what its user waited. ``None`` in a closed loop."""
    due_total_ms: NumericSummary | None = None
    queue_ms: NumericSummary | None = None
    """From due to handed to the client."""
    send_lag_ms: NumericSummary | None = None
    """From handed to the client to its last byte written, on open connections."""
    adj_ttft_ms: AdjustedSummary | None = None
    adj_total_ms: AdjustedSummary | None = None
    slos: tuple[SloResult, ...] = ()
    attainment: Rate | None = None
    """Requests that keep all objectives, of all sent. ``None`` = there are none."""
    goodput_per_second: float | None = None
    saturated: SaturationReason | None = None
    on_frontier: bool = False
    """No stage of the same target and case has more answers per second at a lower TTFT p99."""
    client: ClientReading | None = None
    client_saturated: tuple[str, ...] = ()
    """Why this machine may have been the limit, and of what; empty = it was not."""
    client_spoils: tuple[str, ...] = ()
    """The figures that this may have made, by the names of gates: they decide nothing."""


class SeriesSummary(Record, frozen=True, kw_only=True):
    """The load stages of one target and case, in the order in which they were run."""

    target_id: str
    case_id: str
    stages: tuple[StageSummary, ...]
    highest_good: float | None = None
    """The saturation point lies above this level ..."""
    lowest_saturated: float | None = None
    """... and at or below this one; ``None`` = no stage was saturated."""
    saturation_reason: SaturationReason | None = None
