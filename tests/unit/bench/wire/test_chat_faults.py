import json
from typing import Any

import pytest

from bench.stream.deltas import Read
from bench.wire import PROTOCOLS
from bench.wire.faults import excerpt
from tests.chat_bytes import decode, delta, piece, sse

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
    body = lead + _body(content="hi", reasoning_content="hm", tool_calls=[piece("f", "{}")])
    for seen in (decode(body), decode(*(body[at : at + 1] for at in range(len(body))))):
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
    decoder.feed(Read(1, 0, sse(delta(content="hi"), delta("stop"))))
    assert decoder.done_ns == 1
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
    fault = decode(body).fault
    assert fault is not None
    assert fault.code == "invalid_stream_json"
    assert message in fault.message


def test_an_empty_body_is_no_fault_of_the_format() -> None:
    for seen in (decode(), decode(b""), decode(b"\n\n")):
        assert (seen.fault, seen.event_count, seen.is_json) == (None, 0, False)


def test_a_long_blank_beginning_is_not_collected_for_ever() -> None:
    seen = decode(b"\n" * 5000, sse(delta(content="x")))
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
            {"error": {"message": "late"}, **delta("error", content="")}, "late", id="with choices"
        ),
    ],
)
def test_an_error_inside_an_answer_is_found_in_every_shape(
    event: dict[str, Any], message: str
) -> None:
    streamed = decode(sse(delta(content="a"), event))
    whole = decode(json.dumps(event).encode())
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
    fault = decode(b"event: error\ndata: " + data + b"\n\n").fault
    assert fault is not None
    assert (fault.code, fault.message) == ("upstream_stream_error", message)


def test_the_finish_reason_error_is_an_error() -> None:
    fault = decode(sse(delta(content="a"), delta("error"))).fault
    assert fault is not None
    assert fault.code == "upstream_stream_error"


def test_an_event_that_is_not_json_is_quoted_and_the_rest_still_read() -> None:
    seen = decode(b"data: {oops\n\n", sse(delta(content="a"), delta("stop")))
    assert seen.fault is not None
    assert seen.fault.code == "invalid_stream_json"
    assert "{oops" in seen.fault.message
    assert (seen.content, seen.finish_reason) == ("a", "stop")


def test_the_first_fault_is_the_one_that_counts() -> None:
    seen = decode(b"data: {oops\n\n", sse({"error": "boom"}))
    assert seen.fault is not None
    assert seen.fault.code == "invalid_stream_json"


def test_a_long_message_is_cut() -> None:
    fault = decode(sse({"error": "x" * 9000})).fault
    assert fault is not None
    assert len(fault.message) == 300


def test_an_excerpt_reads_the_beginning_of_endless_words_only() -> None:
    endless = "a\x00 " * 100 + " " * 1_000_000 + "behind"
    assert excerpt(endless, limit=400) == "a " * 99 + "a…"
    assert excerpt("\x00" * 1_000_000) == "…"
