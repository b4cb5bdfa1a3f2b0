"""Which calls the data of BFCL allows."""

import json
from typing import Any

import pytest

from bench.external.bfcl.judging import Described, judge_simple_call, right_arguments
from bench.model.trial import Answer, ToolCall

ALLOWED: dict[str, list[Any]] = {
    "city": ["New York", "NYC"],
    "days": [3],
    "unit": ["metric", ""],
    "share": [0.5, 5],
    "flags": [["a", "b"]],
    "where": [{"x": [1, 2], "y": ["k", ""]}],
    "is_open": [True],
}
TYPES = {"days": "integer", "share": "float", "is_open": "boolean", "city": "string"}
DESCRIBED = Described(types=TYPES, required=frozenset({"city"}))
RIGHT = {
    "city": "new-york.",
    "days": 3,
    "share": 5,
    "flags": ["A", "b"],
    "where": {"x": 2},
    "is_open": True,
}


def judge(*calls):
    return judge_simple_call(
        Answer(tool_calls=calls), name="f", allowed=ALLOWED, described=DESCRIBED
    )


def call(arguments, name="f"):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(name=name, arguments=text)


def test_values_are_compared_as_the_leaderboard_does():
    assert judge(call(RIGHT)).passed is True


def test_the_first_allowed_values_are_right():
    made = right_arguments(ALLOWED, DESCRIBED.required)
    assert "unit" not in made
    assert made["where"] == {"x": 1}
    assert judge(call(made)).passed is True


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ((), "0 calls"),
        ((call(RIGHT), call(RIGHT)), "2 calls"),
        ((call(RIGHT, "g"),), "`g` was called"),
        ((call("{"),), "no JSON"),
        ((call("[]"),), "no JSON object"),
        ((call({**RIGHT, "more": 1}),), "doesn't have: more"),
        ((call({k: v for k, v in RIGHT.items() if k != "days"}),), "missing argument: days"),
        ((call({**RIGHT, "days": 3.0}),), "wrong value: days"),
        ((call({**RIGHT, "days": True}),), "wrong value: days"),
        ((call({**RIGHT, "share": "0.5"}),), "wrong value: share"),
        ((call({**RIGHT, "is_open": 1}),), "wrong value: is_open"),
        ((call({**RIGHT, "flags": ["a"]}),), "wrong value: flags"),
        ((call({**RIGHT, "flags": "ab"}),), "wrong value: flags"),
        ((call({**RIGHT, "where": {"x": 3}}),), "wrong value: where"),
        ((call({**RIGHT, "where": {"y": "k"}}),), "wrong value: where"),
        ((call({**RIGHT, "where": 1}),), "wrong value: where"),
        ((call({**RIGHT, "city": 7}),), "wrong value: city"),
    ],
)
def test_anything_else_is_wrong_and_says_why(calls, reason):
    verdict = judge(*calls)
    assert verdict.passed is False
    assert reason in (verdict.detail or "")


def test_what_the_function_requires_is_never_optional():
    described = Described(types={}, required=frozenset({"a"}))
    allowed = {"a": ["", "x"], "b": ["", "y"]}
    assert right_arguments(allowed, described.required) == {"a": "x"}
    verdict = judge_simple_call(
        Answer(tool_calls=(call({"b": "y"}),)), name="f", allowed=allowed, described=described
    )
    assert verdict.detail == "missing argument: a"
