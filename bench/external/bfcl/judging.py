"""Whether a call is one of those that the data allows."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.evaluators.excerpt import excerpt
from bench.evaluators.strict_json import NotJson, parse_strict
from bench.model.trial import Answer, Evaluation

Allowed = Mapping[str, Sequence[Any]]
"""Argument → the values that are right; an empty text among them makes the argument optional."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a function's description says of its arguments."""

    types: Mapping[str, str]
    """By argument, in the data's words."""
    required: frozenset[str]
    """These are never optional, whatever values are allowed."""


_LOOSE = re.compile(r"[ ,./\-_*^]")


def judge_simple_call(
    answer: Answer, *, name: str, allowed: Allowed, described: Described
) -> Evaluation:
    """Judge a call by the values allowed for each argument.

    Args:
        answer: What the model said.
        name: Of the function, as it was offered.
        allowed: By argument.
        described: The function's own description.
    """
    problem = _problem(answer, name, allowed, described)
    expected = f"{name}({_shown(allowed)})"
    calls = "; ".join(f"{call.name[:80]}({call.arguments[:200]})" for call in answer.tool_calls[:8])
    return Evaluation(
        passed=problem is None,
        answer=excerpt(calls) or None,
        expected=excerpt(expected),
        detail=None if problem is None else excerpt(problem),
        score=1.0 if problem is None else 0.0,
        metrics={"toolCalls": len(answer.tool_calls)},
    )


def right_arguments(allowed: Allowed, required: frozenset[str]) -> dict[str, Any]:
    """Return arguments that are right: of each the first value, optional ones left out."""
    said = {name: [one for one in values if one != ""] for name, values in allowed.items()}
    return {
        name: _first(said[name][0])
        for name, values in allowed.items()
        if said[name] and ("" not in values or name in required)
    }


def _first(value: object) -> object:
    """Return a plain value: inside an object, each field has a list of allowed values again."""
    if isinstance(value, list):
        return [_first(one) for one in value]
    if isinstance(value, dict):
        return {
            key: _first(options[0])
            for key, inner in value.items()
            if "" not in (options := _options(inner)) and options
        }
    return value


def _problem(answer: Answer, name: str, allowed: Allowed, described: Described) -> str | None:
    calls = answer.tool_calls
    if len(calls) != 1:
        return f"{len(calls)} calls instead of one"
    if calls[0].name != name:
        return f"`{calls[0].name[:80]}` was called instead of `{name}`"
    return _argument_problem(calls[0].arguments, allowed, described)


def _argument_problem(text: str, allowed: Allowed, described: Described) -> str | None:
    try:
        given = parse_strict(text)
    except NotJson as error:
        return f"the arguments are no JSON: {error}"
    if not isinstance(given, dict):
        return "the arguments are no JSON object"
    unknown = [key for key in given if key not in allowed]
    if unknown:
        return f"an argument that the function doesn't have: {unknown[0][:80]}"
    missing = [
        key
        for key, values in allowed.items()
        if key not in given and ("" not in values or key in described.required)
    ]
    types = described.types
    wrong = [key for key in given if not _is_allowed(given[key], allowed[key], types.get(key, ""))]
    lacking = f"missing argument: {', '.join(missing)}" if missing else None
    return lacking or (f"wrong value: {', '.join(wrong)}" if wrong else None)


def _is_allowed(value: object, allowed: Sequence[Any], kind: str) -> bool:
    if kind in {"integer", "float"} and not _is_number(value, whole=kind == "integer"):
        return False
    if kind == "boolean" and not isinstance(value, bool):
        return False
    return any(_same(value, one) for one in allowed)


def _is_number(value: object, *, whole: bool) -> bool:
    # A float parameter takes 5 for 5.0, an integer parameter does not take 5.0 for 5.
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


def _same(value: object, allowed: object) -> bool:
    if isinstance(allowed, bool) or isinstance(value, bool):
        return value is allowed
    if isinstance(allowed, str):
        return isinstance(value, str) and _normal(value) == _normal(allowed)
    if isinstance(allowed, list):
        return (
            isinstance(value, list)
            and len(value) == len(allowed)
            and all(map(_same, value, allowed))
        )
    if isinstance(allowed, dict):
        return isinstance(value, dict) and _same_fields(value, allowed)
    return value == allowed


def _same_fields(value: Mapping[str, Any], allowed: Mapping[str, Any]) -> bool:
    """Compare an object; each field of ``allowed`` has a list of allowed values."""
    return all(
        key in allowed and any(_same(inner, one) for one in _options(allowed[key]))
        for key, inner in value.items()
    ) and all(key in value or "" in _options(options) for key, options in allowed.items())


def _options(options: object) -> Sequence[Any]:
    return options if isinstance(options, list) else [options]


def _normal(text: str) -> str:
    """Return text as the leaderboard compares it: no spaces or `,./-_*^`, small, one quote."""
    return _LOOSE.sub("", text).lower().replace("'", '"')


def _shown(allowed: Allowed) -> str:
    return ", ".join(
        f"{name}={json.dumps(values[0] if values else None, ensure_ascii=False)}"
        for name, values in allowed.items()
    )
