"""Numbers with what they stand on. ``Interval`` is always the 95 % confidence interval."""

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
