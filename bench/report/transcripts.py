"""What was said and done in each agentic trial, for who asks how a verdict came about."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.model.agent import ToolTrace
from bench.model.document import Document, DocumentTrial
from bench.model.turn import TurnTrace
from bench.report.escaping import shorten
from bench.report.figures import ABSENT, counted, duration, ms, usd

MOST_TRANSCRIPTS = 200
MOST_CHARACTERS = 1_500
"""Of one text; the JSON document has all of it."""
_MOST_PATHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class CallShown:
    """One tool call."""

    title: str
    is_bad: bool
    arguments: str
    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnShown:
    """One turn."""

    title: str
    reasoning: str
    content: str
    error: str
    calls: tuple[CallShown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """One trial."""

    title: str
    verdict: str
    """One word or two, shown beside the title."""
    detail: str
    turns: tuple[TurnShown, ...]


def transcripts(document: Document) -> tuple[tuple[Transcript, ...], int]:
    """Return the transcripts that are shown, and how many more there are."""
    agentic = [trial for trial in document.trials if trial.agent is not None and not trial.warmup]
    shown = tuple(map(transcript, agentic[:MOST_TRANSCRIPTS]))
    return shown, len(agentic) - len(shown)


def transcript(trial: DocumentTrial) -> Transcript:
    """Return what was said and done in an agentic trial."""
    run, evaluation = trial.agent, trial.evaluation
    facts = []
    if run is not None:
        facts = [
            f"stop reason {run.stop_reason}",
            counted(run.turns, "turn"),
            counted(run.tool_calls, "tool call"),
            duration(run.wall_ms),
            f"cost {usd(trial.estimated_cost_usd)}",
            f"changed: {_named(run.changed_files)}",
        ]
    if evaluation is not None and evaluation.detail:
        facts.append(evaluation.detail)
    return Transcript(
        title=f"{trial.target_id} · {trial.case_id} · run {trial.run}",
        verdict=_verdict(trial),
        detail="; ".join(facts),
        turns=tuple(map(_turn, trial.turns)),
    )


def _named(paths: Sequence[str]) -> str:
    more = len(paths) - _MOST_PATHS
    rest = f" and {more} more" if more > 0 else ""
    return f"{', '.join(paths[:_MOST_PATHS])}{rest}" if paths else "nothing"


def _verdict(trial: DocumentTrial) -> str:
    if trial.evaluation is None or trial.evaluation.passed is None:
        return "no verdict"
    return "solved" if trial.evaluation.passed else "not solved"


def _turn(turn: TurnTrace) -> TurnShown:
    response = turn.response
    error = response.error
    first = response.timing.first_token_ms
    parts = [
        f"Turn {turn.number}",
        f"model {duration(turn.model_ms)}",
        f"first token {ms(first)} ms" if first is not None else "",
        f"tools {duration(turn.tool_ms)}" if turn.calls else "",
        f"finish reason {response.finish_reason or ABSENT}",
    ]
    return TurnShown(
        title=" · ".join(filter(None, parts)),
        reasoning=shorten(response.reasoning, MOST_CHARACTERS),
        content=shorten(response.content, MOST_CHARACTERS),
        error="" if error is None else f"{error.code}: {error.message}",
        calls=tuple(map(_call, turn.calls)),
    )


def _call(call: ToolTrace) -> CallShown:
    marks = [
        mark for mark, holds in (("invalid", call.invalid), ("repeated", call.repeated)) if holds
    ]
    told = f" ({', '.join(marks)})" if marks else ""
    return CallShown(
        title=f"{call.name}: {call.detail.removeprefix(f'{call.name}: ')}{told} · {ms(call.duration_ms)} ms",
        is_bad=not call.ok,
        arguments=shorten(call.arguments, MOST_CHARACTERS),
        result=shorten(call.result, MOST_CHARACTERS),
    )
