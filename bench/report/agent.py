"""The sections on agentic coding: what was solved, how the models worked, where the time went."""

from collections.abc import Iterable, Iterator

from bench.model.agent_summary import AgentSummary
from bench.model.document import Document
from bench.model.summary import NumericSummary, Rate
from bench.report.cells import median
from bench.report.escaping import fit, visible
from bench.report.figures import (
    ABSENT,
    counted,
    duration,
    percent,
    percent_range,
    rate_detail,
    usd,
)
from bench.report.solved import agent_of, middle, solved_cell
from bench.report.tables import Cell, Section, Table, text

_STOPS = {
    "no_tool_calls": "said it was done",
    "token_limit": "answer cut by the token limit",
    "turn_limit": "too many turns",
    "task_timeout": "took too long",
    "upstream_error": "a request failed",
    "budget": "time budget used up",
    "max_cost": "money limit reached",
    "interrupted": "interrupted",
    "cancelled": "cancelled in flight",
    "incident": "incident",
    "stopped": "the run ended",
    "not_pinned": "not the pinned target's (counted above too)",
}
_LONGEST_NAME = 40


def agent_sections(document: Document) -> tuple[Section, ...]:
    """Return the sections; empty ones where nothing agentic was measured."""
    found = tuple(_agents(document))
    return (
        _solved(found),
        _repeats(found),
        _difficulties(found),
        _work(found),
        _time(found),
        _ends(found),
    )


def agent_sentences(document: Document) -> tuple[str, ...]:
    """Return one sentence for each target with agentic trials."""
    sentences = []
    for target_id, agent in _agents(document):
        name = fit(visible(target_id), _LONGEST_NAME)
        tried, interval = _tried(agent), percent_range(agent.solve_rate_interval)
        more = [
            f"in {counted(agent.tasks, 'task')}, {interval}" if interval else "",
            _turns(agent),
            f"{usd(agent.cost_per_solved_usd)} each" if agent.cost_per_solved_usd else "",
            f"{counted(sum(agent.unscored.values()), 'trial')} without a verdict"
            if agent.unscored
            else "",
        ]
        told = "; ".join(filter(None, more))
        sentences.append(f"Coding: {name} solved {agent.solved} of {tried}{told and f' ({told})'}")
    return tuple(sentences)


def _agents(document: Document) -> Iterator[tuple[str, AgentSummary]]:
    for target in document.summary.targets:
        agent = agent_of(target)
        if agent is not None:
            yield target.target_id, agent


_Found = tuple[tuple[str, AgentSummary], ...]


def _solved(found: _Found) -> Section:
    rows = [
        (
            Cell(text=target_id),
            solved_cell(agent),
            _rate(agent.self_verified),
            Cell(text=str(sum(agent.unscored.values())) if agent.scored else ABSENT),
            Cell(text=usd(agent.cost_per_solved_usd)),
            Cell(text=_levels(agent)),
        )
        for target_id, agent in found
    ]
    return Section(
        id="agents",
        title="Agentic coding",
        note="Each trial is a small repository that the model changes through tools; hidden checks "
        "judge the files it leaves. Solved: of the trials with a verdict, with a 95% interval over "
        "the tasks. Self-verified: its last run of the visible tests passed and it changed nothing "
        "afterwards. Sandbox: how well the code it wrote was held; below `full`, a verdict is worth "
        "less. Trials cut by time, money, the user or an incident have no verdict.",
        table=Table(
            columns=(
                "Target",
                "Solved",
                "Self-verified",
                "Without verdict",
                "Cost per solved task",
                "Sandbox",
            ),
            rows=tuple(rows),
        ),
    )


def _repeats(found: _Found) -> Section:
    rows = [
        text(
            target_id,
            str(one.k),
            percent(one.pass_at_k),
            percent(one.pass_hat_k),
            str(one.tasks),
        )
        for target_id, agent in found
        for one in agent.passes
    ]
    return Section(
        id="agent-repeats",
        title="Solved in repeated tries",
        note="At least once: the chance that one of so many tries solves a task (pass at k). Every "
        "time: that all of them do (pass hat k). Unbiased estimates, means over the tasks that were "
        "tried often enough.",
        table=Table(
            columns=("Target", "Tries", "At least once", "Every time", "Tasks"), rows=tuple(rows)
        ),
        is_folded=True,
    )


