import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.case import ChatRequest, Message
from bench.wire import PROTOCOLS
from tests.chat_bytes import decode, delta, piece, sse

# ---- the request ---------------------------------------------------------------------------------


def _encoded(request: ChatRequest, *, stream: bool = True) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.json.decode(
        PROTOCOLS["chat"].encode(request, model="p/m", stream=stream)
    )
    return body


_HELLO = (Message(role="user", content="hi"),)


def test_a_request_asks_for_usage_in_the_stream_and_leaves_out_what_is_not_set() -> None:
    assert _encoded(ChatRequest(messages=_HELLO)) == {
        "model": "p/m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_without_streaming_no_stream_options_are_sent() -> None:
    body = _encoded(ChatRequest(messages=_HELLO), stream=False)
    assert body["stream"] is False
    assert "stream_options" not in body


def test_named_fields_win_over_extra_ones_and_zero_is_a_value() -> None:
    body = _encoded(
        ChatRequest(
            messages=_HELLO,
            max_tokens=5,
            temperature=0.0,
            reasoning_effort="low",
            tools=({"type": "function"},),
            tool_choice="auto",
            extra={"max_tokens": 9, "model": "other", "top_p": 1},
        )
    )
    assert (body["max_tokens"], body["temperature"], body["top_p"]) == (5, 0.0, 1)
    assert (body["model"], body["reasoning_effort"]) == ("p/m", "low")
    assert (body["tools"], body["tool_choice"]) == ([{"type": "function"}], "auto")


def test_tool_messages_keep_the_shape_of_the_wire() -> None:
    calls = ({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},)
    body = _encoded(
        ChatRequest(
            messages=(
                Message(role="assistant", tool_calls=calls),
                Message(role="tool", content="ok", tool_call_id="c1"),
            )
        )
    )
    assert body["messages"] == [
        {"role": "assistant", "content": None, "tool_calls": list(calls)},
        {"role": "tool", "content": "ok", "tool_call_id": "c1"},
    ]


# ---- the stream ----------------------------------------------------------------------------------


def test_an_answer_is_put_together_from_its_deltas() -> None:
    seen = decode(
        sse({"model": "m1", "system_fingerprint": "fp", **delta(role="assistant", content="")}),
        sse(delta(content="one"), delta(content=" two"), delta("stop"), done=False),
    )
    assert (seen.content, seen.finish_reason) == ("one two", "stop")
    assert (seen.response_model, seen.system_fingerprint) == ("m1", "fp")
    assert (seen.first_event_ns, seen.event_count) == (100, 5)
    assert list(seen.deltas.rows()) == [(101, 3, "content", 1), (101, 4, "content", 1)]
    assert seen.fault is None


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"reasoning_content": "hm"}, id="reasoning_content"),
        pytest.param({"reasoning": "hm"}, id="reasoning"),
        pytest.param({"reasoning": {"content": "hm"}}, id="an object"),
        pytest.param({"reasoning": {"content": "hm"}, "reasoning_content": "hm"}, id="both"),
        pytest.param({"reasoning": "hm", "reasoning_content": None}, id="one is null"),
    ],
)
def test_reasoning_is_read_in_every_spelling_and_once(fields: dict[str, Any]) -> None:
    seen = decode(sse(delta(**fields), delta("stop")))
    assert seen.reasoning == "hm"
    assert [row[2] for row in seen.deltas.rows()] == ["reasoning"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], id="parts"),
        pytest.param({"text": "ab"}, id="an object"),
        pytest.param("ab", id="a string"),
    ],
)
def test_content_in_parts_is_joined(content: object) -> None:
    assert decode(sse(delta(content=content))).content == "ab"


@pytest.mark.parametrize("content", ["", None, [], 5, [7]], ids=repr)
def test_content_without_text_is_no_delta(content: object) -> None:
    seen = decode(sse(delta(content=content)))
    assert seen.content == ""
    assert not seen.deltas


def test_one_event_may_hold_reasoning_content_and_a_tool_call() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    seen = decode(sse(delta(reasoning="r", content="c", tool_calls=[call])))
    assert [row[2] for row in seen.deltas.rows()] == ["reasoning", "content", "tool"]


