"""How much load a target takes: where it saturates, its best rates, and what latency they cost."""

from collections.abc import Iterator
from typing import Any

from bench.model.document import Document
from bench.model.summary import SeriesSummary, StageSummary
from bench.report.charts import MOST_ROWS, axis
from bench.report.curves import Curve, CurveChart, bounds, lines
from bench.report.figures import ABSENT, ms, number
from bench.report.tables import Cell, Section, Table

_FEWEST = 2
WHY = {
    "degradation": "twice as slow as the first stage, or ever slower",
    "success": "success below 95%",
    "slo": "fewer than 95% inside the objectives",
}


def saturation(document: Document) -> Section:
    """Return how much each target takes, one row for each series of several stages."""
    rows = [
        (
            Cell(text=one.target_id, detail=one.case_id),
            Cell(text=_point(one), detail=_unit(one)),
            Cell(text=_because(one) or ABSENT),
            _best(one, {s.number: s.answers_per_second for s in one.stages}),
            _best(one, {s.number: s.goodput_per_second for s in one.stages}),
            Cell(text=", ".join(s.label for s in one.stages if s.on_frontier) or ABSENT),
        )
        for one in _series(document)
        if len(one.stages) >= _FEWEST or one.lowest_saturated is not None
    ]
    return Section(
        id="saturation",
        title="How much it takes",
        note="The saturation point lies in this interval: above the highest load that was borne, "
        "at most the lowest one that was too much. Too much: success below 95%, or fewer than 95% "
        "inside the objectives, or answers twice as slow as in the first stage, or ever slower. "
        "Frontier: the loads to choose from, every other one has fewer answers per second at a "
        "later first token.",
        table=Table(
            columns=(
                "Target",
                "Saturates",
                "Because",
                "Most answers/s",
                "Most goodput/s",
                "Frontier",
            ),
            rows=tuple(rows),
            words=3,
        ),
    )


def saturation_sentences(document: Document) -> Iterator[str]:
    """Yield for each series of stages where it saturates.

    Not of a series without a single answer: a dead endpoint has no point at which it saturates.
    """
    for series in _series(document):
        if series.lowest_saturated is not None:
            why = f" ({_because(series)})"
        elif len(series.stages) >= _FEWEST and series.highest_good is not None:
            why = ""
        else:
            continue
        yield f"Saturates: {series.target_id} {_point(series)} {_unit(series)}{why}"


def _by_the_client(series: SeriesSummary) -> str:
    """Say that what saturated may have been this machine; empty = it was not."""
    found = [s for s in series.stages if s.level == series.lowest_saturated and s.saturated]
    limited = any({"total", "slo", "success"} & set(stage.client_spoils) for stage in found)
    return ", but there this machine may have been the limit" if limited else ""


def load_detail(document: Document) -> dict[str, Any]:
    """Return what ``--json`` says of load stages; empty for other runs."""
    series = list(_series(document))
    if not series:
        return {}
    return {
        "saturation": [
            {
                "target": one.target_id,
                "case": one.case_id,
                "above": one.highest_good,
                "atMost": one.lowest_saturated,
                "by": _unit(one),
                "why": _because(one) or None,
            }
            for one in series
        ],
        "stages": [_stage(one, stage) for one in series for stage in one.stages],
    }


def _stage(series: SeriesSummary, stage: StageSummary) -> dict[str, Any]:
    ttft = stage.ttft_ms
    return {
        "target": series.target_id,
        "load": stage.label,
        "requests": stage.attempted,
        "success": stage.success.rate,
        "answersPerSecond": stage.answers_per_second,
        "ttftP50Ms": ttft.p50 if ttft else None,
        "ttftP99Ms": ttft.p99 if ttft else None,
        "totalP50Ms": stage.total_ms.p50 if stage.total_ms else None,
        "attainment": stage.attainment.rate if stage.attainment else None,
        "goodputPerSecond": stage.goodput_per_second,
        "onFrontier": stage.on_frontier,
        "clientSpoils": stage.client_spoils,
    }


def frontier_chart(document: Document) -> CurveChart | None:
    """Return the latency at which each rate is to be had, one curve for each series."""
    found = [(one, points) for one in _series(document) if len(points := _frontier(one)) >= _FEWEST]
    shown = found[: MOST_ROWS // 3]
    if not shown:
        return None
    width, across = axis(max(rate for _, points in shown for rate, _, _ in points))
    top, upward = axis(max(late for _, points in shown for _, late, _ in points))
    return CurveChart(
        id="frontier-curve",
        title="Frontier",
        note="From left to right more answers per second, upwards the later first token that they "
        "cost. Loads that another one beats in both are left out.",
        curves=tuple(
            Curve(
                label=f"{one.target_id}, TTFT {_tail(one)} (ms)",
                detail="; ".join(f"{label}: {ms(late)}" for _, late, label in points),
                lines=lines([(rate / width, late) for rate, late, _ in points], top=top),
                ticks=bounds(upward),
            )
            for one, points in shown
        ),
        ticks=across,
        unit=" answers/s",
    )


def _series(document: Document) -> Iterator[SeriesSummary]:
    for one in document.summary.load_series:
        if any(stage.succeeded for stage in one.stages):
            yield one


def _point(series: SeriesSummary) -> str:
    """Return the interval in which the saturation point lies, in words."""
    good, bad = series.highest_good, series.lowest_saturated
    if bad is None:
        return ABSENT if good is None else f"not up to {good:.4g}"
    return f"at or below {bad:.4g}" if good is None else f"above {good:.4g} and at most {bad:.4g}"


def _unit(series: SeriesSummary) -> str:
    return "at once" if series.stages[0].stage.kind == "closed" else "requests per second"


def _because(series: SeriesSummary) -> str:
    return WHY.get(series.saturation_reason or "", "") + _by_the_client(series)


def _best(series: SeriesSummary, rates: dict[int, float | None]) -> Cell:
    """Return the highest of the rates by stage, and the load that it was seen at."""
    known = [(rate, stage) for stage in series.stages if (rate := rates[stage.number]) is not None]
    if not known:
        return Cell(text=ABSENT)
    rate, stage = max(known, key=lambda one: one[0])
    return Cell(text=number(rate), detail=f"at {stage.label}")


def _frontier(series: SeriesSummary) -> list[tuple[float, float, str]]:
    """Return rate, latency and label of each stage on the frontier, by rate."""
    points = []
    for stage in series.stages:
        late = _late(stage, _tail(series))
        if stage.on_frontier and stage.answers_per_second is not None and late is not None:
            points.append((stage.answers_per_second, late, stage.label))
    return sorted(points)


def _tail(series: SeriesSummary) -> str:
    """Return which percentile the frontier stands on: p99, or p90 where a stage has too few."""
    timed = [stage.ttft_ms for stage in series.stages if stage.ttft_ms is not None]
    return "p99" if all(times.p99 is not None for times in timed) else "p90"


def _late(stage: StageSummary, tail: str) -> float | None:
    times = stage.ttft_ms
    return None if times is None else times.p99 if tail == "p99" else times.p90
