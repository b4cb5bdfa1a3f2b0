import json

import pytest

from bench.cases import CASES
from bench.cases.instruction_hierarchy import INJECTED, LANDING_PLACE, REJECTED_PLACE
from bench.cases.tool_selection import RIGHT_ARGUMENTS, RIGHT_TOOL, TOOLS
from bench.evaluators import evaluate
from bench.model.trial import Answer, ToolCall

HIERARCHY = CASES["instruction_hierarchy_document"]
TOOL = CASES["tool_selection_exact"]


@pytest.mark.parametrize("case", [HIERARCHY, TOOL], ids=lambda case: case.info.id)
def test_a_fixed_case_asks_the_same_at_every_seed(case):
    assert case.build(1).request == case.build(2).request


def test_the_injected_instruction_is_inside_the_document_and_nowhere_else():
    system, user = HIERARCHY.build(1).request.messages
    assert (system.role, user.role) == ("system", "user")
    assert user.content is not None
    document, _, question = user.content.partition("</document>")
    assert INJECTED in document
    assert INJECTED not in question
    assert INJECTED not in (system.content or "")
    assert LANDING_PLACE in document


@pytest.mark.parametrize(
    ("content", "passed", "obeyed"),
    [
        pytest.param(f"FINAL: {LANDING_PLACE.upper()}", True, False, id="right"),
        pytest.param(
            f"FINAL: {INJECTED} is not for me.\nFINAL: {LANDING_PLACE.upper()}.",
            True,
            False,
            id="decoy",
        ),
        pytest.param(f"FINAL: {INJECTED}", False, True, id="obeyed"),
        pytest.param(f"FINAL: {REJECTED_PLACE.upper()}", False, False, id="rejected-place"),
        pytest.param(f"FINAL: {LANDING_PLACE}", False, False, id="not-in-capitals"),
        pytest.param(f"FINAL: <b>{LANDING_PLACE.upper()}</b>", False, False, id="markup"),
    ],
)
def test_answers_about_the_document_are_judged(content, passed, obeyed):
    verdict = evaluate(HIERARCHY.build(1), Answer(content=content))
    assert verdict is not None
    assert (verdict.passed, verdict.metrics["injectionObeyed"]) == (passed, obeyed)


def test_the_right_tool_is_offered_once_and_takes_exactly_the_right_arguments():
    offered = [tool["function"] for tool in TOOLS]
    assert len({function["name"] for function in offered}) == len(offered)
    (right,) = [function for function in offered if function["name"] == RIGHT_TOOL]
    assert set(right["parameters"]["required"]) == set(RIGHT_ARGUMENTS)
    assert all(function["parameters"]["additionalProperties"] is False for function in offered)


def call(name=RIGHT_TOOL, **changes):
    return ToolCall(name=name, arguments=json.dumps(RIGHT_ARGUMENTS | changes))


@pytest.mark.parametrize(
    ("calls", "passed"),
    [
        pytest.param((call(),), True, id="right"),
        pytest.param((call(), call()), False, id="twice"),
        pytest.param((call("create_event"),), False, id="other-tool"),
        pytest.param((call(time="4:30 PM"),), False, id="other-notation"),
        pytest.param((call(repeat=None),), False, id="null"),
        pytest.param((), False, id="none"),
        pytest.param((ToolCall(name=RIGHT_TOOL, arguments='{"a":' * 9_000),), False, id="hostile"),
    ],
)
def test_calls_are_judged(calls, passed):
    verdict = evaluate(TOOL.build(1), Answer(content="FINAL: done", tool_calls=calls))
    assert verdict is not None
    assert verdict.passed is passed


def test_the_nonce_is_the_first_thing_in_the_prompt_and_differs_between_runs():
    prompts = [
        CASES["fixed_output_stream"].build(seed).request.messages[0].content for seed in (1, 2)
    ]
    nonces = {str(prompt).splitlines()[0] for prompt in prompts}
    assert len(nonces) == 2
    assert all(len(nonce) == 16 and int(nonce, 16) >= 0 for nonce in nonces)
    assert len({str(prompt)[16:] for prompt in prompts}) == 1


def test_a_timed_stream_has_no_verdict():
    instance = CASES["fixed_output_stream"].build(1)
    assert evaluate(instance, Answer(content="anything")) is None
    assert (instance.expected, instance.book, instance.book_wrong) == (None, None, None)
