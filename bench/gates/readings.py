"""The figures that gates are held against: of a target's whole run, or of one load stage."""

import math
from collections.abc import Sequence
from functools import partial

from bench.gates.deciding import Reading
from bench.gates.gaps import clustered_interval, effective_answers
from bench.gates.throughput import FEWEST_ANSWERS, steady_rate
from bench.load.columns import ARRIVED, INSIDE, PINNED
from bench.load.gates import PERCENTILES, Gate
from bench.load.windows import steady_window
from bench.model.summary import (
    MetricSummary,
    NumericSummary,
    Rate,
    StageSummary,
    TargetSummary,
)
from bench.model.trial import Trial
from bench.stage_book import StageEntry
from bench.stats import finite, percentile
from bench.summary.performance import headline_block, headline_trials

_CONNECTIONS = {
    "warm": "warm connections",
    "cold": "cold connections",
    "promptCached": "prompts from the provider's cache",
}


def target_reading(gate: Gate, target: TargetSummary, trials: Sequence[Trial]) -> Reading:
    """Return what a gate is held against where there are no load stages.

    Args:
        gate: On the whole run.
        target: What its trials amount to.
        trials: Its counted ones of performance cases.
    """
    match gate.quantity:
        case "success" | "errors":
            reading = _share(gate, target.target_id, target.reliability.success)
        case "score":
            reading = _score(target)
        case "cost":
            reading = _cost(target)
        case "itl":
            reading = _gaps(gate, target, trials)
        case _:
            reading = _time(
                gate,
                target.target_id,
                _of_block(gate, headline_block(target.performance)),
                label=_CONNECTIONS.get(target.performance.headline or "", ""),
                failed=_failed(target),
            )
    return reading


def stage_reading(gate: Gate, stage: StageSummary, entry: StageEntry) -> Reading:
    """Return what a gate is held against at one load stage."""
    match gate.quantity:
        case "success" | "errors":
            return _share(gate, stage.target_id, stage.success, label=stage.label)
        case "slo":
            return _share(gate, stage.target_id, stage.attainment, label=stage.label)
        case "goodput" | "rate":
            return _throughput(gate, stage, entry)
        case "itl":
            return _stage_gaps(gate, stage, entry)
        case _:
            return _time(
                gate,
                stage.target_id,
                _of_stage(gate, stage),
                label=_place(stage),
                failed=stage.attempted - stage.succeeded,
            )


def _none(target_id: str, label: str = "", *, why: str = "") -> Reading:
    return Reading(
        target_id=target_id,
        label=label,
        value=None,
        interval=None,
        count=0,
        counted="requests",
        unshown=why,
    )


def _place(stage: StageSummary) -> str:
    kind = _CONNECTIONS.get(stage.connection or "")
    return f"{stage.label}, {kind}" if kind else stage.label


def _of_block(gate: Gate, block: MetricSummary) -> NumericSummary | None:
    figures = {
        "ttft": block.ttft_ms,
        "firstToken": block.first_token_ms,
        "total": block.total_ms,
        "tpot": block.tpot_ms,
        "speed": block.visible_tokens_per_second,
    }
    return figures.get(gate.quantity)


def _of_stage(gate: Gate, stage: StageSummary) -> NumericSummary | None:
    figures = {
        "ttft": stage.ttft_ms,
        "firstToken": stage.first_token_ms,
        "total": stage.total_ms,
        "tpot": stage.tpot_ms,
        "speed": stage.stream_tokens_per_second,
    }
    return figures.get(gate.quantity)


def _failed(target: TargetSummary) -> int:
    """Return the failed requests beside the answers whose times count."""
    all_sent = target.performance.adj_total_ms
    total = headline_block(target.performance).total_ms
    return 0 if all_sent is None else all_sent.count - (total.count if total else 0)


def _time(
    gate: Gate, target_id: str, summary: NumericSummary | None, *, label: str, failed: int
) -> Reading:
    """Return a percentile; failures have no time, and too many of them are the percentile."""
    if summary is None:
        return _none(target_id, label)
    name = gate.percentile
    return Reading(
        target_id=target_id,
        label=label,
        value=getattr(summary, name),
        interval=getattr(summary, f"{name}_interval"),
        count=summary.count,
        counted="answers",
        fewest=PERCENTILES[gate.fraction],
        unshown=_hidden(gate, summary.count, failed),
    )


