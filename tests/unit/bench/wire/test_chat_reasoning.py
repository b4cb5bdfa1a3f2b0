"""What chat completions providers want back with the results of tools, kept and repeated."""

from typing import Any

import pytest

from bench.model.case import ChatRequest, Message
from tests.api_bytes import called, encoded
from tests.chat_bytes import decode, delta, piece, sse

CALL = piece("f", "{}", index=0, id="c")


def echoed(*chunks: dict[str, Any]) -> dict[str, Any]:
    seen = decode(sse(*chunks, delta("tool_calls")))
    said = Message(
        role="assistant", content=seen.content, tool_calls=(called("c"),), opaque=seen.opaque
    )
    message: dict[str, Any] = encoded("chat", ChatRequest(messages=(said,)))["messages"][0]
    return message


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_in_the_field_in_which_it_came(field: str) -> None:
    message = echoed(delta(**{field: "h"}), delta(**{field: "m"}), delta(tool_calls=[CALL]))
    assert message[field] == "hm"
    assert message["tool_calls"] == [called("c")]


def test_reasoning_without_a_call_is_not_repeated() -> None:
    seen = decode(sse(delta(reasoning_content="hm"), delta(content="x"), delta("stop")))
    assert seen.opaque == ()


def test_details_of_reasoning_are_put_together_and_go_before_the_text() -> None:
    message = echoed(
        delta(reasoning="h", reasoning_details=[{"type": "reasoning.text", "text": "h"}]),
        delta(reasoning="m", reasoning_details=[{"type": "reasoning.text", "text": "m"}]),
        delta(reasoning_details=[{"type": "reasoning.text", "signature": "s", "text": None}]),
        delta(reasoning_details=[{"type": "reasoning.encrypted", "index": 1, "data": "x"}]),
        delta(tool_calls=[CALL]),
    )
    assert message["reasoning_details"] == [
        {"type": "reasoning.text", "text": "hm", "signature": "s"},
        {"type": "reasoning.encrypted", "index": 1, "data": "x"},
    ]
    assert "reasoning" not in message


def test_what_stands_beside_a_call_goes_back_beside_it() -> None:
    extra = {"google": {"thought_signature": "s"}}
    message = echoed(delta(tool_calls=[{**CALL, "extra_content": extra}]))
    assert message["tool_calls"] == [{**called("c"), "extra_content": extra}]


def test_what_stood_beside_a_call_that_is_gone_is_left_out() -> None:
    part = {"toolCall": 3, "extra_content": {}}
    said = Message(role="assistant", tool_calls=(called("c"),), opaque=(part,))
    body = encoded("chat", ChatRequest(messages=(said,)))
    assert body["messages"][0]["tool_calls"] == [called("c")]


def test_strange_shapes_are_read_leniently() -> None:
    strange: dict[str, Any] = {
        "content": {"text": "x"},
        "reasoning_details": [7, {"type": "t", "text": "h"}],
    }
    message = echoed(delta(**strange, tool_calls=[{**CALL, "extra_content": 5}]))
    assert (message["content"], message["reasoning_details"]) == (
        "x",
        [{"type": "t", "text": "h"}],
    )
