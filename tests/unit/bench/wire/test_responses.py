import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.case import ChatRequest, Message
from bench.stream.deltas import Read
from bench.wire import PROTOCOLS
from tests.api_bytes import SCHEMA, TOOL, called, decode, encoded, sse, user


def created(**fields: Any) -> dict[str, Any]:
    response = {"id": "r1", "model": "gpt", "status": "in_progress", "output": [], **fields}
    return {"type": "response.created", "response": response}


def text(piece: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "item_id": "m", "delta": piece}


def thought(piece: str, kind: str = "summary_") -> dict[str, Any]:
    return {"type": f"response.reasoning_{kind}text.delta", "item_id": "rs", "delta": piece}


def added(index: int | None = None, **item: Any) -> dict[str, Any]:
    event = {"type": "response.output_item.added", "item": item}
    return event if index is None else {**event, "output_index": index}


def done(index: int | None = None, **item: Any) -> dict[str, Any]:
    return {**added(index, **item), "type": "response.output_item.done"}


def arguments(piece: str, item_id: str | None = "f1") -> dict[str, Any]:
    event = {"type": "response.function_call_arguments.delta", "delta": piece}
    return event if item_id is None else {**event, "item_id": item_id}


def end(status: str = "completed", **fields: Any) -> dict[str, Any]:
    response = {"id": "r1", "model": "gpt", "status": status, "output": [], **fields}
    return {"type": f"response.{status}", "response": response}


CALL = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "look", "arguments": ""}

# ---- the request ---------------------------------------------------------------------------------


def test_the_least_request_asks_for_nothing_to_be_stored() -> None:
    assert encoded("responses", ChatRequest(messages=(user(),)), stream=False) == {
        "store": False,
        "model": "p/m",
        "input": [{"role": "user", "content": "hi"}],
        "stream": False,
    }
    kept = ChatRequest(messages=(user(),), extra={"store": True, "model": "x"})
    assert encoded("responses", kept)["store"] is True
    assert encoded("responses", ChatRequest(messages=()))["input"] == []


def test_the_first_words_of_the_system_are_the_instructions() -> None:
    system = Message(role="system", content="a")
    later = Message(role="developer", content="b")
    body = encoded("responses", ChatRequest(messages=(system, user(), later)))
    assert body["instructions"] == "a"
    assert body["input"] == [
        {"role": "user", "content": "hi"},
        {"role": "developer", "content": "b"},
    ]


def test_limits_and_effort_have_their_own_names() -> None:
    request = ChatRequest(
        messages=(user(),), max_tokens=50, temperature=0.0, reasoning_effort="low"
    )
    body = encoded("responses", request)
    assert (body["max_output_tokens"], body["temperature"]) == (50, 0.0)
    assert body["reasoning"] == {"effort": "low"}
    assert "include" not in body
    assert PROTOCOLS["responses"].output_limit(request) == 50
    assert PROTOCOLS["chat"].output_limit(request) == 50


def test_reasoning_is_asked_for_in_its_sealed_form_where_tools_will_need_it() -> None:
    request = ChatRequest(messages=(user(),), reasoning_effort="low", tools=(TOOL,))
    assert encoded("responses", request)["include"] == ["reasoning.encrypted_content"]
    quiet = ChatRequest(messages=(user(),), reasoning_effort="none", tools=(TOOL,))
    assert "include" not in encoded("responses", quiet)


def test_tools_are_flat_and_as_lax_as_in_chat_completions() -> None:
    own = {"type": "web_search"}
    strict = {"type": "function", "function": {"name": "s", "strict": True}}
    body = encoded("responses", ChatRequest(messages=(user(),), tools=(TOOL, strict, own)))
    flat = {"type": "function", "name": "look", "description": "Looks."}
    assert body["tools"][0] == {**flat, "parameters": SCHEMA, "strict": False}
    assert (body["tools"][1]["strict"], body["tools"][2]) == (True, own)


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("required", "required"),
        (
            {"type": "function", "function": {"name": "look"}},
            {"type": "function", "name": "look"},
        ),
    ],
)
def test_tool_choice_is_said_in_its_words(choice: object, sent: object) -> None:
    body = encoded("responses", ChatRequest(messages=(user(),), tool_choice=choice))
    assert body["tool_choice"] == sent


