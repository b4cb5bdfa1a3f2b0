"""Exactly one tool call, the right tool, the right arguments. Text beside the call is allowed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.evaluators.excerpt import excerpt
from bench.evaluators.strict_json import NotJson, parse_strict, same_value
from bench.model.trial import Answer, Evaluation, ToolCall

_MAX_NAMED_CALLS = 8


def judge_tool_call(answer: Answer, *, name: str, arguments: Mapping[str, Any]) -> Evaluation:
    """Compare the answer's tool calls with the one wanted; the order of arguments is free."""
    calls = answer.tool_calls
    problem = _problem(calls, name, arguments)
    passed = problem is None
    expected = call_text(name, arguments)
    return Evaluation(
        passed=passed,
        answer=expected if passed else _said(calls),
        expected=expected,
        detail=None if problem is None else excerpt(problem),
        score=1.0 if passed else 0.0,
        metrics={"toolCalls": len(calls), "toolNamed": any(call.name == name for call in calls)},
    )


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as one line of text, arguments in alphabetical order."""
    return f"{name}({json.dumps(arguments, ensure_ascii=False, sort_keys=True)})"


def _problem(calls: Sequence[ToolCall], name: str, arguments: Mapping[str, Any]) -> str | None:
    if not calls:
        return "no tool was called"
    if len(calls) > 1:
        return f"{len(calls)} calls instead of one"
    if calls[0].name != name:
        return f"`{calls[0].name[:80]}` was called instead of `{name}`"
    return _argument_problem(calls[0].arguments, arguments)


def _argument_problem(text: str, wanted: Mapping[str, Any]) -> str | None:
    try:
        seen = parse_strict(text)
    except NotJson as error:
        return f"the arguments are no JSON: {error}"
    if not isinstance(seen, dict):
        return "the arguments are no JSON object"
    wrong = [key for key in wanted if key not in seen or not same_value(seen[key], wanted[key])]
    if wrong:
        return f"wrong or missing argument: {', '.join(wrong)}"
    return None if len(seen) == len(wanted) else "more arguments than wanted"


def _said(calls: Sequence[ToolCall]) -> str | None:
    shown = [f"{call.name[:80]}({call.arguments[:200]})" for call in calls[:_MAX_NAMED_CALLS]]
    return excerpt("; ".join(shown)) if shown else None
