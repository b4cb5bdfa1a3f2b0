"""What the simulator's scripted agents are told of coding tasks. A real model gets no help."""

from collections.abc import Iterable
from typing import Any

from bench.agent.session import opening
from bench.agent.task import Change, Task
from bench.model.case import Message
from bench.prompt import prompt_hash


def book_entry(task: Task, prompt: Iterable[Message]) -> dict[str, Any]:
    """Return the answer book's entry of a task.

    Args:
        task: The task.
        prompt: The messages of its case.
    """
    wrong = next(iter(task.wrong.values()), {})
    return {
        "promptHash": prompt_hash(message.content or "" for message in opening(prompt)),
        "answer": {},
        "task": {
            "paths": sorted(task.files),
            "solution": _texts(task.solution),
            "wrong": _texts(wrong),
            "tests": sorted(task.protected),
        },
    }


def _texts(change: Change) -> dict[str, str]:
    """Return a change without its deletions, for which there is no tool."""
    return {path: text for path, text in change.items() if text is not None}
