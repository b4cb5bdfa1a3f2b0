"""Cells that several sections share: a figure and what it stands on."""

from bench.model.summary import MetricSummary, NumericSummary, QualitySummary, TargetSummary
from bench.report.figures import (
    ABSENT,
    counted,
    ms,
    ms_range,
    percent,
    percent_range,
    rate_detail,
    sample_detail,
)
from bench.report.tables import Cell

HELD_BACK = "held back"


def is_held_back(block: MetricSummary) -> bool:
    """Return whether most answers came in one piece: their tokens per second mean nothing."""
    verdicts = block.held_back
    return verdicts is not None and 2 * verdicts.hits > verdicts.of


def success_cell(target: TargetSummary) -> Cell:
    """Return the success rate with what it stands on."""
    success = target.reliability.success
    return Cell(text=percent(success.rate if success else None), detail=rate_detail(success))


def score_cell(target: TargetSummary) -> Cell:
    """Return the score with its trials, cases and interval."""
    quality = target.quality
    if quality.attempted == 0:
        return Cell(text=ABSENT)
    return Cell(
        text=percent(quality.score),
        detail=f"{quality.passed} of {quality.attempted} in {counted(quality.cases, 'case')}, "
        f"{percent_range(quality.score_interval)}{_with_failed(quality)}",
    )


def _with_failed(quality: QualitySummary) -> str:
    if not quality.failed:
        return ""
    return f"; {percent(quality.score_of_asked)} with {quality.failed} failed"


def p50(summary: NumericSummary | None) -> Cell:
    """Return the median with the number of trials it stands on."""
    return Cell(text=ms(summary.p50 if summary else None), detail=sample_detail(summary))


def median(summary: NumericSummary | None) -> Cell:
    """Return the median where the row says how many trials it stands on."""
    if summary is None:
        return Cell(text=ABSENT)
    return Cell(text=ms(summary.p50), detail=ms_range(summary.p50_interval))


def p90(summary: NumericSummary | None) -> Cell:
    """Return the 90th percentile with its interval."""
    if summary is None:
        return Cell(text=ABSENT)
    return Cell(text=ms(summary.p90), detail=ms_range(summary.p90_interval))
