"""Every evaluator of every case against answers that are made to break it."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cases import CASES
from bench.evaluators import evaluate
from bench.model.trial import Answer, ToolCall

JUDGED = {
    case_id: case.build(1) for case_id, case in CASES.items() if case.build(1).evaluate is not None
}

HUGE = 10_000_000
UNITS = {
    "final-labels": "FINAL:",
    "decorated-labels": "*FINAL*: ",
    "final-lines": "FINAL: 7\n",
    "spaces": " ",
    "line-breaks": "\n",
    "emphasis": "*",
    "backticks": "`",
    "fence-and-spaces": "``` ",
    "brackets": "[",
    "objects": '{"a":',
    "digits": "9",
    "grouped-digits": "9,999",
    "boxes": "\\boxed{",
    "dollars": "$",
    "quotes": '"',
    "surrogates": "\ud800",
    "line-separators": "\u2028",
    "invisible": "\u200b",
    "nul": "\x00",
    "markup": "<script>",
    "terminal": "\x1b[2J\x1b]0;x\x07",
}


def check(case_id: str, answer: Answer) -> None:
    verdict = evaluate(JUDGED[case_id], answer)
    assert verdict is not None
    assert verdict.passed is False
    assert "raised" not in (verdict.detail or "")
    # What is judged can be written down, and is small however long the answer is.
    assert len(msgspec.json.encode(verdict)) < 4_000


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_ten_megabytes_of_anything_fail_in_bounded_work(unit):
    content = unit * (HUGE // len(unit))
    call = ToolCall(name=unit * 1_000, arguments=content)
    for case_id in JUDGED:
        check(case_id, Answer(content=content, tool_calls=(call,)))


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_final_line_filled_with_anything_fails(unit):
    for case_id in JUDGED:
        check(case_id, Answer(content=f"FINAL: {unit * (60_000 // len(unit))}"))


@given(st.sampled_from(sorted(JUDGED)), st.text(), st.text(), st.text())
def test_no_text_makes_an_evaluator_raise(case_id, content, name, arguments):
    call = ToolCall(name=name, arguments=arguments)
    for answer in (Answer(content=content), Answer(content=content, tool_calls=(call, call))):
        verdict = evaluate(JUDGED[case_id], answer)
        assert verdict is not None
        assert "raised" not in (verdict.detail or "")
        msgspec.json.encode(verdict)


fragments = st.sampled_from(
    ["FINAL:", "final", "\n", " ", "**", "`", "```", "\\boxed{", "}", "$", "1,2", "-", ".", "{", '"',
     "[", "UNKNOWN", "\ud800", "\u2212", "\u0661", "\x00", ":", ",", "null", "NaN"]
)  # fmt: skip


@given(st.sampled_from(sorted(JUDGED)), st.lists(fragments, max_size=30).map("".join))
def test_no_mixture_of_syntax_makes_an_evaluator_raise(case_id, content):
    call = ToolCall(name="create_reminder", arguments=content)
    verdict = evaluate(JUDGED[case_id], Answer(content=content, tool_calls=(call,)))
    assert verdict is not None
    assert "raised" not in (verdict.detail or "")
    msgspec.json.encode(verdict)


@pytest.mark.parametrize("case_id", JUDGED)
def test_a_verdict_is_the_same_whatever_the_reasoning_said(case_id):
    instance = JUDGED[case_id]
    assert instance.book is not None
    thoughtful: dict[str, Any] = {"reasoning": "FINAL: 0\n[" * 1_000}
    answer = msgspec.structs.replace(instance.book, **thoughtful)
    assert evaluate(instance, answer) == evaluate(instance, instance.book)