def _difficulties(found: _Found) -> Section:
    rows = [
        (
            Cell(text=target_id),
            Cell(text=level.difficulty),
            Cell(
                text=percent(level.solve_rate),
                detail=f"{level.solved} of {level.scored} in {counted(level.tasks, 'task')}, "
                f"{percent_range(level.interval)}",
            ),
        )
        for target_id, agent in found
        for level in agent.difficulties
    ]
    return Section(
        id="agent-difficulties",
        title="Solved by difficulty",
        note="As above, by the difficulty of the tasks.",
        table=Table(columns=("Target", "Difficulty", "Solved"), rows=tuple(rows), words=2),
        is_folded=True,
    )


def _work(found: _Found) -> Section:
    rows = [
        (
            Cell(text=target_id),
            _count(agent.turns),
            _count(agent.tool_calls),
            _rate(agent.invalid_calls),
            _rate(agent.repeated_calls),
            _count(agent.prompt_tokens),
            _count(agent.completion_tokens),
        )
        for target_id, agent in found
        if agent.turns is not None
    ]
    return Section(
        id="agent-work",
        title="How the agents worked",
        note="Medians per trial, with the range. Invalid: calls of unknown tools, with broken "
        "arguments, or of paths out of the repository. Repeated: the same call again though nothing "
        "had changed. Tokens are of all turns of a trial together.",
        table=Table(
            columns=(
                "Target",
                "Turns",
                "Tool calls",
                "Invalid calls",
                "Repeated calls",
                "Tokens in",
                "Tokens out",
            ),
            rows=tuple(rows),
        ),
    )


def _time(found: _Found) -> Section:
    rows = [
        (
            Cell(text=target_id),
            Cell(text=duration(agent.wall_ms.p50), detail=f"of {agent.wall_ms.count}"),
            Cell(text=percent(agent.model_share)),
            Cell(text=percent(agent.tool_share)),
            Cell(text=percent(agent.own_share)),
            median(agent.own_ms_per_turn),
            median(agent.first_turn_first_token_ms),
            median(agent.first_turn_ttft_ms),
        )
        for target_id, agent in found
        if agent.wall_ms is not None
    ]
    return Section(
        id="agent-time",
        title="Where the time of agents went",
        note="Wall clock: from the first request of a trial until its last turn was done. Model: a "
        "request was in flight. Tools: files and tests in the sandbox. Own: this program. First "
        "token and first text are of the first turn.",
        table=Table(
            columns=(
                "Target",
                "Wall clock p50",
                "Model",
                "Tools",
                "Own",
                "Own per turn (ms)",
                "First token p50 (ms)",
                "First text p50 (ms)",
            ),
            rows=tuple(rows),
        ),
    )


def _ends(found: _Found) -> Section:
    rows = [
        text(
            target_id,
            _STOPS.get(stop, stop),
            str(count),
            str(agent.unscored.get(stop, 0)),
        )
        for target_id, agent in found
        for stop, count in sorted(_ended(agent).items(), key=lambda one: -one[1])
    ]
    return Section(
        id="agent-ends",
        title="How agentic trials ended",
        note="Every recorded trial.",
        table=Table(
            columns=("Target", "End", "Trials", "Without verdict"), rows=tuple(rows), words=2
        ),
        is_folded=True,
    )


def _ended(agent: AgentSummary) -> dict[str, int]:
    """Return the ends by stop reason, and those that count nowhere because another one answered."""
    other = {
        stop: count for stop, count in agent.unscored.items() if stop not in agent.stop_reasons
    }
    return {**agent.stop_reasons, **other}


def _turns(agent: AgentSummary) -> str:
    count = middle(agent.turns)
    return "" if agent.turns is None else f"{count} turn{'' if count == '1' else 's'}"


def _tried(agent: AgentSummary) -> str:
    return str(agent.scored or agent.attempted)


def _levels(agent: AgentSummary) -> str:
    return _joined(
        level if len(agent.sandbox_levels) == 1 else f"{level} ({count})"
        for level, count in agent.sandbox_levels.items()
    )


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts) or ABSENT


def _rate(rate: Rate | None) -> Cell:
    return Cell(text=percent(rate.rate if rate else None), detail=rate_detail(rate))


def _count(summary: NumericSummary | None) -> Cell:
    if summary is None:
        return Cell(text=ABSENT)
    return Cell(text=middle(summary), detail=f"{summary.min:,.0f} to {summary.max:,.0f}")
