"""What each load stage amounts to. Formulas and sources: docs/metrics.md."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from bench.load.columns import ARRIVED, CACHED, COLD, INSIDE, PINNED, WARM, StageColumns
from bench.load.shapes import label_of, level_of
from bench.load.windows import occupied_share, peak_in_flight, steady_window
from bench.model.load import Stage
from bench.model.summary import (
    AdjustedSummary,
    NumericSummary,
    SeriesSummary,
    SloResult,
    StageSummary,
)
from bench.stage_book import StageEntry
from bench.stats import adjusted, rate, summarize_numbers
from bench.summary.client_rules import Seen, client_limits, spoiled_by, told

Connection = Literal["warm", "cold", "promptCached", "all"]
_MS_PER_S = 1_000.0
_BLOCKS: tuple[tuple[Connection, int, int], ...] = (
    ("warm", WARM, CACHED),
    ("cold", COLD, CACHED),
    ("promptCached", CACHED, 0),
    ("all", 0, 0),
)
"""Kind of connection, marks that a row must have, marks that it must not: as for all speed."""


def load_series(entries: Sequence[StageEntry]) -> tuple[SeriesSummary, ...]:
    """Return the stages by target and case, in the order in which they were run."""
    grouped: dict[tuple[str, str], list[StageEntry]] = {}
    for entry in entries:
        grouped.setdefault((entry.begun.target_id, entry.begun.case_id), []).append(entry)
    return tuple(
        _series(target_id, case_id, listed) for (target_id, case_id), listed in grouped.items()
    )


def frontier(points: Sequence[tuple[float | None, float | None]]) -> list[bool]:
    """Say of each (answers per second, latency) whether no other has more answers no later."""
    known = [(more, late) for more, late in points if more is not None and late is not None]
    return [
        more is not None
        and late is not None
        and not any(
            other >= more and other_late <= late and (other > more or other_late < late)
            for other, other_late in known
        )
        for more, late in points
    ]


def _series(target_id: str, case_id: str, entries: Sequence[StageEntry]) -> SeriesSummary:
    stages = [_stage(entry) for entry in entries]
    on_it = frontier(list(zip([s.answers_per_second for s in stages], _tails(stages), strict=True)))
    bad = min((s for s in stages if s.saturated), key=lambda s: s.level, default=None)
    good = [
        s.level
        for s in stages
        if s.attempted and not s.saturated and (bad is None or s.level < bad.level)
    ]
    return SeriesSummary(
        target_id=target_id,
        case_id=case_id,
        stages=tuple(
            msgspec.structs.replace(stage, on_frontier=is_on)
            for stage, is_on in zip(stages, on_it, strict=True)
        ),
        highest_good=max(good, default=None),
        lowest_saturated=None if bad is None else bad.level,
        saturation_reason=None if bad is None else bad.saturated,
    )


def _tails(stages: Sequence[StageSummary]) -> list[float | None]:
    """Return TTFT p99 of each stage; p90 of each where one has too few answers for a p99."""
    has_p99 = all(s.ttft_ms is None or s.ttft_ms.p99 is not None for s in stages)
    return [
        None if s.ttft_ms is None else s.ttft_ms.p99 if has_p99 else s.ttft_ms.p90 for s in stages
    ]


@dataclass(frozen=True, slots=True)
class _Timed:
    """The rows whose times count, and the columns they stand in."""

    columns: StageColumns
    connection: Connection | None
    rows: Sequence[int]

    def over(self, column: "array[float]") -> NumericSummary | None:
        """Summarize the measured figures of a column."""
        return summarize_numbers(column[row] for row in self.rows)  # NaN is left out there

    def since_due(self, column: "array[float] | None" = None) -> NumericSummary | None:
        """Summarize a figure counted from when the request was due."""
        started, due = self.columns.started_ms, self.columns.due_ms
        return summarize_numbers(
            started[row] - due[row] + (0.0 if column is None else column[row]) for row in self.rows
        )


def _timed(columns: StageColumns) -> _Timed:
    for name, wanted, unwanted in _BLOCKS:
        rows = array("q", columns.rows(PINNED | wanted, unwanted))
        if rows:
            return _Timed(columns, name, rows)
    return _Timed(columns, None, ())


def _stage(entry: StageEntry) -> StageSummary:
    columns, done, stage = entry.columns, entry.done, entry.stage
    timed = _timed(columns)
    rows = array("q", columns.rows())
    arrived = array("q", columns.rows(ARRIVED))
    attainment = rate(columns.count(INSIDE), len(rows)) if columns.slos and rows else None
    taken_s = _taken_s(columns, rows)
    ttft, itl = timed.over(columns.ttft_ms), columns.gaps.summary()
    summary = StageSummary(
        target_id=entry.begun.target_id,
        case_id=entry.begun.case_id,
        number=stage.number,
        label=label_of(stage) if stage != Stage(number=stage.number) else "not begun",
        stage=stage,
        level=_level(entry),
        reason=done.reason if done else None,
        detail=done.detail if done else "",
        attempted=len(rows),
        succeeded=len(arrived),
        set_aside=columns.set_aside,
        cancelled=columns.cancelled,
        warmups=columns.warmups,
        success=rate(len(arrived), len(rows)),
        errors_by_cause=dict(sorted(columns.errors.items())),
        scheduled=done.scheduled if done else None,
        dropped=done.dropped if done else 0,
        late=done.late if done else 0,
        asked_per_second=_asked(stage),
        sent_per_second=_sent_rate(columns, rows),
        requests_per_second=_per(len(rows), taken_s),
        answers_per_second=_per(len(arrived), taken_s),
        tokens_per_second=_per(_tokens(columns, arrived), taken_s),
        mean_in_flight=_per(_flown_s(columns, rows), taken_s),
        peak_in_flight=peak_in_flight(
            (columns.started_ms[row] for row in rows), map(columns.arrived_ms, rows)
        ),
        connection=timed.connection,
        ttft_ms=ttft,
        first_token_ms=timed.over(columns.first_token_ms),
        total_ms=timed.over(columns.total_ms),
        tpot_ms=timed.over(columns.tpot_ms),
        itl_ms=itl,
        stream_tokens_per_second=timed.over(columns.speed),
        due_ttft_ms=timed.since_due(columns.ttft_ms),
        due_total_ms=timed.since_due(columns.total_ms),
        queue_ms=timed.since_due(),
        send_lag_ms=timed.over(columns.sent_ms),
        adj_ttft_ms=_adjusted(columns.ttft_ms, arrived, len(rows)),
        adj_total_ms=_adjusted(columns.total_ms, arrived, len(rows)),
        slos=tuple(
            SloResult(slo=slo.text, kept=rate(kept, len(rows)))
            for slo, kept in zip(columns.slos, columns.kept, strict=True)
        ),
        attainment=attainment,
        goodput_per_second=None if attainment is None else _per(attainment.hits, taken_s),
        saturated=done.saturated if done else None,
        client=done.client if done else None,
    )
    return _with_limits(_with_window(summary, columns, rows, arrived), entry)


def _with_limits(summary: StageSummary, entry: StageEntry) -> StageSummary:
    """Return the stage with what this client may have made of it."""
    if entry.done is None:
        return summary
    limits = client_limits(entry.done, entry.stage, stage_seen(summary, entry.columns))
    return msgspec.structs.replace(
        summary,
        client_saturated=told(limits),
        client_spoils=spoiled_by(limits),
    )


def stage_seen(summary: StageSummary, columns: StageColumns) -> Seen:
    """Return what says how much of the client's own lag the figures of a stage can stand."""
    return Seen(
        ttft=summary.ttft_ms,
        first_token=summary.first_token_ms,
        total=summary.total_ms,
        itl=summary.itl_ms,
        send_lag=summary.send_lag_ms,
        occupied=_occupied(columns, summary.stage),
        slos=columns.slos,
    )


