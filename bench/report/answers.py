"""The trials that went wrong, with what came back: for who asks why."""

from bench.model.document import Document, DocumentTrial
from bench.report.figures import ABSENT, ms
from bench.report.tables import Answer
from bench.summary.selection import is_cancelled

MOST_ANSWERS = 60
"""Most failed trials that a report shows; the JSON document has all of them."""


def failed_answers(document: Document) -> tuple[tuple[Answer, ...], int]:
    """Return the failed trials, as far as they are shown, and how many more there are.

    Failed are: errors, wrong answers, and measured trials that an incident set aside.
    """
    failed = [trial for trial in document.trials if not trial.warmup and is_failed(trial)]
    return tuple(map(_answer, failed[:MOST_ANSWERS])), max(0, len(failed) - MOST_ANSWERS)


def is_failed(trial: DocumentTrial) -> bool:
    """Say whether a trial went wrong: error, wrong answer, set aside or cancelled."""
    return not trial.is_valid or trial.invalidated is not None or is_cancelled(trial)


def _answer(trial: DocumentTrial) -> Answer:
    response, evaluation = trial.response, trial.evaluation
    facts: list[tuple[str, str]] = []
    if trial.invalidated is not None:
        facts.append(("Counts nowhere", trial.invalidated))
    if response.error is not None:
        status = f", HTTP {response.error.status}" if response.error.status else ""
        after = f", after {ms(response.timing.total_ms)} ms" if response.timing.total_ms else ""
        facts.append(("Error", f"{response.error.code}{status}{after}"))
        facts.append(("Message", response.error.message))
    if evaluation is not None and evaluation.passed is False:
        facts.append(("Expected", evaluation.expected or ABSENT))
        facts.append(("Answered", evaluation.answer or ABSENT))
        if evaluation.detail:
            facts.append(("Because", evaluation.detail))
    facts += [("Tool call", f"{call.name}({call.arguments})") for call in response.tool_calls]
    if not response.texts_kept:
        facts.append(("Output", "not kept"))
    facts.append(("Finish reason", response.finish_reason or ABSENT))
    if response.request_id is not None:
        facts.append(("Request id", response.request_id))
    return Answer(
        title=f"{trial.target_id} · {trial.case_id} · run {trial.run}",
        facts=tuple(facts),
        content=response.content,
    )
