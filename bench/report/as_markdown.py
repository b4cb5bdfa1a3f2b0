"""The two Markdown reports: the whole, and timings by target and case."""

from collections.abc import Iterable

from bench.model.document import Caveat, Document
from bench.model.summary import CaseSummary, NumericSummary
from bench.report.answers import failed_answers
from bench.report.escaping import markdown_cell, markdown_prose, shorten
from bench.report.figures import counted, ms, percent, rate_detail
from bench.report.resources import resource_sentence
from bench.report.sections import sections
from bench.report.tables import Answer, Cell, Section, Table
from bench.report.verdict import headline, standings

MOST_CHARACTERS = 300
"""Longest model output in Markdown; the HTML report shows more, the JSON document all."""

_MARKS = {"broken": "**Not whole.**", "doubtful": "**Caution.**", "note": "Note."}


def markdown_report(document: Document) -> str:
    """Return the report; its first line is completeness and trust."""
    title = ", ".join(document.config.model_ids) or "benchmark"
    lines = [
        f"**{markdown_prose(headline(document))}**",
        "",
        *_caveats(document.trust),
        f"# Benchmark of {markdown_prose(title)}",
        "",
        *_standings(document),
    ]
    for section in sections(document):
        lines += _section(section)
    lines += _answers(document)
    return "\n".join(lines).rstrip("\n") + "\n"


def timings_markdown(document: Document) -> str:
    """Return timings by target and case, over every answer that arrived, right or wrong."""
    table = Table(
        columns=(
            "Target",
            "Case",
            "Request success",
            "Evaluation pass",
            "Headers p50 (ms)",
            "TTFT p50 (ms)",
            "TTFT p90 (ms)",
            "Total p50 (ms)",
            "Total p90 (ms)",
            "Tokens/s p50",
            "Stall p50 (ms)",
            "Buffered",
            "Held back",
        ),
        rows=tuple(_timing_row(case) for case in document.summary.cases if case.attempted),
        words=2,
    )
    lines = [
        f"**{markdown_prose(headline(document))}**",
        "",
        *_caveats(document.trust),
        "# Timings by target and case",
        "",
        f"Started {document.started_at}, finished {document.finished_at}."
        if document.started_at.isascii() and document.finished_at.isascii()
        else "",
        "",
        "Every measured answer that arrived is in here, also when its evaluation failed; warm-ups "
        "and trials set aside are not. Times are milliseconds. Buffered is the older rule (true "
        "for a long silent start too); held back is the verdict: the answer came in one or two "
        "pieces.",
        "",
        *_table(table),
    ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _caveats(trust: Iterable[Caveat]) -> list[str]:
    lines = [f"> {_MARKS[caveat.level]} {markdown_prose(caveat.text)}  " for caveat in trust]
    return [*lines, ""] if lines else []


def _standings(document: Document) -> list[str]:
    lines = [
        f"- **{standing.title}: {markdown_cell(standing.leader)}**, "
        f"{markdown_prose(standing.figure)} ({markdown_prose(standing.detail)})"
        for standing in standings(document)
    ]
    used = resource_sentence(document)
    lines += [f"- {markdown_prose(used)}"] if used else []
    return [*lines, ""] if lines else []


def _section(section: Section) -> list[str]:
    return [
        f"## {section.title}",
        "",
        markdown_prose(section.note),
        "",
        *_table(section.table),
        "",
    ]


def _table(table: Table) -> list[str]:
    rules = ("---" if n < table.words else "---:" for n in range(len(table.columns)))
    return [
        _line(table.columns),
        _line(rules),
        *(_line(map(_cell, row)) for row in table.rows),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = markdown_cell(cell.text)
    return f"{text} ({markdown_cell(cell.detail)})" if cell.detail else text


def _answers(document: Document) -> list[str]:
    answers, more = failed_answers(document)
    if not answers:
        return []
    lines = ["## Failed and wrong", ""]
    for answer in answers:
        lines += _answer(answer)
    if more:
        lines += ["", f"{counted(more, 'more trial')} in the JSON document."]
    return lines


def _answer(answer: Answer) -> list[str]:
    lines = [f"- {markdown_cell(answer.title)}"]
    facts = [*answer.facts, ("Output", answer.content)] if answer.content else answer.facts
    lines += [
        f"  - {name}: {markdown_cell(shorten(value, MOST_CHARACTERS))}" for name, value in facts
    ]
    return lines


def _timing_row(case: CaseSummary) -> tuple[Cell, ...]:
    block = case.timings
    return (
        Cell(text=case.target_id),
        Cell(text=case.case_id),
        Cell(
            text=percent(case.success.rate if case.success else None),
            detail=rate_detail(case.success),
        ),
        Cell(
            text=percent(case.evaluation.rate if case.evaluation else None),
            detail=rate_detail(case.evaluation),
        ),
        _p50(block.headers_ms),
        _p50(block.ttft_ms),
        _p90(block.ttft_ms),
        _p50(block.total_ms),
        _p90(block.total_ms),
        _p50(block.visible_tokens_per_second),
        _p50(block.max_content_stall_ms),
        Cell(text=percent(block.buffered_rate)),
        Cell(text=percent(block.held_back.rate if block.held_back else None)),
    )


def _p50(summary: NumericSummary | None) -> Cell:
    return Cell(text=ms(summary.p50 if summary else None))


def _p90(summary: NumericSummary | None) -> Cell:
    return Cell(text=ms(summary.p90 if summary else None))