def _occupied(columns: StageColumns, stage: Stage) -> float | None:
    """Return the share of a closed loop's places in use, each until its answer's last byte came.

    From that stamp to the next request's sending a place waits for this process, whatever for.
    """
    if stage.kind != "closed" or stage.concurrency_from is not None:
        return None
    rows = list(columns.rows())
    started = [columns.started_ms[row] for row in rows]
    ended = [columns.arrived_ms(row) for row in rows]
    window = steady_window(stage, started, ended)
    return window and occupied_share(started, ended, window, places=stage.concurrency or 1)


def _with_window(
    summary: StageSummary, columns: StageColumns, rows: Sequence[int], arrived: Sequence[int]
) -> StageSummary:
    started = [columns.started_ms[row] for row in rows]
    window = steady_window(summary.stage, started, [columns.arrived_ms(row) for row in rows])
    if window is None:
        return summary
    begin, end = window
    inside = [row for row in arrived if begin < columns.arrived_ms(row) <= end]
    seconds = (end - begin) / _MS_PER_S
    return msgspec.structs.replace(
        summary,
        window_seconds=seconds,
        window_answers_per_second=_per(len(inside), seconds),
        window_tokens_per_second=_per(_tokens(columns, inside), seconds),
    )


def _adjusted(column: "array[float]", arrived: Sequence[int], sent: int) -> AdjustedSummary | None:
    values = [column[row] for row in arrived if not math.isnan(column[row])]
    return adjusted(values, sent - len(arrived)) if values or not arrived else None