def test_a_conversation_with_tools_keeps_its_order() -> None:
    said = Message(role="assistant", content="on it", tool_calls=(called("a"),))
    result = Message(role="tool", content="1", tool_call_id="a")
    body = encoded("responses", ChatRequest(messages=(user("do"), said, result)))
    words = {"type": "output_text", "text": "on it"}
    assert body["input"] == [
        {"role": "user", "content": "do"},
        {"type": "message", "role": "assistant", "content": [words]},
        {
            "type": "function_call",
            "call_id": "a",
            "name": "look",
            "arguments": '{"path":"a"}',
        },
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]


def test_sealed_reasoning_goes_back_where_it_stood() -> None:
    reasoning = {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x"}
    message = {"type": "message", "id": "m", "role": "assistant", "phase": "commentary"}
    seen = decode(
        "responses",
        sse(
            created(),
            done(0, **reasoning),
            text("ok"),
            done(1, **message, content=[{"type": "output_text", "text": "ok"}]),
            added(2, **CALL),
            arguments('{"path":"a"}'),
            done(2, **{**CALL, "arguments": '{"path":"a"}'}),
            end(),
        ),
    )
    place = {"type": "function_call", "id": "f1"}
    assert seen.opaque == (reasoning, message, place)
    said = Message(
        role="assistant", content="ok", tool_calls=(called("new"), called("b")), opaque=seen.opaque
    )
    body = encoded("responses", ChatRequest(messages=(said,), tools=(TOOL,)))
    assert body["include"] == ["reasoning.encrypted_content"]
    made = {"type": "function_call", "name": "look", "arguments": '{"path":"a"}'}
    assert body["input"] == [
        reasoning,
        {**message, "content": [{"type": "output_text", "text": "ok"}]},
        {**made, "id": "f1", "call_id": "new"},
        {**made, "call_id": "b"},
    ]


# ---- the stream ----------------------------------------------------------------------------------


def test_an_answer_is_put_together_from_its_events() -> None:
    seen = decode(
        "responses",
        sse(created(system_fingerprint="fp"), thought("h"), thought("m", kind="")),
        sse(text("one"), text(""), text(" two")),
        sse(
            end(
                usage={
                    "input_tokens": 9,
                    "input_tokens_details": {"cached_tokens": 4},
                    "output_tokens": 5,
                    "output_tokens_details": {"reasoning_tokens": 2},
                    "cost": 0.5,
                }
            )
        ),
    )
    assert (seen.content, seen.reasoning, seen.finish_reason) == ("one two", "hm", "stop")
    assert (seen.provider_finish_reason, seen.response_model) == ("completed", "gpt")
    assert seen.system_fingerprint == "fp"
    kinds = [(at, kind, size) for at, size, kind, _ in seen.deltas.rows()]
    assert kinds == [
        (100, "reasoning", 1),
        (100, "reasoning", 1),
        (101, "content", 3),
        (101, "content", 4),
    ]
    usage = seen.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_prompt_tokens) == (9, 4)
    assert (usage.completion_tokens, usage.visible_completion_tokens) == (5, 3)
    assert usage.cost_usd == 0.5
    assert (seen.fields["id"], seen.fields["usage"]["cost"]) == ("r1", 0.5)


