"""Reads what came out of the sandbox and holds it against what is expected. Believes nothing of it."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.agent.task import Equals, Expectation, Json, Judged, Raises

SHOWN = 160
"""Characters of a value that a fault quotes."""
_NESTING = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A probe returned plain data."""

    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A probe ended by an error."""

    names: tuple[str, ...]
    """Its class and the classes above it."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unplain:
    """A probe returned something that is no plain data."""

    kind: str


Observed = Returned | Raised | Unplain


class Unreadable(ValueError):
    """The answers are not what the driver writes: candidate code wrote between them."""


def read_answers(output: bytes, asked: Sequence[str]) -> tuple[Observed, ...]:
    """Return what came of the calls, in the order asked; fewer where the process ended early.

    Args:
        output: Standard output of the driver. A last line without its end is left out.
        asked: Ids of the calls in the order in which they were given to the driver.

    Raises:
        Unreadable: A line is no answer, or not the one whose turn it was.
    """
    lines = output.split(b"\n")[:-1]
    if len(lines) > len(asked):
        message = f"{len(lines)} answers to {len(asked)} calls"
        raise Unreadable(message)
    return tuple(_answer(line, expected) for line, expected in zip(lines, asked, strict=False))


def fault_in(observed: Observed, expected: Expectation) -> str | None:
    """Return what is wrong with ``observed``, in words; ``None`` = nothing.

    The words quote at most `SHOWN` characters of what candidate code returned, escaped.
    """
    match expected, observed:
        case Raises(name=name), Raised(names=names) if name in names:
            return None
        case Equals(value=value), Returned(value=got):
            return None if same(value, got) else f"returned {quote(got)}, not {quote(value)}"
        case Judged(judge=judge), Returned(value=got):
            return judge(got)
        case Raises(name=name), _:
            return f"{_words(observed)}, where {name} was to be raised"
        case _:
            return _words(observed)


def same(left: Json, right: Json) -> bool:
    """Tell whether two plain values are equal, types included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def quote(value: Json) -> str:
    """Return ``value`` for a sentence: ASCII, one line, shortened."""
    text = ascii(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _words(observed: Observed) -> str:
    match observed:
        case Returned(value=value):
            return f"returned {quote(value)}"
        case Unplain(kind=kind):
            return f"returned {quote(kind)}, which is no plain data"
        case Raised(names=names, message=message):
            return f"raised {quote(names[0] if names else '')}: {quote(message)}"


def _answer(line: bytes, call_id: str) -> Observed:
    try:
        found = json.loads(line, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        raise Unreadable("a line is no JSON") from None
    match found:
        case {"id": str(own), **rest} if own == call_id:
            pass
        case _:
            raise Unreadable("a line answers another call")
    match rest:
        case {"value": value} if len(rest) == 1 and _depth_is_fine(value):
            return Returned(value=value)
        case {"raised": list(names), "message": str(message)} if len(rest) == 2:  # noqa: PLR2004 - both
            return Raised(names=tuple(str(name) for name in names[:20]), message=message)
        case {"unplain": str(kind)} if len(rest) == 1:
            return Unplain(kind=kind)
    raise Unreadable("a line has another shape than an answer")


def _no_number(name: str) -> float:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _depth_is_fine(value: Json) -> bool:
    """Tell whether ``value`` can be walked by recursion; no task needs more."""
    level, depth = [value], 0
    while level and depth <= _NESTING:
        nested: list[Json] = []
        for item in level:
            if isinstance(item, dict):
                nested.extend(item.values())
            elif isinstance(item, list):
                nested.extend(item)
        level, depth = nested, depth + 1
    return depth <= _NESTING
