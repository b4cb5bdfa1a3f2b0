"""The load stages: what was asked for, what came of it, and how well the client did its work."""

from collections.abc import Callable, Iterator, Sequence
from math import log2

from bench.model.document import Document
from bench.model.summary import (
    AdjustedSummary,
    NumericSummary,
    SeriesSummary,
    StageSummary,
)
from bench.report.cells import median
from bench.report.charts import MOST_ROWS, Tick, axis
from bench.report.curves import Curve, CurveChart, bounds, lines
from bench.report.figures import ABSENT, counted, ms, ms_range, number, percent, rate_detail
from bench.report.saturation import WHY
from bench.report.tables import Cell, Section, Table

_FEWEST = 2
_ENDS = {
    "requests": "all requests",
    "duration": "its time",
    "trace": "the whole trace",
    "errors": "too many errors",
    "tokens": "its tokens",
    "saturated": "saturation",
    "skipped": "skipped",
    "budget": "time budget",
    "max_cost": "money limit",
    "stopped": "the end of the run",
    "worker_lost": "the loss of a load process",
}


def stages(document: Document) -> Section:
    """Return what each stage came to."""
    rows = [_row(series, stage) for series, stage in _all(document)]
    return Section(
        id="load-stages",
        title="Load stages",
        note="In flight: on average, and the most at one moment. Answers per second: whole ones, "
        "from the first send of the stage to its last end; beside it those of the steady part. "
        "Inside: requests that kept every objective, of all sent. Frontier: no other stage "
        "has more answers per second at a lower TTFT p99 (p90 where there are too few).",
        table=Table(
            columns=(
                "Target",
                "Load",
                "Success",
                "In flight",
                "Answers/s",
                "Tokens/s",
                "TTFT p50 (ms)",
                "TTFT p99 (ms)",
                "ITL p50 (ms)",
                "ITL p99 (ms)",
                "Total p50 (ms)",
                "Inside",
                "Goodput/s",
                "Frontier",
                "Ended by",
            ),
            rows=tuple(rows),
            words=2,
        ),
    )


def waiting(document: Document) -> Section:
    """Return what users waited: from when a request was due, with failures as worst."""
    rows = [
        (
            Cell(text=series.target_id),
            Cell(text=stage.label),
            Cell(text=number(stage.asked_per_second)),
            Cell(text=number(stage.sent_per_second)),
            Cell(text=str(stage.late), detail=f"of {stage.attempted}"),
            Cell(text=str(stage.dropped)),
            _latest(stage.queue_ms),
            _latest(stage.ttft_ms),
            _latest(stage.due_ttft_ms),
            _latest(stage.total_ms),
            _latest(stage.due_total_ms),
            _adjusted(stage.adj_ttft_ms),
            _adjusted(stage.adj_total_ms),
        )
        for series, stage in _all(document)
    ]
    return Section(
        id="load-waiting",
        title="What users of each stage waited",
        note="With a rate requests are due by the clock: the times from then on hold what a "
        "client's or a full gateway's queue adds, which times from sending leave out. Late: sent "
        "more than 10 ms after that. Dropped: due and never sent. Tail: p99, below 100 answers "
        "p90. The last two columns count each failed request as worse than any answer.",
        table=Table(
            columns=(
                "Target",
                "Load",
                "Asked for/s",
                "Sent/s",
                "Late",
                "Dropped",
                "Queue, tail (ms)",
                "TTFT from sending, tail (ms)",
                "TTFT from due, tail (ms)",
                "Total from sending, tail (ms)",
                "Total from due, tail (ms)",
                "TTFT p99, failures worst (ms)",
                "Total p99, failures worst (ms)",
            ),
            rows=tuple(rows),
            words=2,
        ),
        is_folded=not any(stage.late or stage.dropped for _, stage in _all(document)),
    )


def clients(document: Document) -> Section:
    """Return how well this client did its work."""
    return Section(
        id="load-client",
        title="This client under load",
        note="Receive lag: from a read's arrival at this machine, stamped by its kernel, to its "
        "turn in this process; figures are free of it as long as the loop keeps up. Loop lag: how "
        "late a 5 ms tick came. Busy: processor time of the loop, in the busiest second.",
        table=Table(
            columns=(
                "Target",
                "Load",
                "Stamps",
                "Receive lag p99 (ms)",
                "Loop lag p99 (ms)",
                "Send lag p99 (ms)",
                "Busy",
                "Longest GC (ms)",
                "Connections opened",
                "Machine load",
                "Its limits",
            ),
            rows=tuple(_client_row(series, s) for series, s in _all(document) if s.client),
            words=3,
        ),
        is_folded=True,
    )


