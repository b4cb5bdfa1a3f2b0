"""What a run amounts to: the figures of a result document, none of their arithmetic.

Field names of version-2 documents are kept with their meaning; where such a definition misleads, an
honest field stands beside it. Formula and source of each figure: docs/metrics.md, by the name here.
"""

from typing import Any, Literal

from bench.model.ab import AbFindings
from bench.model.figures import AdjustedSummary, Interval, NumericSummary, Rate, SketchSummary
from bench.model.gates import GateResult
from bench.model.load_summary import LoadPoint, LoadSummary, SeriesSummary, SloResult, StageSummary
from bench.model.overhead import OverheadFindings
from bench.model.paired import PairedSummary
from bench.model.quality_summary import (
    AgreementSummary,
    FingerprintSummary,
    PairwiseAgreement,
    QualitySummary,
    RobustnessSummary,
    SliceSummary,
)
from bench.model.record import Record

__all__ = [
    "AdjustedSummary",
    "AgreementSummary",
    "CaseSummary",
    "CostComparison",
    "EfficiencySummary",
    "Excluded",
    "FingerprintSummary",
    "Interval",
    "LoadPoint",
    "LoadSummary",
    "MetricSummary",
    "NumericSummary",
    "PairwiseAgreement",
    "PerformanceSummary",
    "QualitySummary",
    "Rate",
    "ReliabilitySummary",
    "RobustnessSummary",
    "SeriesSummary",
    "SketchSummary",
    "SliceSummary",
    "SloResult",
    "StageSummary",
    "Summary",
    "TargetSummary",
]


class MetricSummary(Record, frozen=True, kw_only=True):
    """Timings over a set of trials. ``None``: no trial of the set has the figure."""

    trials: int = 0
    headers_ms: NumericSummary | None = None
    first_event_ms: NumericSummary | None = None
    first_reasoning_ms: NumericSummary | None = None
    total_ms: NumericSummary | None = None
    ttft_ms: NumericSummary | None = None
    """Over ``firstContentMs``."""
    generation_ms: NumericSummary | None = None
    visible_tokens_per_second: NumericSummary | None = None
    max_content_stall_ms: NumericSummary | None = None
    average_content_chunk_characters: NumericSummary | None = None
    final_content_burst_ratio: NumericSummary | None = None
    buffered_rate: float | None = None
    """The version-2 rule; ``held_back`` is the verdict that reports use."""
    first_token_ms: NumericSummary | None = None
    itl_ms: NumericSummary | None = None
    """All gaps of all trials pooled."""
    content_itl_ms: NumericSummary | None = None
    tpot_ms: NumericSummary | None = None
    visible_tpot_ms: NumericSummary | None = None
    held_back: Rate | None = None
    coalesced_share: NumericSummary | None = None
    client_lag_ms: NumericSummary | None = None
    gateway_overhead_ms: NumericSummary | None = None
    """What the gateway claims to have added; a claim, not a measurement."""


class Excluded(Record, frozen=True, kw_only=True):
    """Trials that were measured but prove nothing about the pinned target; each counted once."""

    pin_violated: int = 0
    fallback: int = 0
    cache_hit: int = 0


class PerformanceSummary(MetricSummary, frozen=True, kw_only=True):
    """Over all valid performance trials (version-2 fields), and by kind of connection."""

    warm: MetricSummary | None = None
    cold: MetricSummary | None = None
    prompt_cached: MetricSummary | None = None
    """Trials whose prompt the provider read from its cache, whatever the connection."""
    headline: Literal["warm", "cold", "promptCached", "all"] | None = None
    """Which block reports and gates use: warm, else cold, else what there is. ``all`` where nobody
    recorded the connection (documents of the seed system)."""
    excluded: Excluded = Excluded()
    adj_ttft_ms: AdjustedSummary | None = None
    """``headline`` with the failed requests on that kind of connection, or on none, as worst."""
    adj_total_ms: AdjustedSummary | None = None


class ReliabilitySummary(Record, frozen=True, kw_only=True):
    """Over all measured trials, whatever their kind."""

    success_rate: float | None
    timeout_rate: float | None
    rate_limit_rate: float | None
    truncated_rate: float | None
    malformed_stream_rate: float | None
    errors_by_code: dict[str, int]
    """By the version-2 words."""
    errors_by_cause: dict[str, int] = {}
    """By the codes of docs/errors.md."""
    success: Rate | None = None
    timeout: Rate | None = None
    rate_limit: Rate | None = None
    truncated: Rate | None = None
    malformed_stream: Rate | None = None
    retried_requests: int = 0
    """Requests that HTTP 429 refused and that were sent again (`--retry-429`); the figures above
    count the first attempt."""
    success_after_retries: Rate | None = None
    """No error in the end; ``None`` = nothing was sent again."""
    truncated_answers: Rate | None = None
    """Of whole answers to quality and agentic tasks: timed cases are meant to end at their limit."""


