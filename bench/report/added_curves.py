"""What one arm adds to the other's first token, drawn over the load and over the prompt's length."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log2

from bench.model.document import Document
from bench.model.paired import LevelResult
from bench.overhead.amounts import signed
from bench.report.charts import Tick, axis
from bench.report.curves import Curve, CurveChart, band, lines

_FEWEST_POINTS = 2
_MOST_CURVES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """What is added at one level, in milliseconds."""

    at: int
    added: float
    low: float
    high: float
    """Of the 95 % interval; where there is none, what is added."""


def added_charts(document: Document) -> tuple[CurveChart, ...]:
    """Return the curves over concurrency and over bytes, of those that were varied."""
    paired = document.summary.paired
    levels = paired.levels if paired else ()
    over_load = _chart(
        _grouped(levels, lambda level: level.prompt_bytes, lambda level: level.concurrency),
        what="load",
        unit=" at once",
        told=lambda size: "" if size is None else f", prompts of {size:,} bytes",
    )
    sized = [level for level in levels if level.prompt_bytes]
    over_bytes = _chart(
        _grouped(sized, lambda level: level.concurrency, lambda level: level.prompt_bytes or 1),
        what="length of the prompt",
        unit=" bytes",
        told=lambda count: f", {count} at once" if count and count > 1 else ", 1 at a time",
    )
    return tuple(chart for chart in (over_load, over_bytes) if chart is not None)


def _grouped(
    levels: Sequence[LevelResult],
    group: Callable[[LevelResult], int | None],
    place: Callable[[LevelResult], int],
) -> dict[int | None, list[_Point]]:
    """Return the points of each curve, by place; groups of fewer than two are left out."""
    found: dict[int | None, dict[int, _Point]] = {}
    for level in levels:
        for point in _points(level, place(level)):
            found.setdefault(group(level), {})[point.at] = point
    return {
        name: [points[at] for at in sorted(points)]
        for name, points in found.items()
        if len(points) >= _FEWEST_POINTS
    }


def _points(level: LevelResult, at: int) -> Iterator[_Point]:
    for one in level.warm:
        if one.metric == "ttft" and one.difference is not None:
            low, high = one.interval or (one.difference, one.difference)
            yield _Point(at=at, added=one.difference, low=low, high=high)


def _chart(
    groups: dict[int | None, list[_Point]],
    *,
    what: str,
    unit: str,
    told: Callable[[int | None], str],
) -> CurveChart | None:
    """Return the groups' curves on one scale; ``None``: there is none."""
    shown = list(groups.items())[:_MOST_CURVES]
    if not shown:
        return None
    every = list(chain.from_iterable(points for _, points in shown))
    places = sorted({point.at for point in every})
    top, _ = axis(max(0.0, *(point.high for point in every)))
    lowest = min(point.low for point in every)
    bottom = -axis(-lowest)[0] if lowest < 0 else 0.0

    def share(at: int) -> float:
        return log2(at / places[0]) / log2(places[-1] / places[0])

    return CurveChart(
        id=f"added-over-{what.split(maxsplit=1)[0]}",
        title=f"What is added, over the {what}",
        note="Median of the differences of pairs and its 95% interval; from left to right each "
        "step the same ratio.",
        curves=tuple(
            Curve(
                label=f"added to TTFT (ms){told(name)}",
                detail=", ".join(f"{signed(point.added)} ms at {point.at:,}" for point in points),
                lines=lines([(share(p.at), p.added) for p in points], top=top, bottom=bottom),
                band=band([(share(p.at), p.low, p.high) for p in points], top=top, bottom=bottom),
                ticks=_scale(bottom, top),
            )
            for name, points in shown
        ),
        ticks=tuple(Tick(x=100 * share(at), label=f"{at:,}") for at in places),
        unit=unit,
    )


def _scale(bottom: float, top: float) -> tuple[Tick, ...]:
    """Return the ends of the vertical axis, and where zero lies between them."""
    at = sorted({bottom, 0.0, top})
    span = top - bottom
    return tuple(Tick(x=100 * (value - bottom) / span, label=f"{value:,.6g}") for value in at)
