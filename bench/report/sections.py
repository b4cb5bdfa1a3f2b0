"""Document → the sections that every long report shows, each figure with what it stands on."""

from bench.model.document import Document
from bench.report.ab import ab_sections
from bench.report.agent import agent_sections
from bench.report.cells import p50
from bench.report.figures import percent, rate_detail, usd
from bench.report.gates import gates
from bench.report.load import load
from bench.report.load_stages import clients, stages, waiting
from bench.report.making import making_sections
from bench.report.overhead import overhead_sections
from bench.report.overview import overview
from bench.report.pairs import pair_sections
from bench.report.saturation import saturation
from bench.report.scores import agreement, likeness, quality, slices
from bench.report.service import cost, reliability, speed
from bench.report.tables import Cell, Section, Table


def sections(document: Document) -> tuple[Section, ...]:
    """Return every section that has something to show."""
    found = (
        gates(document),
        *pair_sections(document),
        *overhead_sections(document),
        *ab_sections(document),
        overview(document),
        speed(document),
        saturation(document),
        stages(document),
        waiting(document),
        clients(document),
        load(document),
        *agent_sections(document),
        quality(document),
        slices("dimensions", "Scores by dimension", document.summary.dimensions),
        slices("difficulties", "Scores by difficulty", document.summary.difficulties),
        slices("categories", "Scores by category", document.summary.categories),
        agreement(document),
        likeness(document),
        reliability(document),
        cost(document),
        _cases(document),
        *making_sections(document),
    )
    return tuple(section for section in found if section.table.rows)


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
                p50(case.timings.ttft_ms),
                p50(case.timings.total_ms),
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
