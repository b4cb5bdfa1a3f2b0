"""Whatever JSON a stranger sends is read to an end: no value in it may stop other answers."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.stream.deltas import Read
from bench.wire import PROTOCOLS
from bench.wire.protocol import Decoded
from tests.chat_bytes import delta


def as_delta(fields: dict[str, Any]) -> dict[str, Any]:
    return delta(**fields)


HUGE = 10**400
KEYS = st.sampled_from(
    [
        "type",
        "index",
        "text",
        "thinking",
        "signature",
        "summary",
        "data",
        "content",
        "reasoning",
        "reasoning_details",
        "tool_calls",
        "id",
        "name",
        "arguments",
        "function",
        "input",
        "usage",
        "prompt_tokens",
        "completion_tokens",
        "input_tokens",
        "output_tokens",
        "cost",
        "error",
        "message",
        "delta",
        "content_block",
        "item",
        "output_index",
        "item_id",
        "response",
        "output",
        "status",
        "stop_reason",
        "model",
    ]
)
KINDS = st.sampled_from(
    [
        "text",
        "thinking",
        "tool_use",
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "input_json_delta",
        "content_block_start",
        "content_block_delta",
        "message_start",
        "message_delta",
        "reasoning",
        "function_call",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
        "response.function_call_arguments.delta",
    ]
)
VALUES = st.recursive(
    st.one_of(KINDS, st.sampled_from([None, True, 0, -1, 1.5, 1e300, HUGE, "", "a", "error"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, min_size=1, max_size=4)
    ),
    max_leaves=8,
)
EVENTS = st.lists(
    st.one_of(
        st.dictionaries(KEYS, VALUES, max_size=5),
        st.dictionaries(KEYS, VALUES, max_size=3).map(as_delta),
    ),
    min_size=1,
    max_size=4,
)


def read(api: str, *events: bytes) -> Decoded:
    decoder = PROTOCOLS[api].decoder(stream=True)
    for number, event in enumerate(events):
        decoder.feed(Read(number, number, b"data: " + event + b"\n\n"))
    return decoder.finish()


@pytest.mark.parametrize("api", sorted(PROTOCOLS))
@given(events=EVENTS)
@settings(max_examples=150)
def test_no_json_breaks_the_reading(api: str, events: list[dict[str, Any]]) -> None:
    found = read(api, *map(msgspec.json.encode, events))
    msgspec.json.encode([found.usage, dict(found.fields), found.opaque, found.tool_calls])


@pytest.mark.parametrize("strange", [b'"\xff"', b"1e999"], ids=["no text", "no number"])
def test_a_field_that_nobody_reads_may_hold_what_is_no_json(strange: bytes) -> None:
    plain = msgspec.json.encode(delta(content="a"))
    last = b'{"model": "m", "usage": {"prompt_tokens": 1}, "x": %s}' % strange
    found = read("chat", b'{"x": %s, ' % strange + plain[1:], last)
    assert (found.content, found.fault) == ("a", None)
    assert dict(found.fields) == {"usage": {"prompt_tokens": 1}}


def test_a_count_of_hundreds_of_digits_is_none() -> None:
    usage = {"prompt_tokens": HUGE, "completion_tokens": 2, "cost": HUGE}
    found = read("chat", msgspec.json.encode({"choices": [], "usage": usage})).usage
    assert found is not None
    assert (found.prompt_tokens, found.completion_tokens, found.cost_usd) == (None, 2, None)


def test_pieces_of_reasoning_that_are_no_text_are_replaced_by_text() -> None:
    told = [[{"type": ["x"], "text": 5}], [{"type": ["x"], "text": "a"}]]
    call = delta(tool_calls=[{"id": "c", "function": {"name": "f"}}])
    events = [*(delta(reasoning_details=details) for details in told), call]
    found = read("chat", *map(msgspec.json.encode, events))
    assert found.opaque == ({"reasoning_details": [{"type": ["x"], "text": "a"}]},)


def test_a_block_of_thinking_that_is_no_text_is_replaced_by_text() -> None:
    block = {"type": "thinking", "thinking": [1], "signature": 3}
    pieces: list[dict[str, Any]] = [
        {"type": "thinking_delta", "thinking": "why"},
        {"type": "signature_delta", "signature": "s"},
    ]
    events: list[dict[str, Any]] = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": piece} for piece in pieces),
    ]
    found = read("messages", *map(msgspec.json.encode, events))
    assert found.opaque == ({"type": "thinking", "thinking": "why", "signature": "s"},)
