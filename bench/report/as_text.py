"""The end of a run on a terminal: at most 40 lines, whatever was measured, and no colour needed."""

from collections.abc import Sequence

from bench.model.document import Document
from bench.model.summary import TargetSummary
from bench.report.ab import ab_lines
from bench.report.agent import agent_sentences
from bench.report.escaping import display_width, fit, visible
from bench.report.figure_columns import FigureColumn, figure_columns
from bench.report.gates import gate_lines
from bench.report.load import load_sentences
from bench.report.load_stages import stage_lines
from bench.report.overhead import overhead_lines
from bench.report.pairs import pair_lines
from bench.report.resources import resource_sentence
from bench.report.saturation import saturation_sentences
from bench.report.squeezing import LineShare, shared, squeezed
from bench.report.verdict import Standing, headline, standings

MOST_LINES = 40
NARROWEST = 64
_MOST_HEADLINE = 4
_MOST_ANSWER = 7
"""Of two arms: the answer stands there, and whether it buffers is at its end."""
_MOST_TARGETS = 14
_MOST_FAILING = 3
_MOST_STAGES = 8
_STAGE_LINES = 4
_ALL_STAGES_LINES = 16
"""Rather fewer stages than one without some of its figures."""
_MOST_GATES = 6
_MOST_SERIES = 3
_MOST_CAVEATS = 4
_CAVEAT_LINES = LineShare(together=12, least=3, longest=6)
_MOST_CODED = 4
_MARKS = {"broken": "!!", "doubtful": "! ", "note": "- "}


def terminal_summary(document: Document, *, width: int = 80, has_caveats: bool = True) -> str:
    """Return the summary, each line at most ``width`` columns (at least 64 are used).

    Args:
        document: What is summed up.
        width: Columns.
        has_caveats: Off where they are told beside it, whole.
    """
    width = max(width, NARROWEST)
    most = _MOST_HEADLINE if document.summary.paired is None else _MOST_ANSWER
    lines = squeezed(headline(document), width, most=most)
    lines += _gates(document, width)
    lines += _caveats(document, width) if has_caveats else []
    lines += ["", *_table(document.summary.targets, width)]
    lines += _errors(document.summary.targets, width)
    coded = agent_sentences(document)[:_MOST_CODED]
    lines += _load(document, width)
    lines += _pairs(document, width)
    told = standings(document)
    used = resource_sentence(document)
    if told or used or coded:
        lines.append("")
        for sentence in coded:
            lines += squeezed(sentence, width, most=2)
        lines += squeezed(used, width, most=2) if used else []
        for standing in told:
            lines += squeezed(_sentence(standing), width, most=3)
    return "\n".join(lines[:MOST_LINES]) + "\n"


def _gates(document: Document, width: int) -> list[str]:
    """Return a line for each gate, what failed first."""
    told = list(gate_lines(document))
    lines = [line for one in told[:_MOST_GATES] for line in squeezed(one, width, most=2)]
    more = len(told) - _MOST_GATES
    return [*lines, f"… and {more} more gates: see the report"] if more > 0 else lines


def _load(document: Document, width: int) -> list[str]:
    """Return a line for each load stage, the first few, and where the load was too much."""
    lines = _stages(document, width)
    of_cases = [] if lines else list(load_sentences(document))
    lines += [""] if of_cases else []
    for sentence in [*saturation_sentences(document), *of_cases][:_MOST_SERIES]:
        lines += squeezed(sentence, width, most=3)
    return lines


def _stages(document: Document, width: int) -> list[str]:
    told = list(stage_lines(document))
    lines: list[str] = []
    shown = 0
    for line in told[:_MOST_STAGES]:
        whole = squeezed(line, width, most=_STAGE_LINES)
        if len(lines) + len(whole) > _ALL_STAGES_LINES:
            break
        lines += whole
        shown += 1
    more = len(told) - shown
    lines += [f"… and {more} more stages: see the report"] if more > 0 else []
    return ["", *lines] if told else []


def _pairs(document: Document, width: int) -> list[str]:
    """Return what two arms differ by, the first figures, and what the gateway says and uses."""
    pairs = list(pair_lines(document))
    more = len(pairs) - _MOST_STAGES
    told = [*pairs[:_MOST_STAGES], f"{more} more in the reports"] if more > 1 else pairs
    told += list(overhead_lines(document))
    told += list(ab_lines(document))[:_MOST_STAGES]
    lines = [""] if told else []
    for line in told:
        lines += squeezed(line, width, most=2)
    return lines


def _caveats(document: Document, width: int) -> list[str]:
    shown = document.trust[:_MOST_CAVEATS]
    lines = shared(
        [f"{_MARKS[caveat.level]} {caveat.text}" for caveat in shown],
        width,
        lines=_CAVEAT_LINES,
        indent="   ",
    )
    more = len(document.trust) - _MOST_CAVEATS
    if more > 0:
        lines.append(f"-  {more} more to know: see the report")
    return lines


def _table(targets: Sequence[TargetSummary], width: int) -> list[str]:
    columns = figure_columns(targets)
    name_width = width - sum(column.width + 1 for column in columns)
    shown = targets[:_MOST_TARGETS]
    longest = max([len("target"), *(display_width(visible(t.target_id)) for t in shown)])
    name_width = min(name_width, longest)
    rows = [
        ("", [column.upper for column in columns]),
        ("target", [column.lower for column in columns]),
        *(
            (fit(visible(target.target_id), name_width), [c.figure(target) for c in columns])
            for target in shown
        ),
    ]
    lines = [_row(name, cells, columns, name_width) for name, cells in rows]
    more = len(targets) - len(shown)
    if more > 0:
        lines.append(f"… and {more} more targets: see the report")
    return lines


def _errors(targets: Sequence[TargetSummary], width: int) -> list[str]:
    """Return what went wrong, by code, for the targets that have most of it."""
    failing = [target for target in targets if target.reliability.errors_by_cause]
    failing.sort(key=lambda target: -sum(target.reliability.errors_by_cause.values()))
    lines = [""] if failing else []
    for target in failing[:_MOST_FAILING]:
        by_count = sorted(target.reliability.errors_by_cause.items(), key=lambda one: -one[1])
        said = ", ".join(f"{code} ({count})" for code, count in by_count)
        name = fit(visible(target.target_id), width // 2)
        lines += squeezed(f"Errors of {name}: {said}", width, most=2)
    more = len(failing) - _MOST_FAILING
    return [*lines, f"… and of {more} more targets: see the report"] if more > 0 else lines


def _row(name: str, cells: Sequence[str], columns: Sequence[FigureColumn], name_width: int) -> str:
    padded = name + " " * (name_width - display_width(name))
    figures = (cell.rjust(column.width) for cell, column in zip(cells, columns, strict=True))
    return " ".join([padded, *figures]).rstrip()


def _sentence(standing: Standing) -> str:
    return f"{standing.title}: {standing.leader}, {standing.figure}; {standing.detail}"