def _taken_s(columns: StageColumns, rows: Sequence[int]) -> float:
    """Return seconds from the first send to the last byte: a rate's pauses count, our own work not."""
    if not rows:
        return 0.0
    begin = min(columns.started_ms[row] for row in rows)
    return (max(map(columns.arrived_ms, rows)) - begin) / _MS_PER_S


def _flown_s(columns: StageColumns, rows: Sequence[int]) -> float:
    return math.fsum(columns.arrived_ms(row) - columns.started_ms[row] for row in rows) / _MS_PER_S


def _tokens(columns: StageColumns, rows: Sequence[int]) -> float | None:
    """Return the completion tokens of all answers; ``None`` if one does not say how many."""
    counts = [columns.tokens[row] for row in rows]
    return None if any(map(math.isnan, counts)) else math.fsum(counts)


def _level(entry: StageEntry) -> float:
    """Return the load of a stage as one number; of a ramp the highest that it came to.

    A ramp that a rule ended early says nothing of what it would have come to later.
    """
    stage, done = entry.stage, entry.done
    begin = stage.concurrency_from if stage.kind == "closed" else stage.rate_from
    if begin is None:
        return level_of(stage)
    share = 1.0
    if done is not None and stage.duration_ms:
        share = (done.sending_ended_offset_ms - done.began_offset_ms) / stage.duration_ms
    reached = begin + (level_of(stage) - begin) * min(1.0, max(0.0, share))
    return max(float(begin), math.ceil(reached) if stage.kind == "closed" else reached)


def _asked(stage: Stage) -> float | None:
    if stage.kind == "closed":
        return None
    if stage.rate_from is not None and stage.rate_per_second is not None:
        return stage.turns * (stage.rate_from + stage.rate_per_second) / 2
    return stage.turns * level_of(stage)


def _sent_rate(columns: StageColumns, rows: Sequence[int]) -> float | None:
    started = [columns.started_ms[row] for row in rows]
    span_s = (max(started) - min(started)) / _MS_PER_S if started else 0.0
    return _per(len(started) - 1, span_s)


def _per(amount: float | None, seconds: float) -> float | None:
    return None if amount is None or seconds <= 0 else amount / seconds