@pytest.mark.parametrize(
    ("ended", "finish", "provider"),
    [
        pytest.param(end(), "stop", "completed", id="completed"),
        pytest.param(
            end("incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "length",
            "max_output_tokens",
            id="cut by its limit",
        ),
        pytest.param(
            end("incomplete", incomplete_details={"reason": "content_filter"}),
            "content_filter",
            None,
            id="withheld",
        ),
        pytest.param(end("incomplete"), "incomplete", None, id="for no reason"),
        pytest.param(end(output=[CALL]), "tool_calls", "completed", id="with a call"),
    ],
)
def test_how_it_ended_is_told_in_common_words_and_kept(
    ended: dict[str, Any], finish: str, provider: str | None
) -> None:
    seen = decode("responses", sse(created(), text("x"), ended))
    assert (seen.finish_reason, seen.provider_finish_reason) == (finish, provider)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        pytest.param(
            sse(end("failed", error={"code": "server_error", "message": "broke"})),
            "broke",
            id="failed",
        ),
        pytest.param(sse(end("cancelled")), "status is `cancelled`", id="cancelled"),
        pytest.param(sse({"type": "error", "code": "x", "message": "gone"}), "gone", id="flat"),
        pytest.param(sse({"type": "error", "error": {"message": "no"}}), "no", id="nested"),
        pytest.param(b'data: {"error":{"message":"no"}}\n\n', "no", id="without a type"),
        pytest.param(b'data: {"detail":"nope"}\n\n', "nope", id="a detail"),
    ],
)
def test_an_error_inside_a_stream_is_told(events: bytes, words: str) -> None:
    seen = decode("responses", sse(created(), text("x")), events)
    assert seen.fault is not None
    assert seen.fault.code == "upstream_stream_error"
    assert words in seen.fault.message
    assert seen.finish_reason is None


@pytest.mark.parametrize(
    ("data", "shape"), [('{"choices":[{}]}', "chat completions"), ('{"content":[{}]}', "messages")]
)
def test_another_protocol_is_called_by_its_name(data: str, shape: str) -> None:
    for raw in (f"data: {data}\n\n", data):
        fault = decode("responses", raw.encode()).fault
        assert fault is not None
        assert fault.message == f"the answer has the shape of {shape}, not of responses"


def test_the_end_is_seen_with_the_last_event_and_done_is_let_through() -> None:
    decoder = PROTOCOLS["responses"].decoder(stream=True)
    decoder.feed(Read(1, 0, sse(created(), text("x"))))
    before = decoder.done_ns
    decoder.feed(Read(2, 1, sse(end())))
    assert (before, decoder.done_ns) == (None, 2)
    decoder.feed(Read(3, 2, b"data: [DONE]\n\n"))
    assert decoder.finish().fault is None


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([added(0, **CALL), arguments("{"), arguments("}")], id="by item"),
        pytest.param([added(None, **CALL), arguments("{}", None)], id="by nothing"),
        pytest.param([added(0, **{**CALL, "arguments": "{}"})], id="at once"),
        pytest.param([added(0, **CALL), done(0, **{**CALL, "arguments": "{}"})], id="at its end"),
        pytest.param([done(0, **{**CALL, "arguments": "{}"})], id="without a beginning"),
        pytest.param([], id="with the whole answer"),
        pytest.param(
            [added(0, **{**CALL, "id": "other"}), arguments("{}", "other")], id="ids that change"
        ),
    ],
)
def test_a_call_is_read_once_however_it_is_told(events: list[dict[str, Any]]) -> None:
    whole = end(output=[{**CALL, "arguments": "{}"}])
    seen = decode("responses", sse(created(), *events, whole))
    assert [(c.id, c.name, c.arguments) for c in seen.tool_calls] == [("c1", "look", "{}")]
    assert seen.finish_reason == "tool_calls"
    assert sum(size for _, size, _, _ in seen.deltas.rows()) == len("look{}")


