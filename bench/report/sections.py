"""Document → the sections that every long report shows, each figure with what it stands on."""

from collections.abc import Sequence

from bench.model.document import Document
from bench.model.summary import MetricSummary, NumericSummary, SliceSummary, TargetSummary
from bench.report.figures import (
    ABSENT,
    counted,
    ms,
    ms_range,
    number,
    percent,
    percent_range,
    rate_detail,
    sample_detail,
    usd,
)
from bench.report.making import making_sections
from bench.report.tables import Cell, Section, Table, text
from bench.summary.performance import headline_block

_CONNECTIONS = {
    "warm": "warm connections",
    "cold": "cold connections",
    "promptCached": "prompt cached by the provider",
    "all": "connections unknown",
    None: "",
}


def sections(document: Document) -> tuple[Section, ...]:
    """Return every section that has something to show."""
    found = (
        _overview(document),
        _speed(document),
        _quality(document),
        _slices("dimensions", "Scores by dimension", document.summary.dimensions),
        _slices("difficulties", "Scores by difficulty", document.summary.difficulties),
        _slices("categories", "Scores by category", document.summary.categories),
        _agreement(document),
        _reliability(document),
        _cost(document),
        _agents(document),
        _cases(document),
        *making_sections(document),
    )
    return tuple(section for section in found if section.table.rows)


def _overview(document: Document) -> Section:
    done = {part.target_id: part for part in document.completeness.targets}
    rows = []
    for target in document.summary.targets:
        block = headline_block(target.performance)
        part = done.get(target.target_id)
        planned = "" if part is None or part.planned is None else f"of {part.planned} planned"
        rows.append(
            (
                Cell(text=target.target_id),
                Cell(text=str(target.attempted), detail=planned),
                _success_cell(target),
                _score_cell(target),
                _p50(block.ttft_ms),
                _p50(block.total_ms),
                _p50(block.visible_tokens_per_second),
                Cell(text=usd(target.efficiency.quality_cost_per_correct_usd)),
            )
        )
    return Section(
        id="overview",
        title="Targets",
        note="Success: requests that came back whole. Score: right answers among judged ones. "
        "TTFT: from sending to the first visible text. p50: half of the trials were faster. Beside a "
        "figure: the number of trials it stands on, and its 95% interval where there are enough.",
        table=Table(
            columns=(
                "Target",
                "Measured",
                "Success",
                "Score",
                "TTFT p50 (ms)",
                "Total p50 (ms)",
                "Tokens/s p50",
                "Cost per right answer",
            ),
            rows=tuple(rows),
        ),
    )


def _speed(document: Document) -> Section:
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
                "Headers p50 (ms)",
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
    return (
        Cell(text=target_id),
        Cell(text=connection),
        _p50(block.headers_ms),
        _p50(block.ttft_ms),
        _p90(block.ttft_ms),
        _p50(block.total_ms),
        _p90(block.total_ms),
        _p50(block.visible_tokens_per_second),
        _p50(block.itl_ms),
        _p50(block.tpot_ms),
        _p50(block.max_content_stall_ms),
        Cell(
            text=percent(block.held_back.rate if block.held_back else None),
            detail=rate_detail(block.held_back),
        ),
        Cell(text=ms(lag.max if lag else None)),
    )


def _quality(document: Document) -> Section:
    rows = []
    for target in document.summary.targets:
        quality = target.quality
        if quality.attempted == 0:
            continue
        rows.append(
            (
                Cell(text=target.target_id),
                _score_cell(target),
                Cell(text=percent(quality.first_pass_score)),
                Cell(text=percent(quality.instruction_score)),
                Cell(text=percent(quality.same_instance_consistency)),
                Cell(text=percent(quality.consistency_rate)),
                Cell(text=_points(target.robustness_drop)),
                Cell(text=number(quality.brier_score)),
            )
        )
    return Section(
        id="quality",
        title="Answers",
        note="First try: the first run of each case. Same prompt, same answer: only repeats of the "
        "very same prompt are compared. By case: the older measure, which also compares "
        "repeats whose right answers differ. Drop in other words: score of the plain wording minus "
        "score of its variants. Brier: error of stated confidence, 0 is best.",
        table=Table(
            columns=(
                "Target",
                "Score",
                "First try",
                "Instructions followed",
                "Same prompt, same answer",
                "Same answer by case",
                "Drop in other words",
                "Brier score",
            ),
            rows=tuple(rows),
        ),
    )


