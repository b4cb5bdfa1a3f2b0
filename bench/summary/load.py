"""The load curve of a target: what happens to answers when more requests are in flight at once."""

from collections.abc import Sequence

from bench.model.case import CaseInfo
from bench.model.load import SaturationReason
from bench.model.summary import LoadPoint, LoadSummary, NumericSummary
from bench.model.trial import Trial
from bench.stats import rate
from bench.summary.performance import headline_block, performance
from bench.summary.selection import arrived, requests_per_second

MOST_DEGRADATION = 2.0
"""From this ratio of total times on, a point is saturated."""
LEAST_SUCCESS = 0.95
"""Below this share of whole answers, a point is saturated."""
_FIRST_LEVEL = "concurrency_1"
"""The one load point that older documents don't tell from cases that just have no load."""


def load_curve(
    target_id: str, trials: Sequence[Trial], cases: Sequence[CaseInfo]
) -> LoadSummary | None:
    """Return the load curve over counted trials; ``None`` if no load point was measured."""
    points: list[LoadPoint] = []
    for case in sorted(filter(_is_load_point, cases), key=lambda case: case.concurrency):
        own = [t for t in trials if t.case_id == case.id and t.stage is None]
        if own:
            points.append(_point(case, own, points[0] if points else None))
    if not points:
        return None
    saturated = next((point for point in points if _saturation(point) is not None), None)
    return LoadSummary(
        target_id=target_id,
        points=tuple(points),
        saturation_concurrency=None if saturated is None else saturated.concurrency,
        saturation_reason=None if saturated is None else _saturation(saturated),
    )


def busy_seconds(trials: Sequence[Trial]) -> float:
    """Return for how many seconds at least one of ``trials`` was in flight."""
    busy_ms, until_ms = 0.0, float("-inf")
    for trial in sorted(trials, key=lambda trial: trial.started_offset_ms):
        if trial.finished_offset_ms > until_ms:
            busy_ms += trial.finished_offset_ms - max(trial.started_offset_ms, until_ms)
            until_ms = trial.finished_offset_ms
    return busy_ms / 1_000


def _is_load_point(case: CaseInfo) -> bool:
    is_load = case.is_load_point or case.concurrency > 1 or case.id == _FIRST_LEVEL
    # A document of unknown origin may claim any number.
    return case.kind == "performance" and is_load and case.concurrency >= 1


def _point(case: CaseInfo, trials: Sequence[Trial], base: LoadPoint | None) -> LoadPoint:
    """Return the point of one case.

    Args:
        case: Says how many requests were to be in flight.
        trials: Its counted trials, at least one.
        base: The point of the lowest concurrency; ``None`` where this is it.
    """
    whole = arrived(trials)
    timed = performance(trials)
    block = headline_block(timed)
    busy = busy_seconds(trials)
    in_flight = sum(trial.finished_offset_ms - trial.started_offset_ms for trial in trials) / 1_000
    # A cold connection's time holds what a warm one's does not: such two are not compared.
    rival = base if base is not None and base.connection == timed.headline else None
    success = rate(len(whole), len(trials))
    return LoadPoint(
        case_id=case.id,
        concurrency=case.concurrency,
        attempted=len(trials),
        succeeded=len(whole),
        success_rate=success.rate,
        success=success,
        achieved_requests_per_second=requests_per_second(trials),
        requests_per_second=_per(len(trials), busy),
        answers_per_second=_per(len(whole), busy),
        mean_in_flight=_per(in_flight, busy),
        connection=timed.headline,
        ttft_p50_ms=_p50(block.ttft_ms),
        total_p50_ms=_p50(block.total_ms),
        ttft_ms=block.ttft_ms,
        total_ms=block.total_ms,
        degradation=1.0
        if base is None and block.total_ms
        else _ratio(_p50(block.total_ms), None if rival is None else rival.total_p50_ms),
        ttft_degradation=1.0
        if base is None and block.ttft_ms
        else _ratio(_p50(block.ttft_ms), None if rival is None else rival.ttft_p50_ms),
    )


def _saturation(point: LoadPoint) -> SaturationReason | None:
    if point.success_rate is not None and point.success_rate < LEAST_SUCCESS:
        return "success"
    if point.degradation is not None and point.degradation >= MOST_DEGRADATION:
        return "degradation"
    return None


def _p50(summary: NumericSummary | None) -> float | None:
    return None if summary is None else summary.p50


def _per(amount: float, seconds: float) -> float | None:
    return amount / seconds if seconds > 0 else None


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base
