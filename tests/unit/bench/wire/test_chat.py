import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.case import ChatRequest, Message
from bench.model.trial import ToolCall
from bench.wire import PROTOCOLS
from bench.wire.chat import ChatDecoder
from bench.wire.protocol import Decoded


def _decode(*pieces: bytes) -> Decoded:
    decoder = ChatDecoder()
    for read, piece in enumerate(pieces):
        decoder.feed(100 + read, read, piece)
    return decoder.finish()


def _sse(*chunks: object, done: bool = True) -> bytes:
    events = b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks)
    return events + (b"data: [DONE]\n\n" if done else b"")


def _delta(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


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
    seen = _decode(
        _sse({"model": "m1", "system_fingerprint": "fp", **_delta(role="assistant", content="")}),
        _sse(_delta(content="one"), _delta(content=" two"), _delta("stop"), done=False),
    )
    assert (seen.content, seen.finish_reason) == ("one two", "stop")
    assert (seen.response_model, seen.system_fingerprint) == ("m1", "fp")
    assert (seen.first_event_ns, seen.event_count) == (100, 5)
    assert list(seen.deltas.rows()) == [(101, 3, "content", 1), (101, 4, "content", 1)]
    assert seen.fault is None


@pytest.mark.parametrize(
    "delta",
    [
        pytest.param({"reasoning_content": "hm"}, id="reasoning_content"),
        pytest.param({"reasoning": "hm"}, id="reasoning"),
        pytest.param({"reasoning": {"content": "hm"}}, id="an object"),
        pytest.param({"reasoning": {"content": "hm"}, "reasoning_content": "hm"}, id="both"),
        pytest.param({"reasoning": "hm", "reasoning_content": None}, id="one is null"),
    ],
)
def test_reasoning_is_read_in_every_spelling_and_once(delta: dict[str, Any]) -> None:
    seen = _decode(_sse(_delta(**delta), _delta("stop")))
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
    assert _decode(_sse(_delta(content=content))).content == "ab"


@pytest.mark.parametrize("content", ["", None, [], 5, [7]], ids=repr)
def test_content_without_text_is_no_delta(content: object) -> None:
    seen = _decode(_sse(_delta(content=content)))
    assert seen.content == ""
    assert not seen.deltas


def test_one_event_may_hold_reasoning_content_and_a_tool_call() -> None:
    call = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}
    seen = _decode(_sse(_delta(reasoning="r", content="c", tool_calls=[call])))
    assert [row[2] for row in seen.deltas.rows()] == ["reasoning", "content", "tool"]


def test_only_the_first_choice_is_read() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
    seen = _decode(_sse(other, _delta(content="yes")))
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
    seen = _decode(noise, _sse(_delta(content="a"), done=False), noise, _sse(_delta("stop")))
    assert (seen.content, seen.finish_reason, seen.fault) == ("a", "stop", None)


def test_events_after_done_still_count_and_done_may_come_twice() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    seen = _decode(_sse(_delta("stop"), usage), _sse(usage))
    assert seen.usage is not None
    assert (seen.usage.prompt_tokens, seen.usage.completion_tokens) == (3, 2)


def test_a_last_event_without_its_blank_line_is_read() -> None:
    assert _decode(_sse(_delta("stop"), done=False)[:-2]).finish_reason == "stop"


def test_a_last_event_that_was_cut_is_not_called_wrong_json() -> None:
    seen = _decode(_sse(_delta(content="a"), _delta("stop"), done=False)[:-9])
    assert (seen.content, seen.finish_reason, seen.fault) == ("a", None, None)


def test_fields_are_the_last_that_were_said() -> None:
    seen = _decode(
        _sse(
            {"id": "1", "provider": "a", "model": "m", **_delta(content="x")},
            {"id": "1", "provider": None, **_delta("stop")},
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


# ---- tool calls ----------------------------------------------------------------------------------


def _pieces(*pieces: dict[str, Any]) -> tuple[ToolCall, ...]:
    return _decode(_sse(*(_delta(tool_calls=[piece]) for piece in pieces))).tool_calls


def _piece(name: str | None = None, arguments: Any = None, **rest: Any) -> dict[str, Any]:
    return {**rest, "function": {"name": name, "arguments": arguments}}


_TWO = (ToolCall(id="a", name="f", arguments="{}"), ToolCall(id="b", name="g", arguments="[]"))


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(
            [_piece("f", "{", index=0, id="a"), _piece("g", "[]", index=1, id="b"),
             _piece(None, "}", index=0)],
            id="interleaved by index",
        ),
        pytest.param(
            [_piece("g", "[]", index=1, id="b"), _piece("f", "{}", index=0, id="a")],
            id="out of order",
        ),
        pytest.param(
            [_piece("f", "{", id="a"), _piece(None, "}"), _piece("g", "[]", id="b")],
            id="no index",
        ),
        pytest.param(
            [_piece("f", "{", id="a"), _piece("f", "}", id="a"), _piece("g", "[]", id="b")],
            id="no index, id and name every time",
        ),
        pytest.param(
            [_piece("f", "{", index=0, id="a"), _piece("f", "}", index=0, id="a"),
             _piece("g", "[]", index=1, id="b")],
            id="id and name every time",
        ),
        pytest.param(
            [_piece("f", "{}", index=0, id="a"), _piece("g", "[", index=0, id="b"),
             _piece(None, "]", index=0)],
            id="index 0 for every call",
        ),
        pytest.param(
            [_piece("f", "{", index=0, id="a"), _piece(None, "}", index=0, id="x"),
             _piece("g", "[]", index=1, id="b")],
            id="another id in every piece",
        ),
        pytest.param(
            [_piece("f", {}, index=0, id="a"), _piece("g", [], index=1, id="b")],
            id="arguments that are no string",
        ),
    ],
)  # fmt: skip
def test_two_calls_are_told_apart(pieces: list[dict[str, Any]]) -> None:
    assert _pieces(*pieces) == _TWO


