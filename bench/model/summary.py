"""What a run amounts to: the figures of a result document, none of their arithmetic.

Field names of version-2 documents are kept with their meaning; where such a definition misleads, an
honest field stands beside it. Formula and source of each figure: docs/metrics.md, by the name here.
``Interval`` is always the 95 % confidence interval.
"""

from typing import Any, Literal

from bench.model.ab import AbFindings
from bench.model.gates import GateResult
from bench.model.load import ClientReading, SaturationReason, Stage, StageEnd
from bench.model.overhead import OverheadFindings
from bench.model.paired import PairedSummary
from bench.model.record import Record

Interval = tuple[float, float]


class NumericSummary(Record, frozen=True, kw_only=True):
    """One quantity over several trials, in the unit of the field that holds it."""

    count: int
    min: float
    mean: float
    p50: float
    p90: float
    p95: float | None
    """``None`` below 20 values."""
    p99: float | None
    """``None`` below 100 values."""
    max: float
    standard_deviation: float | None
    """Of the sample (n - 1); ``None`` for one value."""
    median_absolute_deviation: float
    coefficient_of_variation: float | None
    """Standard deviation by mean; ``None`` for one value or a mean of 0."""
    p50_interval: Interval | None = None
    """By order statistics; ``None`` below 6 values."""
    p90_interval: Interval | None = None
    """``None`` below 36 values."""
    p95_interval: Interval | None = None
    """``None`` below 72 values."""
    p99_interval: Interval | None = None
    """``None`` below 368 values."""


class Rate(Record, frozen=True, kw_only=True):
    """How many of how many, with its uncertainty."""

    hits: int
    of: int
    rate: float | None
    """0..1; ``None`` of none."""
    interval: Interval | None
    """By Wilson; ``None`` of none."""


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


class AdjustedSummary(Record, frozen=True, kw_only=True):
    """Percentiles over all requests sent, each failed one worse than any answer (nearest rank).

    One that falls on a failure is ``None`` and marked.
    """

    count: int
    adj_p50: float | None
    adj_p50_failed: bool
    adj_p90: float | None
    adj_p90_failed: bool
    adj_p95: float | None
    adj_p95_failed: bool
    adj_p99: float | None
    adj_p99_failed: bool


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


class QualitySummary(Record, frozen=True, kw_only=True):
    """Over trials of quality cases that have a verdict."""

    attempted: int
    passed: int
    score: float | None
    instruction_score: float | None
    first_pass_score: float | None
    unique_answers: int
    answer_entropy: float | None
    """Bits, over all answers of all cases together (version 2)."""
    consistency_rate: float | None
    """Version 2: by case, though seeds and hence right answers differ between runs."""
    mean_confidence: float | None
    brier_score: float | None
    score_interval: Interval | None = None
    """Bootstrap over cases; over the trials of one case by Wilson."""
    cases: int = 0
    """Cases with a verdict: what ``score_interval`` stands on."""
    same_instance_consistency: float | None = None
    """Like ``consistency_rate``, but only among answers to the very same prompt."""
    same_instance_entropy: float | None = None
    """Bits; mean over the same prompts."""
    failed: int = 0
    """Quality trials without a verdict because the request failed: not in ``score``."""
    score_of_asked: float | None = None
    """The score with each of them as a wrong answer: what whoever asked got."""
    score_of_asked_interval: Interval | None = None
    case_mean_score: float | None = None
    """Mean of the cases' scores: a case that is run more often weighs no more."""
    case_mean_score_interval: Interval | None = None
    cut_short: int = 0
    """Wrong answers that ended at their token limit: the limit may have been what was measured."""
    first_pass_interval: Interval | None = None
    instruction_score_interval: Interval | None = None
    consistency_interval: Interval | None = None
    """Of ``same_instance_consistency``."""
    confident: int = 0
    """Judged answers with a confidence: what ``mean_confidence`` and ``brier_score`` stand on."""
    overconfidence: float | None = None
    """``mean_confidence`` minus the score of the same answers, -1..1."""
    brier_interval: Interval | None = None


class AgreementSummary(Record, frozen=True, kw_only=True):
    """How often two targets gave the same answer to the same task."""

    compared: int
    matching: int
    rate: float | None
    confidence95: Interval | None
    """By Wilson."""


class FingerprintSummary(Record, frozen=True, kw_only=True):
    """How much a target behaves like the reference."""

    agreement: float | None
    reference_error_agreement: float | None
    """Where the reference is wrong: how often with the very same answer."""
    rarity_weighted_error_agreement: float | None
    """The same, a mistake weighing the more the fewer of the other targets make it."""
    category_similarity: float | None
    """1 minus the mean difference of the scores by category."""
    reasoning_ratio_delta: float | None
    """Share of reasoning tokens, the target's minus the reference's."""
    behavioural_similarity: float | None
    """Mean of those that are known. High for any two good models."""
    compared: int = 0
    """Tasks that both answered."""
    reference_errors: Rate | None = None
    """``reference_error_agreement`` with what it stands on."""
    shared_errors: Rate | None = None
    """Of the tasks on which both are wrong: how often alike. What tells models apart."""


class RobustnessSummary(Record, frozen=True, kw_only=True):
    """A task and the same task in other words, each pair one instance in one run."""

    pairs: int
    drop: float | None
    """Share of pairs in which only the plain wording is right minus that in which only the other
    is, -1..1."""
    drop_interval: Interval | None
    changed: Rate
    """Pairs in which exactly one of the two is right: losses and gains do not cancel out."""


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


class SliceSummary(Record, frozen=True, kw_only=True):
    """One category, difficulty or dimension on one target."""

    target_id: str
    key: str
    attempted: int
    passed: int
    score: float | None
    interval: Interval | None = None


class PairwiseAgreement(Record, frozen=True, kw_only=True):
    """Agreement of two targets."""

    left_target_id: str
    right_target_id: str
    agreement: AgreementSummary


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


class SketchSummary(Record, frozen=True, kw_only=True):
    """One quantity that came too often to be kept: percentiles are within 0.5 % of a true value."""

    count: int
    min: float
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


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
    """Why this machine may have been the limit; empty = it was not."""


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
