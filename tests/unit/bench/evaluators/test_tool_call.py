import json

import pytest

from bench.evaluators.tool_call import call_text, judge_tool_call
from bench.model.trial import Answer, ToolCall

WANTED = {"title": "Permit", "count": 2, "loud": False}


def judge(*calls, content=""):
    tool_calls = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls)
    answer = Answer(content=content, tool_calls=tool_calls)
    return judge_tool_call(answer, name="remind", arguments=WANTED)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(json.dumps(WANTED), id="plain"),
        pytest.param(json.dumps(dict(reversed(WANTED.items()))), id="other-order"),
        pytest.param(json.dumps(WANTED, indent=2), id="indented"),
        pytest.param(json.dumps(WANTED | {"count": 2.0}), id="whole-number-with-point"),
    ],
)
def test_the_one_right_call_passes(arguments):
    verdict = judge(("remind", arguments), content="I set it.")
    assert verdict.passed is True
    assert verdict.answer == verdict.expected == call_text("remind", WANTED)
    assert verdict.metrics == {"toolCalls": 1, "toolNamed": True}


@pytest.mark.parametrize(
    ("calls", "detail"),
    [
        pytest.param([], "no tool was called", id="none"),
        pytest.param([("remind", json.dumps(WANTED))] * 2, "2 calls instead of one", id="twice"),
        pytest.param(
            [("plan", json.dumps(WANTED))], "`plan` was called instead of `remind`", id="other-tool"
        ),
        pytest.param(
            [("Remind", json.dumps(WANTED))],
            "`Remind` was called instead of `remind`",
            id="case-of-the-name",
        ),
        pytest.param(
            [("remind", json.dumps(WANTED | {"title": "permit"}))],
            "wrong or missing argument: title",
            id="value",
        ),
        pytest.param(
            [("remind", json.dumps(WANTED | {"count": "2"}))],
            "wrong or missing argument: count",
            id="text-for-number",
        ),
        pytest.param(
            [("remind", json.dumps(WANTED | {"loud": 0}))],
            "wrong or missing argument: loud",
            id="zero-for-false",
        ),
        pytest.param(
            [("remind", '{"title": "Permit"}')],
            "wrong or missing argument: count, loud",
            id="missing",
        ),
        pytest.param(
            [("remind", json.dumps(WANTED | {"note": ""}))],
            "more arguments than wanted",
            id="extra",
        ),
        pytest.param([("remind", "[1]")], "the arguments are no JSON object", id="list"),
        pytest.param(
            [("remind", '{"title": 1, "title": 2}')],
            "the arguments are no JSON: an object names a key twice",
            id="key-twice",
        ),
    ],
)
def test_other_calls_fail_and_say_why(calls, detail):
    verdict = judge(*calls)
    assert verdict.passed is False
    assert verdict.detail == detail
    assert verdict.score == 0.0


def test_a_call_written_as_text_is_no_call():
    verdict = judge(content=f"remind({json.dumps(WANTED)})")
    assert (verdict.passed, verdict.answer) == (False, None)


@pytest.mark.parametrize(
    "arguments", ["", '{"title": "Perm', "\ud800", "\x00", "{'a': 1}", '{"a":' * 9_000]
)
def test_arguments_that_are_no_json_fail(arguments):
    verdict = judge(("remind", arguments))
    assert verdict.detail is not None
    assert verdict.detail.startswith("the arguments are no JSON: ")


def test_a_thousand_calls_are_shown_short():
    verdict = judge(*[("n" * 1_000, "a" * 1_000)] * 1_000)
    assert verdict.answer is not None
    assert len(verdict.answer) == 200
