"""The first table of a report: of each target the figures of what was measured, no empty columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.model.document import Document
from bench.model.summary import TargetSummary
from bench.report.cells import HELD_BACK, is_held_back, p50, score_cell, success_cell
from bench.report.figures import ABSENT, duration, usd
from bench.report.solved import agent_of, middle, solved_cell
from bench.report.tables import Cell, Section, Table
from bench.summary.performance import headline_block

_Column = tuple[str, Callable[[TargetSummary], Cell]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Which kinds of figures there are."""

    answers: bool
    speed: bool
    coding: bool


def measured(targets: Sequence[TargetSummary]) -> Measured:
    """Return what to show: what only other kinds of cases have is left out beside coding."""
    coding = any(agent_of(target) is not None for target in targets)
    return Measured(
        answers=not coding or any(target.quality.attempted for target in targets),
        speed=not coding or any(target.performance.trials for target in targets),
        coding=coding,
    )


def overview(document: Document) -> Section:
    """Return the section with one row for each target."""
    has = measured(document.summary.targets)
    done = {part.target_id: part.planned for part in document.completeness.targets}

    def count(target: TargetSummary) -> Cell:
        planned = done.get(target.target_id)
        detail = "" if planned is None else f"of {planned} planned"
        return Cell(text=str(target.attempted), detail=detail)

    columns: list[_Column] = [("Measured", count), ("Success", success_cell), *_of(has)]
    rows = [
        (Cell(text=target.target_id), *(cell(target) for _, cell in columns))
        for target in document.summary.targets
    ]
    return Section(
        id="overview",
        title="Targets",
        note=_note(has),
        table=Table(columns=("Target", *(name for name, _ in columns)), rows=tuple(rows)),
    )


def _of(has: Measured) -> list[_Column]:
    columns: list[_Column] = []
    if has.answers:
        columns.append(("Score", score_cell))
    if has.coding:
        columns.append(("Solved", lambda target: solved_cell(agent_of(target))))
    if has.speed:
        columns += [
            ("TTFT p50 (ms)", lambda target: p50(headline_block(target.performance).ttft_ms)),
            ("Total p50 (ms)", lambda target: p50(headline_block(target.performance).total_ms)),
            ("Tokens/s p50", _speed),
        ]
    if has.coding and not has.speed:
        columns += [("Turns p50", _turns), ("Wall clock p50", _wall)]
    if has.answers:
        columns.append(("Cost per right answer", _cost_of_answer))
    if has.coding:
        columns.append(("Cost per solved task", _cost_of_task))
    return columns


def _note(has: Measured) -> str:
    told = [
        ("Success: requests that came back whole.", True),
        ("Score: right answers among judged ones.", has.answers),
        (
            "Solved: coding tasks whose hidden checks are all right, of those with a verdict.",
            has.coding,
        ),
        ("TTFT: from sending to the first visible text.", has.speed),
        (
            "p50: half of the trials were faster. Beside a figure: the number of trials it stands "
            "on, and its 95% interval where there are enough.",
            True,
        ),
    ]
    return " ".join(words for words, applies in told if applies)


def _speed(target: TargetSummary) -> Cell:
    block = headline_block(target.performance)
    return Cell(text=HELD_BACK) if is_held_back(block) else p50(block.visible_tokens_per_second)


def _turns(target: TargetSummary) -> Cell:
    agent = agent_of(target)
    if agent is None or agent.turns is None:
        return Cell(text=ABSENT)
    return Cell(text=middle(agent.turns), detail=f"of {agent.turns.count}")


def _wall(target: TargetSummary) -> Cell:
    agent = agent_of(target)
    if agent is None or agent.wall_ms is None:
        return Cell(text=ABSENT)
    return Cell(text=duration(agent.wall_ms.p50), detail=f"of {agent.wall_ms.count}")


def _cost_of_answer(target: TargetSummary) -> Cell:
    return Cell(text=usd(target.efficiency.quality_cost_per_correct_usd))


def _cost_of_task(target: TargetSummary) -> Cell:
    agent = agent_of(target)
    return Cell(text=usd(agent.cost_per_solved_usd if agent else None))