def _hidden(gate: Gate, answers: int, failed: int) -> str:
    """Say that the percentile of all requests is a failed one; empty = it is an answer."""
    sent = answers + failed
    if gate.quantity == "speed" or not failed or failed / sent <= 1 - gate.fraction:
        return ""
    return (
        f"{failed:,} of {sent:,} requests failed: with them as slower than any answer, "
        f"{gate.percentile} is a failed one"
    )


def _share(gate: Gate, target_id: str, rate: Rate | None, *, label: str = "") -> Reading:
    if rate is None or rate.rate is None or rate.interval is None:
        return _none(target_id, label)
    value, interval = rate.rate, rate.interval
    if gate.quantity == "errors":
        value, interval = 1 - value, (1 - interval[1], 1 - interval[0])
    return Reading(
        target_id=target_id,
        label=label,
        value=value,
        interval=interval,
        count=rate.of,
        counted="requests",
        is_share=True,
    )


def _score(target: TargetSummary) -> Reading:
    quality = target.quality
    plural = "" if quality.cases == 1 else "s"
    return Reading(
        target_id=target.target_id,
        label=f"{quality.cases} case{plural}" if quality.cases else "",
        value=quality.score,
        interval=quality.score_interval,
        count=quality.attempted,
        counted="judged answers",
        is_share=quality.cases == 1,
    )


def _cost(target: TargetSummary) -> Reading:
    """Return what was spent: counted, not estimated, so its interval has no width."""
    money = target.efficiency
    total = money.total_spend_usd
    lower = money.known_spend_usd if total is None else total
    return Reading(
        target_id=target.target_id,
        value=lower,
        interval=(lower, lower),
        count=target.attempted + target.warmups,
        counted="requests",
        unshown=""
        if total is not None
        else f"the cost of {_requests(money.unknown_cost_requests)} is unknown: "
        "this is a lower bound",
    )


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count:,} requests"


def _gaps(gate: Gate, target: TargetSummary, trials: Sequence[Trial]) -> Reading:
    kind, shown = headline_trials(trials)
    listed = [trial.response.timing.itl_ms or () for trial in shown]
    pooled = finite(gap for gaps in listed for gap in gaps)
    label = _CONNECTIONS.get(kind or "", "")
    if not pooled:
        return _none(target.target_id, label)
    answers = effective_answers(map(len, listed))
    quantile = partial(percentile, pooled)
    return Reading(
        target_id=target.target_id,
        label=label,
        value=quantile(gate.fraction),
        interval=clustered_interval(quantile, answers, gate.fraction),
        count=answers,
        counted="answers",
        fewest=PERCENTILES[gate.fraction],
        unshown=_hidden(gate, len(shown), _failed(target)),
    )


def _stage_gaps(gate: Gate, stage: StageSummary, entry: StageEntry) -> Reading:
    columns = entry.columns
    rows = [row for row in columns.rows(PINNED) if not math.isnan(columns.gap_ms[row])]
    value = columns.gaps.percentile(gate.fraction)
    if value is None:
        return _none(stage.target_id, stage.label)
    tokens = [columns.tokens[row] for row in rows]
    answers = len(rows) if any(map(math.isnan, tokens)) else effective_answers(tokens)
    return Reading(
        target_id=stage.target_id,
        label=stage.label,
        value=value,
        interval=clustered_interval(columns.gaps.percentile, answers, gate.fraction),
        count=answers,
        counted="answers",
        fewest=PERCENTILES[gate.fraction],
        unshown=_hidden(gate, len(rows), stage.attempted - stage.succeeded),
    )


def _throughput(gate: Gate, stage: StageSummary, entry: StageEntry) -> Reading:
    columns = entry.columns
    rows = list(columns.rows())
    window = steady_window(
        stage.stage,
        [columns.started_ms[row] for row in rows],
        [columns.arrived_ms(row) for row in rows],
    )
    if window is None:
        why = "this load has no steady part" if rows else ""
        return _none(stage.target_id, stage.label, why=why)
    wanted = INSIDE if gate.quantity == "goodput" else ARRIVED
    ended = [columns.arrived_ms(row) for row in columns.rows(wanted)]
    rate, count, interval = steady_rate(ended, window)
    return Reading(
        target_id=stage.target_id,
        label=stage.label,
        value=rate,
        interval=interval,
        count=count,
        counted="answers",
        fewest=FEWEST_ANSWERS,
    )