def test_only_the_first_choice_is_read() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
    seen = decode(sse(other, delta(content="yes")))
    assert (seen.content, seen.finish_reason) == ("yes", None)


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(b": ping\n\n", id="comment"),
        pytest.param(b"data: {}\n\n", id="empty object"),
        pytest.param(b"event: ping\ndata: 17:00\n\n", id="ping that is not JSON"),
        pytest.param(b"data:\n\n", id="empty data"),
        pytest.param(b"data: 5\n\n", id="a number"),
        pytest.param(b'data: {"choices": []}\n\n', id="no choices"),
        pytest.param(b'data: {"choices": [{"index": 0, "delta": {}}]}\n\n', id="empty delta"),
        pytest.param(b'data: {"choices": null, "usage": null}\n\n', id="nulls"),
        pytest.param(b'data: {"choices": [{"delta": null}, 5]}\n\n', id="odd choices"),
        pytest.param(b'data: {"choices": 7, "usage": []}\n\n', id="other types"),
        pytest.param(b'data: {"choices": [], "error": null}\n\n', id="no error"),
    ],
)
def test_noise_changes_nothing(noise: bytes) -> None:
    seen = decode(noise, sse(delta(content="a"), done=False), noise, sse(delta("stop")))
    assert (seen.content, seen.finish_reason, seen.fault) == ("a", "stop", None)


def test_events_after_done_still_count_and_done_may_come_twice() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    seen = decode(sse(delta("stop"), usage), sse(usage))
    assert seen.usage is not None
    assert (seen.usage.prompt_tokens, seen.usage.completion_tokens) == (3, 2)


def test_a_last_event_without_its_blank_line_is_read() -> None:
    assert decode(sse(delta("stop"), done=False)[:-2]).finish_reason == "stop"


def test_a_last_event_that_was_cut_is_not_called_wrong_json() -> None:
    seen = decode(sse(delta(content="a"), delta("stop"), done=False)[:-9])
    assert (seen.content, seen.finish_reason, seen.fault) == ("a", None, None)


def test_fields_are_the_last_that_were_said() -> None:
    seen = decode(
        sse(
            {"id": "1", "provider": "a", "model": "m", **delta(content="x")},
            {"id": "1", "provider": None, **delta("stop")},
            {
                "id": "1",
                "metadata": {"cached": False},
                "choices": [],
                "usage": {"prompt_tokens": 1},
            },
        )
    )
    assert seen.fields == {
        "id": "1",
        "provider": "a",
        "model": "m",
        "metadata": {"cached": False},
        "usage": {"prompt_tokens": 1},
    }


# ---- laws ----------------------------------------------------------------------------------------

_CHUNKS = st.sampled_from(
    [
        delta(content="wörter €"),
        delta(reasoning={"content": "hm"}),
        delta(tool_calls=[piece("f", '{"a"', index=0, id="a")]),
        delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        {"error": "boom"},
        {},
    ]
)


@given(st.lists(_CHUNKS, max_size=6), st.data())
def test_any_cut_gives_the_same_answer(chunks: list[dict[str, Any]], data: st.DataObject) -> None:
    body = sse(*chunks)
    cut = data.draw(st.integers(0, len(body)))
    whole, halves = decode(body), decode(body[:cut], body[cut:])
    for name in ("content", "reasoning", "tool_calls", "finish_reason", "usage", "fault", "fields"):
        assert getattr(halves, name) == getattr(whole, name)
    assert [row[1:3] for row in halves.deltas.rows()] == [row[1:3] for row in whole.deltas.rows()]


@given(st.binary(max_size=60))
def test_no_bytes_make_it_raise(noise: bytes) -> None:
    decode(noise, b"data: " + noise + b"\n\n", b"event: error\ndata:" + noise + b"\n\n")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(["choices", "delta", "message", "error", "usage", "tool_calls", "function",
                         "content", "index", "model", "prompt_tokens", "detail", "success"]),
        inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(_JSON)
def test_no_json_makes_it_raise(value: object) -> None:
    decode(sse(value, done=False))
    decode(json.dumps(value).encode())