def _slices(section_id: str, title: str, slices: Sequence[SliceSummary]) -> Section:
    return Section(
        id=section_id,
        title=title,
        note="Right answers among judged trials of every kind; 95% interval over the cases.",
        table=Table(
            columns=("Target", title.removeprefix("Scores by ").capitalize(), "Score"),
            rows=tuple(
                (
                    Cell(text=entry.target_id),
                    Cell(text=entry.key),
                    Cell(
                        text=percent(entry.score),
                        detail=f"{entry.passed} of {entry.attempted}, "
                        f"{percent_range(entry.interval)}",
                    ),
                )
                for entry in slices
                if entry.attempted
            ),
            words=2,
        ),
        is_folded=True,
    )


def _agreement(document: Document) -> Section:
    rows = [
        (
            Cell(text=pair.left_target_id),
            Cell(text=pair.right_target_id),
            Cell(
                text=percent(pair.agreement.rate),
                detail=f"{pair.agreement.matching} of {pair.agreement.compared}, "
                f"{percent_range(pair.agreement.confidence95)}",
            ),
        )
        for pair in document.summary.pairwise_agreement
        if pair.agreement.compared
    ]
    reference = document.config.reference_target_id
    told = f" The reference of this run is {reference}." if reference else ""
    return Section(
        id="agreement",
        title="Agreement",
        note=f"How often two targets gave the same answer to the same task, right or wrong.{told}",
        table=Table(columns=("Target", "Other target", "Same answer"), rows=tuple(rows), words=2),
        is_folded=True,
    )


def _reliability(document: Document) -> Section:
    rows = []
    for target in document.summary.targets:
        reliability = target.reliability
        causes = reliability.errors_by_cause
        rates = (
            reliability.success,
            reliability.timeout,
            reliability.rate_limit,
            reliability.truncated,
            reliability.malformed_stream,
        )
        rows.append(
            (
                Cell(text=target.target_id),
                *(Cell(text=percent(r.rate if r else None), detail=rate_detail(r)) for r in rates),
                Cell(text=str(target.invalidated + target.cancelled)),
                Cell(text=", ".join(f"{code}: {n}" for code, n in causes.items()) or ABSENT),
            )
        )
    return Section(
        id="reliability",
        title="Reliability",
        note="All measured requests, whatever their task; 95% intervals by Wilson. Truncated: the "
        "answer ended at its token limit. Set aside: touched by an incident or cancelled, in no "
        "figure.",
        table=Table(
            columns=(
                "Target",
                "Success",
                "Timed out",
                "Rate-limited",
                "Truncated",
                "Malformed stream",
                "Set aside",
                "Errors by cause",
            ),
            rows=tuple(rows),
        ),
    )


