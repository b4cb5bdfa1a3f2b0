"""The sections on the service: how fast, how reliable, at what cost."""

from bench.model.document import Document
from bench.model.summary import (
    EfficiencySummary,
    MetricSummary,
    ReliabilitySummary,
    TargetSummary,
)
from bench.report.cells import HELD_BACK, is_held_back, median, p90
from bench.report.figures import ABSENT, counted, ms, percent, rate_detail, source_words, usd
from bench.report.tables import Cell, Section, Table

_RETRIES_NOTE = "Sent again: after HTTP 429; all other columns count the first attempt. "


def speed(document: Document) -> Section:
    """Return timings of performance trials, by kind of connection."""
    rows = []
    for target in document.summary.targets:
        performance = target.performance
        blocks: tuple[tuple[str, MetricSummary | None], ...] = (
            ("warm", performance.warm),
            ("cold", performance.cold),
            ("prompt cached", performance.prompt_cached),
        )
        present = [(name, block) for name, block in blocks if block is not None]
        if not present and performance.trials:
            present = [("unknown", performance)]
        for name, block in present:
            rows.append(_speed_row(target.target_id, name, block))
    return Section(
        id="speed",
        title="Speed",
        note="Valid performance trials only; a failed, cached or wrongly routed answer is in none "
        "of these. Warm: the connection was open before. ITL: gap between two token chunks. TPOT: "
        "time per token after the first. Held back: the answer came in one or two pieces, so "
        "something on the way buffers it. Client lag: this machine's own delay.",
        table=Table(
            columns=(
                "Target",
                "Connection",
                "Trials",
                "TTFT p50 (ms)",
                "TTFT p90 (ms)",
                "Total p50 (ms)",
                "Total p90 (ms)",
                "Tokens/s p50",
                "ITL p50 (ms)",
                "TPOT p50 (ms)",
                "Longest stall p50 (ms)",
                "Held back",
                "Client lag max (ms)",
            ),
            rows=tuple(rows),
            words=2,
        ),
    )


def _speed_row(target_id: str, connection: str, block: MetricSummary) -> tuple[Cell, ...]:
    lag = block.client_lag_ms
    # Pieces that came all at once have no pace: their zeros would read as speed.
    held = Cell(text=HELD_BACK) if is_held_back(block) else None
    return (
        Cell(text=target_id),
        Cell(text=connection),
        Cell(text=str(block.trials)),
        median(block.ttft_ms),
        p90(block.ttft_ms),
        median(block.total_ms),
        p90(block.total_ms),
        held or median(block.visible_tokens_per_second),
        held or median(block.itl_ms),
        held or median(block.tpot_ms),
        held or median(block.max_content_stall_ms),
        Cell(
            text=percent(block.held_back.rate if block.held_back else None),
            detail=rate_detail(block.held_back),
        ),
        Cell(text=ms(lag.max if lag else None)),
    )


def reliability(document: Document) -> Section:
    """Return how often requests came back whole."""
    rows = []
    has_retries = any(t.reliability.retried_requests for t in document.summary.targets)
    for target in document.summary.targets:
        reliability = target.reliability
        causes = reliability.errors_by_cause
        rates = (
            reliability.success,
            reliability.timeout,
            reliability.rate_limit,
            reliability.truncated_answers,
            reliability.malformed_stream,
        )
        rows.append(
            (
                Cell(text=target.target_id),
                *(Cell(text=percent(r.rate if r else None), detail=rate_detail(r)) for r in rates),
                *_sent_again(reliability, is_shown=has_retries),
                Cell(text=str(target.invalidated + target.cancelled)),
                Cell(text=", ".join(f"{code}: {n}" for code, n in causes.items()) or ABSENT),
            )
        )
    return Section(
        id="reliability",
        title="Reliability",
        note="All measured requests, whatever their task; 95% intervals by Wilson. Truncated: answers to "
        "quality and agentic tasks that ended at their token limit. "
        f"{_RETRIES_NOTE if has_retries else ''}Set aside: touched by an incident or cancelled, in no "
        "figure.",
        table=Table(
            columns=(
                "Target",
                "Success",
                "Timed out",
                "Rate-limited",
                "Truncated",
                "Malformed stream",
                *(("Sent again",) if has_retries else ()),
                "Set aside",
                "Errors by cause",
            ),
            rows=tuple(rows),
        ),
    )


def _sent_again(reliability: ReliabilitySummary, *, is_shown: bool) -> tuple[Cell, ...]:
    """Return the cell of a column that there is only where a target needed a second attempt."""
    if not is_shown:
        return ()
    after = reliability.success_after_retries
    detail = "" if after is None else f"in the end {percent(after.rate)} succeeded"
    return (Cell(text=str(reliability.retried_requests), detail=detail),)


def cost(document: Document) -> Section:
    """Return spend and tokens."""
    simulated = " The upstream was simulated: nobody bills this." if document.simulated else ""
    return Section(
        id="cost",
        title="Cost",
        note="Total: everything that was sent, with warm-ups, repeats and lost answers, and who says "
        "so: the gateway with the answer, else token counts at the prices of its list, of a "
        "catalogue, of a price library, or assumed. Reserved: for answers whose bill nobody saw. "
        "Measured: the known costs of measured trials. A cost that is unknown is left out, never "
        f"counted as 0.{simulated}",
        table=Table(
            columns=(
                "Target",
                "Total spend",
                "Measured trials",
                "As the gateway says",
                "Tokens at known prices",
                "Cost per right answer",
                "Prompt tokens",
                "Completion tokens",
                "Reasoning share",
                "Without usage",
            ),
            rows=tuple(_cost_row(target) for target in document.summary.targets),
        ),
    )


def _cost_row(target: TargetSummary) -> tuple[Cell, ...]:
    efficiency = target.efficiency
    return (
        Cell(text=target.target_id),
        _total_cell(efficiency),
        Cell(text=usd(efficiency.estimated_cost_usd)),
        Cell(text=usd(efficiency.gateway_cost_usd)),
        Cell(text=usd(efficiency.computed_cost_usd)),
        Cell(text=usd(efficiency.quality_cost_per_correct_usd)),
        Cell(text=_tokens(efficiency.prompt_tokens)),
        Cell(text=_tokens(efficiency.completion_tokens)),
        Cell(text=percent(efficiency.reasoning_token_ratio)),
        Cell(text=percent(efficiency.usage_missing_rate)),
    )


def _total_cell(efficiency: EfficiencySummary) -> Cell:
    """Return the whole spend, what of it is unknown, and who says the rest."""
    unknown = efficiency.unknown_cost_requests
    total = usd(efficiency.total_spend_usd)
    details = [f"{counted(unknown, 'request')} of unknown cost"] if unknown else []
    if unknown:
        total = f"at least {usd(efficiency.known_spend_usd)}"
    sources = efficiency.spend_by_source
    if len(sources) == 1 and not efficiency.reserved_usd:
        details += [source_words(source) for source in sources]
    else:
        details += [f"{usd(amount)} {source_words(source)}" for source, amount in sources.items()]
    return Cell(text=total, detail=", ".join(details))


def _tokens(count: int | None) -> str:
    return ABSENT if count is None else f"{count:,}"