class CostComparison(Record, frozen=True, kw_only=True):
    """Reported and computed cost of the counted trials that have both, US dollars."""

    trials: int
    reported_usd: float
    """What the gateway says."""
    computed_usd: float
    """Token counts at known prices."""


class EfficiencySummary(Record, frozen=True, kw_only=True):
    """Money and tokens. Every sum is US dollars."""

    estimated_cost_usd: float | None
    """Version 2: the known costs of measured trials, unknown ones left out."""
    cost_per_correct_answer_usd: float | None
    """Version 2: cost of all kinds of trials by correct quality answers."""
    reasoning_token_ratio: float | None
    usage_missing_rate: float | None
    usage_missing: Rate | None = None
    quality_cost_per_correct_usd: float | None = None
    """Quality trials only; ``None`` if the cost of one of them is unknown."""
    total_spend_usd: float | None = None
    """Everything sent, with warm-ups, repeats, cancelled trials and the reserves of lost answers;
    ``None`` if the cost of one of them is unknown."""
    known_spend_usd: float = 0.0
    """The part of it that is known: a lower bound. 0 when nothing was sent or nothing is known."""
    unknown_cost_requests: int = 0
    reserved_usd: float = 0.0
    """Part of the spend that stands for answers whose bill nobody saw."""
    gateway_cost_usd: float | None = None
    """What the gateway itself says the measured trials cost; ``None`` if it is silent on one."""
    computed_cost_usd: float | None = None
    """What their tokens cost at known prices; ``None`` if it is unknown of one."""
    comparison: CostComparison | None = None
    """``None`` where no trial has both."""
    spend_by_source: dict[str, float] = {}
    """``known_spend_usd`` by who says so: ``gateway`` (with the answer), ``gateway-list``,
    ``catalogue``, ``assumed``, ``genai-prices``, ``reserve``."""
    prompt_tokens: int | None = None
    """Of measured trials that report them."""
    completion_tokens: int | None = None
    cached_prompt_tokens: int | None = None


class TargetSummary(Record, frozen=True, kw_only=True):
    """One target over the whole run. Warm-ups are in ``warmups`` and in spend, nowhere else."""

    target_id: str
    attempted: int
    succeeded: int
    valid: int
    quality: QualitySummary
    reference_agreement: AgreementSummary | None
    fingerprint: FingerprintSummary | None = None
    performance: PerformanceSummary
    agent: dict[str, Any] | None = None
    reliability: ReliabilitySummary
    efficiency: EfficiencySummary
    robustness_drop: float | None = None
    """Score of canonical cases minus score of their variants, -1..1."""
    robustness: RobustnessSummary | None = None
    """``None`` where no pair was judged."""
    achieved_requests_per_second: float | None
    """Version 2: from the first start to the last end, the turns of other targets included."""
    requests_per_second: float | None = None
    """Per second in which at least one of its requests was in flight."""
    planned: int | None = None
    """``None`` where no plan was recorded."""
    invalidated: int = 0
    """Touched by an incident: counted here and nowhere else."""
    cancelled: int = 0
    not_run: int = 0
    """Planned and without a record: never sent, or sent and lost (``completeness`` tells apart)."""
    warmups: int = 0
    not_pinned: Excluded = Excluded()
    """Trials of every kind that are left out of scores and timings."""


class CaseSummary(Record, frozen=True, kw_only=True):
    """One case on one target."""

    target_id: str
    case_id: str
    attempted: int
    succeeded: int
    valid: int
    quality: QualitySummary
    metrics: MetricSummary
    """Over valid trials less violations."""
    achieved_requests_per_second: float | None
    requests_per_second: float | None = None
    planned: int | None = None
    timings: MetricSummary = MetricSummary()
    """Over all answers that arrived, failed evaluations included."""
    success: Rate | None = None
    evaluation: Rate | None = None
    """Passed of judged, for cases of every kind."""
    truncated: int = 0
    cost_usd: float | None = None
    """``None`` if the cost of one trial is unknown."""


class Summary(Record, frozen=True, kw_only=True):
    """All figures of a run, in the order of its targets and cases."""

    targets: tuple[TargetSummary, ...] = ()
    cases: tuple[CaseSummary, ...] = ()
    categories: tuple[SliceSummary, ...] = ()
    difficulties: tuple[SliceSummary, ...] = ()
    dimensions: tuple[SliceSummary, ...] = ()
    pairwise_agreement: tuple[PairwiseAgreement, ...] = ()
    load: tuple[LoadSummary, ...] = ()
    """Targets for which load points were measured."""
    load_series: tuple[SeriesSummary, ...] = ()
    """Load stages, where there were any; the blocks of two arms are summed up in ``paired``."""
    paired: PairedSummary | None = None
    """Two arms in turn; ``None`` = another kind of run."""
    ab: AbFindings | None = None
    """Of a comparison of two gateways."""
    overhead: OverheadFindings | None = None
    """What an overhead run says besides."""
    gates: tuple[GateResult, ...] = ()
    """How the limits of the run came out, each at the load that decides; of two sides at each level."""
