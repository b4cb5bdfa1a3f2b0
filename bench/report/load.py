"""The load curve: a table, and its drawing."""

from collections.abc import Callable, Iterator, Sequence
from math import log2

from bench.model.document import Document
from bench.model.summary import LoadPoint, LoadSummary
from bench.report.cells import median
from bench.report.charts import MOST_ROWS, Tick, axis
from bench.report.curves import Curve, CurveChart, bounds, lines
from bench.report.figures import ABSENT, ms, number, percent, rate_detail
from bench.report.tables import Cell, Section, Table

_FEWEST = 2
"""Fewer points make no curve."""
_REASONS = {"degradation": "at least twice as slow", "success": "success below 95%"}


def load(document: Document) -> Section:
    """Return each target's figures by concurrency."""
    rows = [_row(curve, point) for curve in document.summary.load for point in curve.points]
    return Section(
        id="load",
        title="Under load",
        note="At once: requests meant to be in flight, and beside it how many were. Answers "
        "per second: whole ones, over the time in which any was in flight. Slower by: total p50 "
        "against that of the lowest concurrency. Saturates: the first concurrency that is at least "
        "twice as slow, or at which fewer than 95% of the requests come back whole.",
        table=Table(
            columns=(
                "Target",
                "At once",
                "Success",
                "Answers/s",
                "TTFT p50 (ms)",
                "Total p50 (ms)",
                "Slower by",
                "Connection",
                "Saturates",
            ),
            rows=tuple(rows),
        ),
    )


def _row(curve: LoadSummary, point: LoadPoint) -> tuple[Cell, ...]:
    is_saturation = point.concurrency == curve.saturation_concurrency
    reason = _REASONS[curve.saturation_reason] if curve.saturation_reason else ""
    return (
        Cell(text=curve.target_id),
        Cell(text=str(point.concurrency), detail=f"{number(point.mean_in_flight)} in flight"),
        Cell(text=percent(point.success_rate), detail=rate_detail(point.success)),
        Cell(text=number(point.answers_per_second)),
        median(point.ttft_ms),
        median(point.total_ms),
        Cell(text=_times(point.degradation)),
        Cell(text=point.connection or ABSENT),
        Cell(text="yes", detail=reason) if is_saturation else Cell(text="no"),
    )


def load_sentences(document: Document) -> Iterator[str]:
    """Yield for a terminal what each target's load cases come to, from the least load to the most."""
    for curve in document.summary.load:
        answered = [point for point in curve.points if point.total_p50_ms is not None]
        if len(answered) >= _FEWEST:
            first, last = answered[0], answered[-1]
            yield (
                f"Under load: {curve.target_id}, {number(first.answers_per_second)} answers/s at "
                f"{first.concurrency} at once and {number(last.answers_per_second)} at "
                f"{last.concurrency}; whole answer p50 {ms(first.total_p50_ms)} and "
                f"{ms(last.total_p50_ms)} ms; {_saturation(curve)}"
            )


def _saturation(curve: LoadSummary) -> str:
    at = curve.saturation_concurrency
    if at is None:
        return "not saturated"
    why = _REASONS[curve.saturation_reason] if curve.saturation_reason else ""
    return f"saturated at {at} at once" + (f" ({why})" if why else "")


def load_chart(document: Document) -> CurveChart | None:
    """Return total time and answers per second over concurrency, each on one scale for all targets."""
    curves = [curve for curve in document.summary.load if len(curve.points) >= _FEWEST]
    levels = sorted({point.concurrency for curve in curves for point in curve.points})
    if len(levels) < _FEWEST:
        return None
    shown = curves[: MOST_ROWS // 2]
    drawn = [
        *_drawn(shown, levels, "total p50 (ms)", lambda point: point.total_p50_ms),
        *_drawn(shown, levels, "answers/s", lambda point: point.answers_per_second),
    ]
    if not drawn:
        return None
    return CurveChart(
        id="load-curve",
        title="Under load",
        note="From left to right more requests at once, each step the same ratio.",
        curves=tuple(drawn),
        ticks=tuple(Tick(x=100 * _place(level, levels), label=str(level)) for level in levels),
        unit=" at once",
    )


def _drawn(
    curves: Sequence[LoadSummary],
    levels: Sequence[int],
    quantity: str,
    read: Callable[[LoadPoint], float | None],
) -> list[Curve]:
    known = [value for curve in curves for p in curve.points if (value := read(p)) is not None]
    if not known:
        return []
    top, ticks = axis(max(known))
    return [
        Curve(
            label=f"{curve.target_id}, {quantity}",
            detail=_detail(curve, read),
            lines=lines([(_place(p.concurrency, levels), read(p)) for p in curve.points], top=top),
            ticks=bounds(ticks),
        )
        for curve in curves
    ]


def _detail(curve: LoadSummary, read: Callable[[LoadPoint], float | None]) -> str:
    first, last = curve.points[0], curve.points[-1]
    span = (
        f"{ms(read(first))} at {first.concurrency} at once, {ms(read(last))} at {last.concurrency}"
    )
    if curve.saturation_concurrency is None:
        return f"{span}; not saturated"
    return f"{span}; saturated at {curve.saturation_concurrency}"


def _place(level: int, levels: Sequence[int]) -> float:
    """Return where a concurrency stands between the lowest and the highest, 0..1."""
    return log2(level / levels[0]) / log2(levels[-1] / levels[0])


def _times(ratio: float | None) -> str:
    return ABSENT if ratio is None else f"{ratio:.2f}x"
