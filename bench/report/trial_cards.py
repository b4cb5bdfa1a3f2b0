"""Trials for a person at a terminal: those that failed, the slowest, or one with all that is known."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from bench.errors import UnknownName
from bench.model.document import Document, DocumentTrial
from bench.money import spent_on
from bench.report.answers import is_failed
from bench.report.escaping import shorten, visible, wrap
from bench.report.figures import ms, usd
from bench.report.transcripts import transcript

_MOST_TEXT = 4_000
"""Characters of an answer that a card shows; the JSON document has all of it."""
_MOST_MESSAGE = 400
_MOST_OF_TURN = 600
"""Characters of what was said in one of many turns."""
_MOST_PATHS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialLine:
    """One trial in a list."""

    id: str
    what: str
    """What is to be said of it, in a few words."""
    total_ms: float | None
    ttft_ms: float | None

    def text(self) -> str:
        """Return it for people."""
        times = f"{ms(self.total_ms)} ms" if self.total_ms is not None else "no time"
        first = f", TTFT {ms(self.ttft_ms)} ms" if self.ttft_ms is not None else ""
        return f"{self.id}  {times}{first}  {self.what}"


def failed_lines(document: Document) -> tuple[TrialLine, ...]:
    """Return the failed trials, warm-ups too, in the order of the plan."""
    return tuple(_line(trial) for trial in document.trials if is_failed(trial))


def slowest_lines(document: Document, count: int) -> tuple[TrialLine, ...]:
    """Return the trials that took longest, failed ones and warm-ups too, the slowest first."""
    timed = [trial for trial in document.trials if trial.response.timing.total_ms is not None]
    timed.sort(key=lambda trial: -(trial.response.timing.total_ms or 0.0))
    return tuple(map(_line, timed[:count]))


def find_trial(document: Document, name: str) -> DocumentTrial:
    """Return the trial that is called ``name``: its id, or the end of one that no other has.

    Raises:
        UnknownName: None, or more than one.
    """
    by_id = {trial.id: trial for trial in document.trials}
    if name in by_id:
        return by_id[name]
    ending = [trial for trial_id, trial in by_id.items() if trial_id.endswith(f"|{name}")]
    if len(ending) == 1:
        return ending[0]
    listed = "gateway-bench show RUN --slowest 1000"
    raise UnknownName("trial", name, tuple(by_id), listed_by=listed)


def trial_card(trial: DocumentTrial, *, width: int) -> str:
    """Return everything that a person wants to know of one trial."""
    lines = [visible(trial.id)]
    for name, value in _facts(trial):
        fact = wrap(visible(f"{name}: {value}"), width - 2, indent="  ")
        lines += [f"  {line}" for line in fact]
    if trial.agent is not None:
        lines += _work(trial, width)
        return "\n".join(lines) + "\n"
    for title, text in (
        ("Reasoning", trial.response.reasoning),
        ("Answer", trial.response.content),
    ):
        lines += ["", title, *_text(text, _MOST_TEXT)] if text else []
    if not trial.response.texts_kept:
        lines += ["", "Its texts were not kept: load stages and `--no-responses` keep none."]
    return "\n".join(lines) + "\n"


def _work(trial: DocumentTrial, width: int) -> Iterator[str]:
    """Yield how an agentic trial went, turn by turn; of bad calls also what the model was told."""
    shown = transcript(trial)
    yield from ("", "How it went")
    yield from (f"  {line}" for line in wrap(visible(shown.detail), width - 2, indent="  "))
    for turn in shown.turns:
        yield from ("", visible(turn.title))
        for text in (turn.reasoning, turn.content, turn.error):
            yield from _text(text, _MOST_OF_TURN) if text else ()
        for call in turn.calls:
            title = f"{'!' if call.is_bad else '-'} {call.title}"
            yield from (f"  {line}" for line in wrap(visible(title), width - 2, indent="  "))
            yield from (f"  {line}" for line in _text(call.result, _MOST_OF_TURN) if call.is_bad)
    yield from ("", "The HTML report and the JSON document have the whole texts.")


def _text(text: str, most: int) -> list[str]:
    shown = visible(shorten(text, most), keep="\n")
    return [f"  {line}" for line in shown.split("\n")]


def brief(trial: DocumentTrial) -> DocumentTrial:
    """Return a trial without what can be long: texts, chunks, single gaps, turns, raw counts.

    An object for programs stays small; the result document has all of it.
    """
    response = trial.response
    short = msgspec.structs.replace(
        response,
        content="",
        reasoning="",
        stream_chunks=(),
        tool_calls=(),
        usage=msgspec.structs.replace(response.usage, raw={}),
        timing=msgspec.structs.replace(response.timing, itl_ms=None, content_itl_ms=None),
    )
    agent = trial.agent
    if agent is not None:
        agent = msgspec.structs.replace(agent, changed_files=agent.changed_files[:_MOST_PATHS])
    return msgspec.structs.replace(trial, response=short, agent=agent, turns=())


def _line(trial: DocumentTrial) -> TrialLine:
    timing = trial.response.timing
    return TrialLine(
        id=visible(trial.id),
        what=visible(shorten(_said(trial), _MOST_MESSAGE)),
        total_ms=timing.total_ms,
        ttft_ms=timing.first_content_ms,
    )


def _said(trial: DocumentTrial) -> str:
    said = []
    if trial.invalidated is not None:
        said.append(f"counts nowhere: {trial.invalidated}")
    error, evaluation = trial.response.error, trial.evaluation
    if error is not None:
        said.append(f"{error.code}: {error.message}")
    elif evaluation is not None and evaluation.passed is False:
        answered = f"answered `{evaluation.answer}`, expected `{evaluation.expected}`"
        said.append(f"wrong: {evaluation.detail or answered}")
    if trial.warmup:
        said.append("warm-up")
    return "; ".join(said) or ("answered" if evaluation is None else "right")


def _facts(trial: DocumentTrial) -> Iterator[tuple[str, str]]:
    response, usage = trial.response, trial.response.usage
    named: dict[str, object] = {
        "case": trial.case_id,
        "outcome": _said(trial),
        "seed": trial.seed,
        "parameters": trial.parameters or None,
        "status": response.status,
        "finish reason": response.finish_reason,
        "connection": response.connection,
        "TTFT": _in_ms(response.timing.first_content_ms),
        "total": _in_ms(response.timing.total_ms),
        "tokens in": usage.prompt_tokens,
        "of them cached": usage.cached_prompt_tokens,
        "tokens out": usage.completion_tokens,
        "of them reasoning": usage.reasoning_tokens,
        "cost": _cost(trial),
        "request id": response.request_id,
        "generation id": response.generation_id,
        "model that answered": response.served_model or response.response_model,
        "provider that answered": response.served_provider,
        "pin violated": trial.pin_violated,
        "from the gateway's cache": response.cache_hit,
        "fallback": response.fallback,
    }
    yield from ((name, str(value)) for name, value in named.items() if value is not None)
    for call in response.tool_calls:
        yield "tool call", f"{call.name}({call.arguments})"
    if trial.evaluation is not None:
        verdict = {True: "right", False: "wrong", None: "not judged"}[trial.evaluation.passed]
        yield "verdict", verdict
        for name in ("answer", "expected", "detail"):
            if (value := getattr(trial.evaluation, name)) is not None:
                yield name, value


def _in_ms(value: float | None) -> str | None:
    return None if value is None else f"{ms(value)} ms"


def _cost(trial: DocumentTrial) -> str:
    if trial.estimated_cost_usd is None:
        return "nothing: refused, or never sent" if spent_on(trial, None) == 0 else "unknown"
    computed = trial.computed_cost_usd
    differs = computed is not None and computed != trial.estimated_cost_usd
    beside = f"; {usd(computed)} at known prices" if differs else ""
    return f"{usd(trial.estimated_cost_usd)} ({trial.cost_source}){beside}"
