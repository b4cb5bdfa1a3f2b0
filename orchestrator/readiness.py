"""When a gateway counts as ready: decided step by step from evidence. Pure.

Ready = still alive, health answered as expected, the connection that answered belongs to the
started session, and all of that once more after a short settle ("says ready and dies").
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from orchestrator.ports import HealthAnswer

_SAID_KEPT = 4
_EXCERPT = 120
_PAGE = re.compile(r"\s*<(!doctype html|html)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """What the gateway is asked, and the answer that counts."""

    path: str = "/health"
    status: int = 200
    text: str | None = None
    """Has to be in the body."""
    field: str | None = None
    """Dotted name in a JSON body."""
    equals: str | None = None
    """What the field has to be, written as JSON writes it without quotes; ``None`` = true-ish."""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The evidence of one turn."""

    at_ns: int
    is_dead: bool
    answer: HealthAnswer | None
    """``None`` when the process was dead before it was asked."""
    members: frozenset[int]
    """PIDs of the started session."""
    others: frozenset[int] = frozenset()
    """PIDs of other processes that listen on the same address: some requests would go to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What the turns so far showed."""

    deadline_ns: int
    settle_ns: int
    proven_ns: int | None = None
    """When the first answer of an unbroken row of good ones came."""
    said: tuple[str, ...] = ()
    """The last different answers, latest last."""


Next = Literal["ask", "settle", "ready", "died", "late"]


def step(progress: Progress, turn: Turn, check: HealthCheck) -> tuple[Progress, Next]:
    """Decide what to do after one turn.

    Returns:
        ``ask`` again soon, ``settle`` = ask again when the settle time is over, or an end:
        ``ready``, ``died`` (whatever was answered before), ``late``.
    """
    if turn.is_dead:
        return progress, "died"
    fault = None if turn.answer is None else shortcoming(turn.answer, check, turn.members)
    if fault is None and turn.others:
        listed = ", ".join(str(pid) for pid in sorted(turn.others))
        fault = f"another process than ours listens on the same port: PID {listed}"
    if turn.answer is not None and fault is None:
        proven = turn.at_ns if progress.proven_ns is None else progress.proven_ns
        if turn.at_ns - proven >= progress.settle_ns:
            return replace(progress, proven_ns=proven), "ready"
        return replace(progress, proven_ns=proven), "settle"
    said = progress.said
    if fault is not None and fault not in said[-1:]:
        said = (*said, fault)[-_SAID_KEPT:]
    progress = replace(progress, proven_ns=None, said=said)
    return progress, "late" if turn.at_ns >= progress.deadline_ns else "ask"


def shortcoming(answer: HealthAnswer, check: HealthCheck, members: Collection[int]) -> str | None:
    """Say why an answer does not count; ``None`` = it does.

    Args:
        answer: What came back on one connection.
        check: What is expected.
        members: PIDs of the started session; one of them must hold the connection's other end.
    """
    return _wrong_answer(answer, check) or _wrong_sender(answer, members)


def _wrong_answer(answer: HealthAnswer, check: HealthCheck) -> str | None:
    if answer.status is None:
        return answer.fault or "no answer"
    wrong = None
    if answer.status != check.status:
        wrong = f"instead of {check.status}"
    elif check.text is not None and check.text not in answer.body:
        wrong = f"without `{check.text}` in it"
    elif check.field is not None:
        wrong = _field_fault(answer.body, check.field, check.equals)
    elif check.text is None and _PAGE.match(answer.body):
        # Servers of web pages answer 200 to every path.
        wrong = "with a web page instead of a health answer"
    return wrong and f"HTTP {answer.status} {wrong}: {_excerpt(answer.body)}"


def _wrong_sender(answer: HealthAnswer, members: Collection[int]) -> str | None:
    if not answer.owners:
        return f"HTTP {answer.status} from a process that can't be seen"
    if answer.owners.isdisjoint(members):
        others = ", ".join(str(pid) for pid in sorted(answer.owners))
        return f"HTTP {answer.status} from another process than ours: PID {others}"
    return None


def _excerpt(body: str) -> str:
    text = " ".join(body.split())
    if not text:
        return "an empty body"
    return f"`{text[:_EXCERPT]}…`" if len(text) > _EXCERPT else f"`{text}`"


def _field_fault(body: str, field: str, equals: str | None) -> str | None:
    try:
        value: Any = msgspec.json.decode(body.encode())
    except msgspec.MsgspecError:
        return "whose body is no JSON"
    for name in field.split("."):
        if not isinstance(value, dict) or name not in value:
            return f"whose `{field}` is missing"
        value = value[name]
    if equals is None:
        return None if value else f"whose `{field}` is {_written(value)}"
    return (
        None if _written(value) == equals else f"whose `{field}` is {_written(value)}, not {equals}"
    )


def _written(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