def test_name_and_arguments_arrive_in_pieces() -> None:
    assert _pieces(
        _piece("get_", index=0, id="a"),
        _piece("weather", index=0),
        _piece(None, '{"x"', index=0),
        _piece("", ":1}", index=0),
    ) == (ToolCall(id="a", name="get_weather", arguments='{"x":1}'),)


def test_calls_without_index_and_id_are_told_apart_by_their_names() -> None:
    assert [call.name for call in _pieces(_piece("f", "{}"), _piece("g", "[]"))] == ["f", "g"]


def test_an_empty_piece_is_no_delta() -> None:
    seen = _decode(_sse(_delta(tool_calls=[{"index": 0, "function": {}}, {"index": 0}])))
    assert seen.tool_calls == ()
    assert not seen.deltas


def test_two_calls_in_one_event_are_one_delta() -> None:
    seen = _decode(
        _sse(_delta(tool_calls=[_piece("f", "{}", index=0), _piece("g", "[]", index=1)]))
    )
    assert [(row[1], row[2]) for row in seen.deltas.rows()] == [(6, "tool")]


def test_a_function_that_is_no_object_is_nothing() -> None:
    assert _decode(_sse(_delta(tool_calls=[{"index": 0, "function": 7}, 5]))).tool_calls == ()


# ---- one JSON body -------------------------------------------------------------------------------


def _body(**message: Any) -> bytes:
    whole = {
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    return json.dumps(whole).encode()


@pytest.mark.parametrize("lead", [b"", b"\xef\xbb\xbf", b"\n  "], ids=["plain", "bom", "blanks"])
def test_json_is_read_though_a_stream_was_asked_for(lead: bytes) -> None:
    body = lead + _body(content="hi", reasoning_content="hm", tool_calls=[_piece("f", "{}")])
    for seen in (_decode(body), _decode(*(body[at : at + 1] for at in range(len(body))))):
        assert seen.is_json
        assert (seen.content, seen.reasoning, seen.finish_reason) == ("hi", "hm", "stop")
        assert [call.name for call in seen.tool_calls] == ["f"]
        assert seen.usage is not None
        assert not seen.deltas
        assert seen.first_event_ns is None
        assert seen.fault is None
        assert seen.fields["model"] == "m"


def test_a_stream_is_read_though_none_was_asked_for() -> None:
    decoder = PROTOCOLS["chat"].decoder(stream=False)
    decoder.feed(1, 0, _sse(_delta(content="hi"), _delta("stop")))
    assert decoder.saw_done
    assert decoder.finish().content == "hi"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        pytest.param(b"<html><title>Oops</title><p>502 Bad</p></html>", "Oops 502 Bad", id="html"),
        pytest.param(b"Internal Server Error", "Internal Server Error", id="plain text"),
        pytest.param(b'{"choices": [', '{"choices": [', id="cut JSON"),
        pytest.param(b'"only a string"', "only a string", id="a string"),
        pytest.param(b"[1, 2]", "[1, 2]", id="an array"),
        pytest.param(b"\xff\xfe{}", "{}", id="no text"),
    ],
)
def test_what_is_no_answer_is_quoted(body: bytes, message: str) -> None:
    fault = _decode(body).fault
    assert fault is not None
    assert fault.code == "invalid_stream_json"
    assert message in fault.message


def test_an_empty_body_is_no_fault_of_the_format() -> None:
    for seen in (_decode(), _decode(b""), _decode(b"\n\n")):
        assert (seen.fault, seen.event_count, seen.is_json) == (None, 0, False)


def test_a_long_blank_beginning_is_not_collected_for_ever() -> None:
    seen = _decode(b"\n" * 5000, _sse(_delta(content="x")))
    assert seen.content == "x"