def test_calls_side_by_side_are_told_apart() -> None:
    other = {**CALL, "id": "f2", "call_id": "c2", "name": "run"}
    seen = decode(
        "responses",
        sse(
            created(),
            added(1, **CALL),
            added(2, **other),
            arguments("[2", "f2"),
            arguments("[1", "f1"),
            arguments("]", "f2"),
            arguments("]", "f1"),
            end(),
        ),
    )
    calls = [(call.id, call.name, call.arguments) for call in seen.tool_calls]
    assert calls == [("c1", "look", "[1]"), ("c2", "run", "[2]")]


def test_texts_that_no_delta_told_are_taken_from_the_end() -> None:
    output = [
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "one"}]},
    ]
    seen = decode("responses", sse(created(), end(output=output)))
    assert (seen.content, seen.reasoning) == ("one", "hm")
    assert [kind for _, _, kind, _ in seen.deltas.rows()] == ["reasoning", "content"]
    assert len(seen.opaque) == 2


@pytest.mark.parametrize(
    "data",
    [
        b"[1]",
        b"7",
        b'{"type":7}',
        b'{"type":"response.output_text.delta","delta":{"x":1}}',
        b'{"type":"response.output_item.added","item":7,"output_index":"0"}',
        b'{"type":"response.output_item.done"}',
        b'{"type":"response.in_progress","response":[]}',
        b'{"type":"keepalive"}',
        b"{}",
    ],
)
def test_events_of_strange_types_change_nothing(data: bytes) -> None:
    seen = decode("responses", sse(created()), b"data: %s\n\n" % data, sse(text("x"), end()))
    assert (seen.content, seen.finish_reason, seen.fault) == ("x", "stop", None)


# ---- in one piece --------------------------------------------------------------------------------


def test_a_whole_body_says_the_same_without_stamps() -> None:
    body = {
        "id": "r1",
        "object": "response",
        "status": "completed",
        "error": None,
        "model": "gpt",
        "output": [
            {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]},
            {"type": "message", "content": [{"type": "refusal", "refusal": "no"}]},
            {**CALL, "arguments": "{}"},
        ],
        "usage": {"input_tokens": 2, "output_tokens": 3},
    }
    seen = decode("responses", json.dumps(body).encode())
    assert seen.is_json
    assert (seen.content, seen.reasoning, seen.finish_reason) == ("no", "hm", "tool_calls")
    assert [call.id for call in seen.tool_calls] == ["c1"]
    assert len(seen.deltas) == 0
    assert seen.usage is not None
    assert seen.usage.reasoning_tokens is None


@pytest.mark.parametrize("body", ["[1]", "{oh", "<p>oh</p>", '{"error":{"message":"x"}}'])
def test_a_whole_body_that_is_no_answer_is_a_fault(body: str) -> None:
    assert decode("responses", body.encode()).fault is not None


def test_counts_that_are_none_are_not_made_up() -> None:
    seen = decode("responses", sse(created(), text("x"), end(usage={"total_tokens": 5})))
    assert seen.usage is None


# ---- laws ----------------------------------------------------------------------------------------

_pieces = st.lists(st.text(max_size=5), max_size=6)


@given(thoughts=_pieces, words=_pieces, parts=_pieces, data=st.data())
def test_where_a_stream_is_cut_never_changes_what_it_says(
    thoughts: list[str], words: list[str], parts: list[str], data: st.DataObject
) -> None:
    raw = sse(
        created(),
        *map(thought, thoughts),
        *map(text, words),
        added(2, **CALL),
        *map(arguments, parts),
        end(usage={"input_tokens": 1, "output_tokens": 2}),
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    bounds = itertools.pairwise([0, *cuts, len(raw)])
    whole = decode("responses", raw)
    cut = decode("responses", *(raw[a:b] for a, b in bounds))
    for seen in (whole, cut):
        assert (seen.content, seen.reasoning) == ("".join(words), "".join(thoughts))
        assert seen.tool_calls[0].arguments == "".join(parts)
    assert [row[1:3] for row in whole.deltas.rows()] == [row[1:3] for row in cut.deltas.rows()]
    assert (whole.usage, whole.opaque) == (cut.usage, cut.opaque)