def _cost(document: Document) -> Section:
    rows = []
    for target in document.summary.targets:
        efficiency = target.efficiency
        unknown = efficiency.unknown_cost_requests
        total = usd(efficiency.total_spend_usd)
        detail = ""
        if unknown:
            total = f"at least {usd(efficiency.known_spend_usd)}"
            detail = f"{counted(unknown, 'request')} of unknown cost"
        elif efficiency.reserved_usd:
            detail = f"{usd(efficiency.reserved_usd)} of it reserved"
        rows.append(
            (
                Cell(text=target.target_id),
                Cell(text=total, detail=detail),
                Cell(text=usd(efficiency.estimated_cost_usd)),
                Cell(text=usd(efficiency.gateway_cost_usd)),
                Cell(text=usd(efficiency.quality_cost_per_correct_usd)),
                Cell(text=_tokens(efficiency.prompt_tokens)),
                Cell(text=_tokens(efficiency.completion_tokens)),
                Cell(text=percent(efficiency.reasoning_token_ratio)),
                Cell(text=percent(efficiency.usage_missing_rate)),
            )
        )
    return Section(
        id="cost",
        title="Cost",
        note="Total: everything that was sent, with warm-ups, repeats and lost answers. Reserved: for "
        "answers whose bill nobody saw. Measured: the known costs of measured trials. A cost that is unknown is left out, never "
        "counted as 0."
        + (" The upstream was simulated: nobody bills this." if document.simulated else ""),
        table=Table(
            columns=(
                "Target",
                "Total spend",
                "Measured trials",
                "As the gateway says",
                "Cost per right answer",
                "Prompt tokens",
                "Completion tokens",
                "Reasoning share",
                "Without usage",
            ),
            rows=tuple(rows),
        ),
    )


def _agents(document: Document) -> Section:
    rows = []
    for target in document.summary.targets:
        agent = target.agent
        if agent is not None:
            known = {name: value for name, value in agent.items() if not isinstance(value, dict)}
            rate = known.get("solveRate")
            rows.append(
                text(
                    target.target_id,
                    f"{known.get('solved', ABSENT)} of {known.get('attempted', ABSENT)}",
                    percent(rate if isinstance(rate, int | float) else None),
                )
            )
    return Section(
        id="agents",
        title="Agentic coding",
        note="Tasks solved end to end, as the document says.",
        table=Table(columns=("Target", "Solved", "Solve rate"), rows=tuple(rows)),
    )


def _cases(document: Document) -> Section:
    rows = []
    for case in document.summary.cases:
        planned = "" if case.planned is None else f"of {case.planned} planned"
        rows.append(
            (
                Cell(text=case.case_id),
                Cell(text=case.target_id),
                Cell(text=str(case.attempted), detail=planned),
                Cell(text=percent(case.success.rate if case.success else None)),
                Cell(
                    text=percent(case.evaluation.rate if case.evaluation else None),
                    detail=rate_detail(case.evaluation),
                ),
                _p50(case.timings.ttft_ms),
                _p50(case.timings.total_ms),
                Cell(text=str(case.truncated)),
                Cell(text=usd(case.cost_usd)),
            )
        )
    order = {case.id: number for number, case in enumerate(document.cases)}
    rows.sort(key=lambda row: order.get(row[0].text, len(order)))
    return Section(
        id="cases",
        title="Cases",
        note="Times here are of every answer that arrived, wrong ones included.",
        table=Table(
            columns=(
                "Case",
                "Target",
                "Measured",
                "Success",
                "Passed",
                "TTFT p50 (ms)",
                "Total p50 (ms)",
                "Truncated",
                "Cost",
            ),
            rows=tuple(rows),
            words=2,
        ),
    )


def _success_cell(target: TargetSummary) -> Cell:
    success = target.reliability.success
    return Cell(text=percent(success.rate if success else None), detail=rate_detail(success))


def _score_cell(target: TargetSummary) -> Cell:
    quality = target.quality
    if quality.attempted == 0:
        return Cell(text=ABSENT)
    return Cell(
        text=percent(quality.score),
        detail=f"{quality.passed} of {quality.attempted} in {counted(quality.cases, 'case')}, "
        f"{percent_range(quality.score_interval)}",
    )


def _p50(summary: NumericSummary | None) -> Cell:
    return Cell(text=ms(summary.p50 if summary else None), detail=sample_detail(summary))


def _p90(summary: NumericSummary | None) -> Cell:
    if summary is None:
        return Cell(text=ABSENT)
    return Cell(text=ms(summary.p90), detail=ms_range(summary.p90_interval))


def _points(drop: float | None) -> str:
    return ABSENT if drop is None else f"{drop * 100:+.0f} points"


def _tokens(count: int | None) -> str:
    return ABSENT if count is None else f"{count:,}"
