"""Geometry of the HTML report's charts: positions in per cent of the width, nothing drawn here."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench.model.document import Document, DocumentTrial
from bench.model.summary import NumericSummary
from bench.report.figures import ms
from bench.stats import finite, percentile, summarize_numbers
from bench.summary.selection import is_counted, is_pinned

MOST_ROWS = 24
"""Most targets in a chart; the tables have all of them."""
MOST_MARKS = 400
"""Most dots or chunks in one row; beyond it every n-th is drawn."""
_TICKS = 4
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One labelled position of the axis."""

    x: float
    """Per cent of the width."""
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One trial's value, or one chunk of a stream."""

    x: float
    y: float
    """Offset from the row's middle, -1..1, so that equal values stay countable."""
    kind: str
    """``dot``, ``content``, ``reasoning`` or ``tool``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One target."""

    label: str
    detail: str
    marks: tuple[Mark, ...]
    median: float | None = None
    """Per cent of the width."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the median, where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Rows over one axis in milliseconds that begins at 0."""

    title: str
    note: str
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]


def charts(document: Document) -> tuple[Chart, ...]:
    """Return the charts that have something to show."""
    kinds = {case.id: case.kind for case in document.cases}
    measured: dict[str, list[DocumentTrial]] = {target.id: [] for target in document.targets}
    for trial in document.trials:
        own = measured.get(trial.target_id)
        is_shown = kinds.get(trial.case_id) == "performance" and is_counted(trial)
        if own is not None and is_shown and is_pinned(trial):
            own.append(trial)
    shown = {target_id: own for target_id, own in list(measured.items())[:MOST_ROWS] if own}
    found = (
        _distribution(
            "Time to first token",
            "One dot is one performance trial; the line is the median, the band its 95% interval.",
            shown,
            lambda trial: trial.response.timing.first_content_ms,
        ),
        _distribution(
            "Total time",
            "From sending to the last byte.",
            shown,
            lambda trial: trial.response.timing.total_ms,
        ),
        _timeline(shown),
    )
    return tuple(chart for chart in found if chart is not None)


def axis(largest: float) -> tuple[float, tuple[Tick, ...]]:
    """Return the end of an axis that holds ``largest``, and its round ticks from 0."""
    if largest <= 0:
        return 1.0, (Tick(x=0.0, label="0"),)
    rough = largest / _TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    end = max(step * math.ceil(largest / step), largest)
    count = round(end / step)
    return end, tuple(
        Tick(x=100 * step * n / end, label=f"{step * n:,.6g}") for n in range(count + 1)
    )


def _distribution(
    title: str,
    note: str,
    trials: dict[str, list[DocumentTrial]],
    read: Callable[[DocumentTrial], float | None],
) -> Chart | None:
    values = {target_id: finite(map(read, own)) for target_id, own in trials.items()}
    values = {target_id: own for target_id, own in values.items() if own}
    if not values:
        return None
    end, ticks = axis(max(own[-1] for own in values.values()))
    rows = []
    for target_id, own in values.items():
        summary = summarize_numbers(own)
        if summary is not None:
            rows.append(_distribution_row(target_id, own, summary, end))
    return Chart(title=title, note=note, rows=tuple(rows), ticks=ticks)


def _distribution_row(
    label: str, values: Sequence[float], summary: NumericSummary, end: float
) -> Row:
    interval = summary.p50_interval
    return Row(
        label=label,
        detail=f"median {ms(summary.p50)} ms of {summary.count}, "
        f"{ms(summary.min)} to {ms(summary.max)} ms",
        marks=tuple(
            # A fixed zigzag keeps equal values apart without randomness.
            Mark(x=_x(value, end), y=((n * 7) % 9 - 4) / 4, kind="dot")
            for n, value in enumerate(_thinned(values))
        ),
        median=_x(summary.p50, end),
        low=_x(interval[0], end) if interval else None,
        high=_x(interval[1], end) if interval else None,
    )


def _timeline(trials: dict[str, list[DocumentTrial]]) -> Chart | None:
    """Draw the stream of each target's trial whose total time is nearest the median."""
    picked = {}
    for target_id, own in trials.items():
        trial = _typical([trial for trial in own if trial.response.stream_chunks])
        if trial is not None:
            picked[target_id] = trial
    if not picked:
        return None
    end, ticks = axis(max(_end(trial) for trial in picked.values()))
    rows = []
    for target_id, trial in picked.items():
        chunks = trial.response.stream_chunks
        reads = len({chunk.read for chunk in chunks})
        rows.append(
            Row(
                label=target_id,
                detail=f"run {trial.run}: {len(chunks):,} pieces in {reads:,} reads, "
                f"{ms(trial.response.timing.total_ms)} ms",
                marks=tuple(
                    Mark(x=_x(chunk.at_ms, end), y=0.0, kind=chunk.kind)
                    for chunk in _thinned(chunks)
                ),
            )
        )
    return Chart(
        title="How one answer arrived",
        note="Each stroke is a piece of the typical performance trial: a whole one is text, the lower "
        "half reasoning, the upper half a tool call. Even strokes: streaming. One block at the "
        "end: something on the way holds the answer back.",
        rows=tuple(rows),
        ticks=ticks,
    )


def _typical(trials: Sequence[DocumentTrial]) -> DocumentTrial | None:
    if not trials:
        return None
    middle = percentile(sorted(map(_end, trials)), 0.5)
    return min(trials, key=lambda trial: abs(_end(trial) - middle))


def _end(trial: DocumentTrial) -> float:
    return max([trial.response.timing.total_ms or 0.0, trial.response.stream_chunks[-1].at_ms])


def _x(value: float, end: float) -> float:
    return round(min(max(100 * value / end, 0.0), 100.0), 3)


def _thinned(values: Sequence[_T]) -> Sequence[_T]:
    return values[:: max(1, math.ceil(len(values) / MOST_MARKS))]