# ---- errors in the body --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "message"),
    [
        pytest.param({"error": {"message": "boom", "code": 500}}, "boom", id="object"),
        pytest.param({"error": "boom"}, "boom", id="string"),
        pytest.param({"error": "busy", "message": "boom"}, "busy: boom", id="string and message"),
        pytest.param({"error": True, "status": 500, "message": "boom"}, "boom", id="boolean"),
        pytest.param({"error": True}, '{"error":true}', id="bare boolean"),
        pytest.param({"error": {"code": 7}}, '{"code":7}', id="no message"),
        pytest.param({"detail": "boom"}, "boom", id="detail"),
        pytest.param({"detail": [{"msg": "boom"}]}, '[{"msg":"boom"}]', id="detail list"),
        pytest.param({"success": False, "error": {"issues": [1]}}, '{"issues":[1]}', id="success"),
        pytest.param({"success": False, "message": "boom"}, "boom", id="no success, message"),
        pytest.param({"status": "failure", "message": "boom"}, "boom", id="status failure"),
        pytest.param({"type": "error", "error": {"message": "boom"}}, "boom", id="type error"),
        pytest.param({"html-message": "<b>boom</b>"}, "boom", id="html message"),
        pytest.param({"error": {"message": {"detail": "boom"}}}, "boom", id="nested"),
        pytest.param({"error": {"message": "a\x1b[31m\n b"}}, "a[31m b", id="escapes"),
        pytest.param(
            {"error": {"message": "late"}, **_delta("error", content="")}, "late", id="with choices"
        ),
    ],
)
def test_an_error_inside_an_answer_is_found_in_every_shape(
    event: dict[str, Any], message: str
) -> None:
    streamed = _decode(_sse(_delta(content="a"), event))
    whole = _decode(json.dumps(event).encode())
    for seen in (streamed, whole):
        assert seen.fault is not None
        assert (seen.fault.code, seen.fault.message) == ("upstream_stream_error", message)
    assert streamed.content == "a"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"reason": "boom"}', "boom"),
        (b"boom", "boom"),
        (b"{}", "no message"),
        (b" ", "no message"),
    ],
)
def test_an_error_event_is_an_error_whatever_it_holds(data: bytes, message: str) -> None:
    fault = _decode(b"event: error\ndata: " + data + b"\n\n").fault
    assert fault is not None
    assert (fault.code, fault.message) == ("upstream_stream_error", message)


def test_the_finish_reason_error_is_an_error() -> None:
    fault = _decode(_sse(_delta(content="a"), _delta("error"))).fault
    assert fault is not None
    assert fault.code == "upstream_stream_error"


def test_an_event_that_is_not_json_is_quoted_and_the_rest_still_read() -> None:
    seen = _decode(b"data: {oops\n\n", _sse(_delta(content="a"), _delta("stop")))
    assert seen.fault is not None
    assert seen.fault.code == "invalid_stream_json"
    assert "{oops" in seen.fault.message
    assert (seen.content, seen.finish_reason) == ("a", "stop")


def test_the_first_fault_is_the_one_that_counts() -> None:
    seen = _decode(b"data: {oops\n\n", _sse({"error": "boom"}))
    assert seen.fault is not None
    assert seen.fault.code == "invalid_stream_json"


def test_a_long_message_is_cut() -> None:
    fault = _decode(_sse({"error": "x" * 9000})).fault
    assert fault is not None
    assert len(fault.message) == 300


# ---- laws ----------------------------------------------------------------------------------------

_CHUNKS = st.sampled_from(
    [
        _delta(content="wörter €"),
        _delta(reasoning={"content": "hm"}),
        _delta(tool_calls=[_piece("f", '{"a"', index=0, id="a")]),
        _delta("stop"),
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}},
        {"error": "boom"},
        {},
    ]
)


@given(st.lists(_CHUNKS, max_size=6), st.data())
def test_any_cut_gives_the_same_answer(chunks: list[dict[str, Any]], data: st.DataObject) -> None:
    body = _sse(*chunks)
    cut = data.draw(st.integers(0, len(body)))
    whole, halves = _decode(body), _decode(body[:cut], body[cut:])
    for name in ("content", "reasoning", "tool_calls", "finish_reason", "usage", "fault", "fields"):
        assert getattr(halves, name) == getattr(whole, name)
    assert [row[1:3] for row in halves.deltas.rows()] == [row[1:3] for row in whole.deltas.rows()]


@given(st.binary(max_size=60))
def test_no_bytes_make_it_raise(noise: bytes) -> None:
    _decode(noise, b"data: " + noise + b"\n\n", b"event: error\ndata:" + noise + b"\n\n")


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
    _decode(_sse(value, done=False))
    _decode(json.dumps(value).encode())
