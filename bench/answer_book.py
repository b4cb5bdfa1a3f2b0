"""The simulator's answer book: what is right for every prompt of a plan, written before the first.

Format: JSON lines, ``{"promptHash", "answer": {"content", "toolCalls": [{"name", "arguments"}]},
"wrong": …}``. Only a simulated upstream ever reads it; a real model gets no help.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bench.errors import BenchError, reason_in
from bench.model.blocks import PlannedTrial
from bench.model.case import Case, Instance
from bench.model.trial import Answer
from bench.prompt import prompt_hash


def write_answer_book(
    path: Path,
    trials: Iterable[PlannedTrial],
    cases: Mapping[str, Case],
    *,
    more: Iterable[Mapping[str, Any]] = (),
) -> None:
    """Append the entries of all planned trials; instances without a known answer have none.

    Args:
        path: The book.
        trials: All that are planned.
        cases: By id.
        more: Ready entries, of coding tasks.

    Raises:
        BenchError: The file can't be written.
    """
    data = b"".join(
        msgspec.json.encode(entry) + b"\n" for entry in (*_entries(trials, cases), *more)
    )
    try:
        with path.open("ab") as file:
            file.write(data)
    except OSError as error:
        message = f"the answer book `{path}` can't be written: {reason_in(error)}"
        raise BenchError(message, hint="free some space, or start the run again") from error


def _entries(trials: Iterable[PlannedTrial], cases: Mapping[str, Case]) -> Iterator[dict[str, Any]]:
    written: set[str] = set()
    for case_id, seed in dict.fromkeys((trial.case_id, trial.seed) for trial in trials):
        instance = cases[case_id].build(seed)
        key = prompt_hash(message.content or "" for message in instance.request.messages)
        if key not in written and (entry := _entry(key, instance)) is not None:
            written.add(key)
            yield entry


def _entry(key: str, instance: Instance) -> dict[str, Any] | None:
    if instance.book is None:
        return None
    entry: dict[str, Any] = {"promptHash": key, "answer": _answer(instance.book)}
    if instance.book_wrong is not None:
        entry["wrong"] = _answer(instance.book_wrong)
    return entry


def _answer(answer: Answer) -> dict[str, Any]:
    calls = [{"name": call.name, "arguments": call.arguments} for call in answer.tool_calls]
    return {"content": answer.content, "toolCalls": calls}
