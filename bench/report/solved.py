"""How much of its coding tasks a target solved: read from its summary, and as a cell."""

import msgspec

from bench.model.agent_summary import AgentSummary
from bench.model.summary import NumericSummary, TargetSummary
from bench.report.figures import ABSENT, counted, percent, percent_range
from bench.report.tables import Cell


def agent_of(target: TargetSummary) -> AgentSummary | None:
    """Return the agentic figures, of an older document what can be read; ``None`` = none."""
    if target.agent is None:
        return None
    try:
        return msgspec.convert(target.agent, AgentSummary)
    except msgspec.ValidationError:
        return None


def solved_cell(agent: AgentSummary | None) -> Cell:
    """Return the solve rate with its trials, tasks and interval."""
    if agent is None:
        return Cell(text=ABSENT)
    return Cell(text=percent(agent.solve_rate), detail=_solve_detail(agent))


def middle(summary: NumericSummary | None) -> str:
    """Return the median of a count, without needless digits."""
    return ABSENT if summary is None else f"{summary.p50:,.1f}".removesuffix(".0")


def _solve_detail(agent: AgentSummary) -> str:
    if not agent.scored:
        return f"{agent.solved} of {agent.attempted}" if agent.attempted else ""
    interval = percent_range(agent.solve_rate_interval)
    return f"{agent.solved} of {agent.scored} in {counted(agent.tasks, 'task')}, {interval}"
