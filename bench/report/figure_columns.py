"""The columns of the terminal's table: narrow, and only those that something was measured for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.model.agent_summary import AgentSummary
from bench.model.summary import TargetSummary
from bench.report.cells import is_held_back
from bench.report.figures import ABSENT, duration, ms, percent, usd
from bench.report.overview import measured
from bench.report.solved import agent_of, middle
from bench.summary.performance import headline_block


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureColumn:
    """One column."""

    upper: str = ""
    """First line of its head; empty where one is enough."""
    lower: str
    width: int
    figure: Callable[[TargetSummary], str]


def figure_columns(targets: Sequence[TargetSummary]) -> tuple[FigureColumn, ...]:
    """Return the columns beside the names, in order."""
    has = measured(targets)
    columns = [
        FigureColumn(lower="done", width=7, figure=_done),
        FigureColumn(lower="ok", width=5, figure=lambda t: percent(t.reliability.success_rate)),
    ]
    if has.answers:
        columns.append(
            FigureColumn(lower="score", width=5, figure=lambda t: percent(t.quality.score))
        )
    if has.coding:
        rate = _of_agent(lambda agent: percent(agent.solve_rate))
        columns.append(FigureColumn(lower="solved", width=6, figure=rate))
    if has.speed:
        columns += _SPEED
    if has.coding and not has.speed:
        columns += _WORK
    if has.answers:
        columns.append(
            FigureColumn(
                upper="cost per",
                lower="right one",
                width=10,
                figure=lambda t: usd(t.efficiency.quality_cost_per_correct_usd),
            )
        )
    elif has.coding:
        cost = _of_agent(lambda agent: usd(agent.cost_per_solved_usd))
        columns.append(FigureColumn(upper="cost per", lower="solved one", width=10, figure=cost))
    return tuple(columns)


def _of_agent(words: Callable[[AgentSummary], str]) -> Callable[[TargetSummary], str]:
    def figure(target: TargetSummary) -> str:
        agent = agent_of(target)
        return ABSENT if agent is None else words(agent)

    return figure


def _done(target: TargetSummary) -> str:
    planned = "" if target.planned is None else f"/{target.planned}"
    return f"{target.attempted}{planned}"


def _ttft(target: TargetSummary) -> str:
    ttft = headline_block(target.performance).ttft_ms
    return ms(ttft.p50 if ttft else None)


def _total(target: TargetSummary) -> str:
    total = headline_block(target.performance).total_ms
    return ms(total.p50 if total else None)


def _speed(target: TargetSummary) -> str:
    block = headline_block(target.performance)
    speed = block.visible_tokens_per_second
    return "held" if is_held_back(block) else ms(speed.p50 if speed else None)


_SPEED = (
    FigureColumn(upper="TTFT", lower="p50 ms", width=7, figure=_ttft),
    FigureColumn(upper="total", lower="p50 ms", width=8, figure=_total),
    FigureColumn(upper="tokens", lower="/s p50", width=6, figure=_speed),
)
_WORK = (
    FigureColumn(
        upper="turns",
        lower="p50",
        width=6,
        figure=_of_agent(lambda agent: middle(agent.turns)),
    ),
    FigureColumn(
        upper="time",
        lower="p50",
        width=11,
        figure=_of_agent(lambda a: duration(a.wall_ms.p50) if a.wall_ms else ABSENT),
    ),
)