def stage_lines(document: Document) -> Iterator[str]:
    """Yield one line for each stage, for a terminal."""
    for _, stage in _all(document):
        if stage.reason == "skipped":
            yield f"stage {stage.number}: skipped ({stage.detail})"
        else:
            yield f"{stage.label}: {'; '.join(_parts(stage))}"


def _parts(stage: StageSummary) -> Iterator[str]:
    """Yield what came of a stage, and how it ended if that was not as asked."""
    yield f"{counted(stage.attempted, 'request')}, {percent(stage.success.rate)} ok"
    if stage.succeeded:
        yield f"{number(stage.answers_per_second)} answers/s"
        yield from _times(stage)
    if stage.attainment is not None:
        yield f"{percent(stage.attainment.rate)} inside, {number(stage.goodput_per_second)}/s good"
    if stage.late or stage.dropped:
        waited = _latest(stage.due_ttft_ms)
        which = waited.detail.partition(" ")[0]
        since = f" (TTFT from due {which} {waited.text} ms)" if which else ""
        yield f"{stage.late} sent late{since}, {stage.dropped} due and never sent"
    if stage.reason not in {"requests", "duration", "trace"}:
        why = _ENDS.get(stage.reason or "", "nothing: it was cut")
        detail = _detail(stage)
        yield f"ended by {why}" + (f" ({detail})" if detail else "")
    elif stage.detail:
        yield stage.detail


def _times(stage: StageSummary) -> Iterator[str]:
    """Yield the times that it has: of answers that are no streams the whole ones."""
    named = {"TTFT": stage.ttft_ms} if stage.ttft_ms else {"whole answer": stage.total_ms}
    for name, summary in named.items():
        if summary is not None:
            tail = "" if summary.p99 is None else f", p99 {ms(summary.p99)}"
            yield f"{name} p50 {ms(summary.p50)}{tail} ms"
    if stage.itl_ms is not None:
        yield f"ITL p50 {ms(stage.itl_ms.p50)}, p99 {ms(stage.itl_ms.p99)} ms"


def stages_chart(document: Document) -> CurveChart | None:
    """Return TTFT and answers per second over the load, each on one scale for all targets."""
    series = [s for s in document.summary.load_series if len(s.stages) >= _FEWEST]
    levels = sorted({stage.level for one in series for stage in one.stages if stage.level > 0})
    kinds = {stage.stage.kind for one in series for stage in one.stages}
    if len(levels) < _FEWEST or len(kinds) != 1:
        return None
    shown = series[: MOST_ROWS // 3]
    drawn = [
        *_drawn(shown, levels, "TTFT p50 (ms)", lambda s: s.ttft_ms.p50 if s.ttft_ms else None),
        *_drawn(shown, levels, "TTFT p90 (ms)", lambda s: s.ttft_ms.p90 if s.ttft_ms else None),
        *_drawn(shown, levels, "answers/s", lambda s: s.answers_per_second),
    ]
    if not drawn:
        return None
    return CurveChart(
        id="stage-curve",
        title="Load stages",
        note="From left to right more load, each step the same ratio.",
        curves=tuple(drawn),
        ticks=tuple(Tick(x=100 * _place(level, levels), label=f"{level:.4g}") for level in levels),
        unit=" at once" if kinds == {"closed"} else " per second",
    )


def _all(document: Document) -> Iterator[tuple[SeriesSummary, StageSummary]]:
    return ((one, stage) for one in document.summary.load_series for stage in one.stages)


def _row(series: SeriesSummary, stage: StageSummary) -> tuple[Cell, ...]:
    steady = stage.window_answers_per_second
    inside = stage.attainment
    return (
        Cell(text=series.target_id),
        Cell(text=stage.label, detail=series.case_id),
        Cell(text=percent(stage.success.rate), detail=rate_detail(stage.success)),
        Cell(text=number(stage.mean_in_flight), detail=f"at most {stage.peak_in_flight}"),
        Cell(
            text=number(stage.answers_per_second),
            detail="" if steady is None else f"{number(steady)} steady",
        ),
        Cell(text=number(stage.tokens_per_second)),
        median(stage.ttft_ms),
        _tail(stage.ttft_ms),
        Cell(text=ms(stage.itl_ms.p50 if stage.itl_ms else None)),
        Cell(text=ms(stage.itl_ms.p99 if stage.itl_ms else None)),
        median(stage.total_ms),
        Cell(text=percent(inside.rate if inside else None), detail=rate_detail(inside)),
        Cell(text=number(stage.goodput_per_second)),
        Cell(text="yes" if stage.on_frontier else "no"),
        Cell(text=_ENDS.get(stage.reason or "", ABSENT), detail=_because(stage)),
    )


def _because(stage: StageSummary) -> str:
    saturated = f"saturated: {WHY[stage.saturated]}" if stage.saturated else ""
    return "; ".join(part for part in (_detail(stage), saturated) if part)


def _detail(stage: StageSummary) -> str:
    """Return what more there is to say of a stage's end, in words."""
    if stage.reason == "max_cost":
        return "near it fewer were in flight"  # each waits until its highest price fits
    return "" if stage.detail == stage.reason else stage.detail


def _client_row(series: SeriesSummary, stage: StageSummary) -> tuple[Cell, ...]:
    client, send = stage.client, stage.send_lag_ms
    if client is None:
        return ()
    load, processors = client.load_average, client.processors
    return (
        Cell(text=series.target_id),
        Cell(text=stage.label),
        Cell(text=client.stamps or ABSENT),
        Cell(text=ms(client.receive_lag_p99_ms), detail=f"{ms(client.receive_lag_max_ms)} at most"),
        Cell(text=ms(client.loop_lag_p99_ms), detail=f"{ms(client.loop_lag_max_ms)} at most"),
        Cell(text=ms(send.p99 if send else None)),
        Cell(text=percent(client.utilisation_max)),
        Cell(text=ms(client.gc_pause_max_ms)),
        Cell(text=str(client.connections_opened), detail=f"for {client.requests} requests"),
        Cell(text=number(load), detail=f"on {processors} processors" if processors else ""),
        Cell(text="; ".join(stage.client_saturated) or "none"),
    )


def _tail(summary: NumericSummary | None) -> Cell:
    if summary is None or summary.p99 is None:
        return Cell(text=ABSENT)
    return Cell(text=ms(summary.p99), detail=ms_range(summary.p99_interval))


def _latest(summary: NumericSummary | None) -> Cell:
    """Return the furthest percentile that so many answers show, and which one that is."""
    if summary is None:
        return Cell(text=ABSENT)
    if summary.p99 is None:
        return Cell(text=ms(summary.p90), detail=f"p90 {ms_range(summary.p90_interval)}".strip())
    return Cell(text=ms(summary.p99), detail=f"p99 {ms_range(summary.p99_interval)}".strip())


def _adjusted(summary: AdjustedSummary | None) -> Cell:
    if summary is None:
        return Cell(text=ABSENT)
    return Cell(text="failed" if summary.adj_p99_failed else ms(summary.adj_p99))


def _drawn(
    series: Sequence[SeriesSummary],
    levels: Sequence[float],
    quantity: str,
    read: Callable[[StageSummary], float | None],
) -> list[Curve]:
    known = [v for one in series for stage in one.stages if (v := read(stage)) is not None]
    if not known or max(known) <= 0:
        return []
    top, ticks = axis(max(known))
    return [
        Curve(
            label=f"{one.target_id}, {quantity}",
            detail=_span(one, read),
            lines=lines(
                [
                    (_place(stage.level, levels), read(stage))
                    for stage in sorted(one.stages, key=lambda stage: stage.level)
                ],
                top=top,
            ),
            ticks=bounds(ticks),
        )
        for one in series
    ]


def _span(series: SeriesSummary, read: Callable[[StageSummary], float | None]) -> str:
    ordered = sorted(series.stages, key=lambda stage: stage.level)
    first, last = ordered[0], ordered[-1]
    span = f"{ms(read(first))} at {first.level:.4g}, {ms(read(last))} at {last.level:.4g}"
    if series.lowest_saturated is None:
        return f"{span}; not saturated"
    return f"{span}; saturated from {series.lowest_saturated:.4g}"


def _place(level: float, levels: Sequence[float]) -> float:
    return log2(level / levels[0]) / log2(levels[-1] / levels[0]) if level > 0 else 0.0
