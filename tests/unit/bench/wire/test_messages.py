import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.case import ChatRequest, Message
from bench.wire import PROTOCOLS
from tests.api_bytes import SCHEMA, TOOL, called, decode, encoded, sse, user

MESSAGES = PROTOCOLS["messages"]


def start(**fields: Any) -> dict[str, Any]:
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", **fields}
    return {"type": "message_start", "message": message}


def block(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": fields}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(piece: str, index: int = 0) -> dict[str, Any]:
    return delta(index, "text_delta", text=piece)


def stop(reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or None}


END = {"type": "message_stop"}

# ---- the request ---------------------------------------------------------------------------------


def test_the_least_request_has_a_limit_and_nothing_that_was_not_asked() -> None:
    assert encoded("messages", ChatRequest(messages=(user(),)), stream=False) == {
        "model": "p/m",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 4096,
        "stream": False,
    }


def test_the_systems_words_are_lifted_out() -> None:
    system = Message(role="system", content="a")
    one = encoded("messages", ChatRequest(messages=(system, user())))
    assert (one["system"], len(one["messages"])) == ("a", 1)
    developer = Message(role="developer", content="b")
    two = encoded("messages", ChatRequest(messages=(system, user(), developer)))
    assert two["system"] == [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert [turn["role"] for turn in two["messages"]] == ["user"]


def test_tools_lose_their_envelope() -> None:
    own = {"type": "web_search_20250305", "name": "web_search"}
    bare = {"type": "function", "function": {"name": "bare"}}
    body = encoded("messages", ChatRequest(messages=(user(),), tools=(TOOL, bare, own)))
    assert body["tools"] == [
        {"name": "look", "description": "Looks.", "input_schema": SCHEMA},
        {"name": "bare", "input_schema": {"type": "object", "properties": {}}},
        own,
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        pytest.param("auto", {"type": "auto"}, id="auto"),
        pytest.param("required", {"type": "any"}, id="required"),
        pytest.param("none", {"type": "none"}, id="none"),
        pytest.param(
            {"type": "function", "function": {"name": "look"}},
            {"type": "tool", "name": "look"},
            id="by name",
        ),
        pytest.param({"type": "any"}, {"type": "any"}, id="its own words"),
    ],
)
def test_tool_choice_is_said_in_its_words(choice: object, sent: object) -> None:
    body = encoded("messages", ChatRequest(messages=(user(),), tool_choice=choice))
    assert body["tool_choice"] == sent


@pytest.mark.parametrize(
    ("effort", "budget"), [("minimal", 1024), ("low", 1024), ("medium", 2048), ("high", 4096)]
)
def test_reasoning_effort_becomes_a_budget_on_top_of_the_limit(effort: str, budget: int) -> None:
    request = ChatRequest(
        messages=(user(),), reasoning_effort=effort, max_tokens=100, temperature=0.0
    )
    body = encoded("messages", request)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": budget}
    assert body["max_tokens"] == MESSAGES.output_limit(request) == 100 + budget
    assert "temperature" not in body


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="no effort"),
        pytest.param({"reasoning_effort": "none"}, id="effort none"),
        pytest.param({"reasoning_effort": "high", "tool_choice": "required"}, id="a forced tool"),
    ],
)
def test_without_thinking_limit_and_temperature_are_as_asked(fields: dict[str, Any]) -> None:
    request = ChatRequest(messages=(user(),), max_tokens=100, temperature=0.0, **fields)
    body = encoded("messages", request)
    assert "thinking" not in body
    assert (body["max_tokens"], body["temperature"]) == (100, 0.0)


def test_a_word_of_anthropics_own_goes_out_as_it_is() -> None:
    body = encoded("messages", ChatRequest(messages=(user(),), reasoning_effort="max"))
    assert body["thinking"] == {"type": "adaptive"}
    assert (body["output_config"], body["max_tokens"]) == ({"effort": "max"}, 4096)


def test_a_conversation_with_tools_keeps_its_order() -> None:
    body = encoded(
        "messages",
        ChatRequest(
            messages=(
                user("do"),
                Message(
                    role="assistant", content="on it", tool_calls=(called("a"), called("b", "{"))
                ),
                Message(role="tool", content="1", tool_call_id="a"),
                Message(role="tool", tool_call_id="b"),
                user("and?"),
                Message(role="assistant", content="done"),
                Message(role="assistant"),
            )
        ),
    )
    assert body["messages"] == [
        {"role": "user", "content": "do"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "on it"},
                {"type": "tool_use", "id": "a", "name": "look", "input": {"path": "a"}},
                {
                    "type": "tool_use",
                    "id": "b",
                    "name": "look",
                    "input": {"unreadable_arguments": "{"},
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": ""},
            ],
        },
        {"role": "user", "content": "and?"},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]


def test_results_at_the_end_are_sent_too() -> None:
    result = Message(role="tool", content="1", tool_call_id="a")
    body = encoded("messages", ChatRequest(messages=(result,)))
    assert body["messages"][0]["content"][0]["tool_use_id"] == "a"


def test_signed_thinking_goes_back_where_it_stood() -> None:
    seen = decode(
        "messages",
        sse(
            start(),
            block(0, type="thinking", thinking=""),
            delta(0, "thinking_delta", thinking="h"),
            delta(0, "thinking_delta", thinking="m"),
            delta(0, "signature_delta", signature="s1"),
            block(1, type="text", text=""),
            text("ok", 1),
            block(2, type="redacted_thinking", data="x"),
            block(3, type="tool_use", id="t", name="look", input={}),
            delta(3, "input_json_delta", partial_json='{"path":"a"}'),
            stop("tool_use", output_tokens=9),
            END,
        ),
    )
    assert seen.reasoning == "hm"
    said = Message(
        role="assistant", content=seen.content, tool_calls=(called("new"),), opaque=seen.opaque
    )
    turn = encoded("messages", ChatRequest(messages=(said,)))["messages"][0]
    assert turn["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "s1"},
        {"type": "text", "text": "ok"},
        {"type": "redacted_thinking", "data": "x"},
        {"type": "tool_use", "id": "new", "name": "look", "input": {"path": "a"}},
    ]


# ---- the stream ----------------------------------------------------------------------------------


def test_an_answer_is_put_together_from_its_events() -> None:
    seen = decode(
        "messages",
        sse(start(usage={"input_tokens": 7, "output_tokens": 1}), {"type": "ping"}),
        sse(block(0, type="text", text=""), text("one")),
        sse(text(" two"), text(""), {"type": "content_block_stop", "index": 0}),
        sse(stop("end_turn", output_tokens=5), END),
    )
    assert (seen.content, seen.finish_reason) == ("one two", "stop")
    assert (seen.provider_finish_reason, seen.response_model) == ("end_turn", "claude")
    assert (seen.first_event_ns, seen.event_count) == (100, 9)
    assert list(seen.deltas.rows()) == [(101, 3, "content", 1), (102, 4, "content", 2)]
    assert seen.usage is not None
    assert (seen.usage.prompt_tokens, seen.usage.completion_tokens) == (7, 5)
    assert seen.fields["id"] == "m1"
    assert (seen.fault, seen.opaque) == (None, ())


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
    ],
)
def test_stop_reasons_are_told_in_common_words_and_kept(reason: str, finish: str) -> None:
    seen = decode("messages", sse(start(), block(0, type="text", text="x"), stop(reason), END))
    assert seen.finish_reason == finish
    assert seen.provider_finish_reason == (None if reason == finish else reason)


def test_counts_include_what_the_cache_read_and_wrote() -> None:
    kinds = {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 15}
    told = {
        "input_tokens": 3,
        "cache_read_input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_creation": kinds,
    }
    seen = decode("messages", sse(start(usage=told), text("x"), stop(output_tokens=4), END))
    usage = seen.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.cached_prompt_tokens) == (33, 10)
    assert (usage.cache_write_tokens, usage.completion_tokens) == (20, 4)
    assert usage.cache_write_1h_tokens == 15
    assert usage.raw["input_tokens"] == 3


def test_counts_may_come_late_and_a_zero_does_not_undo_them() -> None:
    late = decode(
        "messages",
        sse(
            start(usage={"input_tokens": 0, "output_tokens": 0}),
            text("x"),
            stop(input_tokens=7, output_tokens=4, cost=0.5),
            END,
        ),
    )
    early = decode(
        "messages",
        sse(
            start(usage={"input_tokens": 7}), text("x"), stop(input_tokens=0, output_tokens=4), END
        ),
    )
    for seen in (late, early):
        assert seen.usage is not None
        assert (seen.usage.prompt_tokens, seen.usage.completion_tokens) == (7, 4)
    assert late.usage is not None
    assert late.usage.cost_usd == 0.5


def test_counts_of_the_start_are_none_of_an_answer_that_broke_off() -> None:
    seen = decode("messages", sse(start(usage={"input_tokens": 7, "output_tokens": 1}), text("on")))
    assert (seen.usage, seen.finish_reason, seen.content) == (None, None, "on")


def test_thinking_that_nobody_counts_leaves_the_visible_tokens_unknown() -> None:
    thought = block(0, type="thinking", thinking="hm", signature="s")
    bare = decode("messages", sse(start(), thought, text("x", 1), stop(output_tokens=9), END))
    assert bare.usage is not None
    assert (bare.usage.completion_tokens, bare.usage.visible_completion_tokens) == (9, None)
    for name in ("thinking_tokens", "reasoning_tokens"):
        counted = stop(output_tokens=9, output_tokens_details={name: 4})
        seen = decode("messages", sse(start(), thought, text("x", 1), counted, END))
        assert seen.usage is not None
        assert (seen.usage.reasoning_tokens, seen.usage.visible_completion_tokens) == (4, 5)


def test_calls_are_put_together_by_block() -> None:
    seen = decode(
        "messages",
        sse(
            start(),
            block(0, type="text", text="go"),
            block(1, type="tool_use", id="a", name="f", input={}),
            delta(1, "input_json_delta", partial_json=""),
            delta(1, "input_json_delta", partial_json='{"x"'),
            delta(1, "input_json_delta", partial_json=":1}"),
            block(2, type="tool_use", id="b", name="g", input={"y": 2}),
            block(3, type="tool_use", id="c", name="h", input={}),
            stop("tool_use"),
            END,
        ),
    )
    calls = [(call.id, call.name, call.arguments) for call in seen.tool_calls]
    assert calls == [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}'), ("c", "h", "{}")]
    kinds = [(kind, size) for _, size, kind, _ in seen.deltas.rows()]
    assert kinds == [
        ("content", 2),
        ("tool", 1),
        ("tool", 4),
        ("tool", 3),
        ("tool", 8),
        ("tool", 1),
    ]


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        pytest.param(
            sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            "upstream_stream_error",
            "Overloaded",
            id="an error event",
        ),
        pytest.param(
            b'event: error\ndata: {"message":"gone"}\n\n',
            "upstream_stream_error",
            "gone",
            id="of no shape",
        ),
        pytest.param(
            b'data: {"error":{"message":"no"}}\n\n', "upstream_stream_error", "no", id="OpenAI's"
        ),
        pytest.param(
            b'data: {"detail":"nope"}\n\n', "upstream_stream_error", "nope", id="a detail"
        ),
        pytest.param(
            b"event: error\ndata: oh\n\n", "upstream_stream_error", "oh", id="an error as text"
        ),
        pytest.param(b"data: {oh\n\n", "invalid_stream_json", "{oh", id="not JSON"),
        pytest.param(
            b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
            "invalid_stream_json",
            "the shape of chat completions, not of messages",
            id="another protocol",
        ),
    ],
)
def test_what_went_wrong_inside_a_stream_is_told(events: bytes, code: str, words: str) -> None:
    fault = decode("messages", sse(start()), events).fault
    assert fault is not None
    assert fault.code == code
    assert words in fault.message


@pytest.mark.parametrize(
    "data",
    [
        b"[1]",
        b"5",
        b'{"type":5}',
        b'{"type":"content_block_delta","index":"0","delta":{"type":"text_delta","text":7}}',
        b'{"type":"content_block_delta","delta":{"type":"citations_delta","citation":{}}}',
        b'{"type":"content_block_start","content_block":7}',
        b'{"type":"message_start","message":[]}',
        b'{"type":"message_delta","delta":null,"usage":"x"}',
        b"{}",
    ],
)
def test_events_of_strange_types_change_nothing(data: bytes) -> None:
    strange = b"data: %s\n\n" % data
    seen = decode("messages", sse(start()), strange, sse(text("x"), stop(), END))
    assert (seen.content, seen.finish_reason, seen.fault) == ("x", "stop", None)


# ---- in one piece --------------------------------------------------------------------------------

WHOLE: dict[str, Any] = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "claude",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "one"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 2, "output_tokens": 3},
}


def test_a_whole_body_says_the_same_without_stamps() -> None:
    seen = decode("messages", json.dumps(WHOLE).encode())
    assert seen.is_json
    assert (seen.content, seen.reasoning, seen.finish_reason) == ("one", "hm", "tool_calls")
    assert [call.arguments for call in seen.tool_calls] == ['{"x":1}']
    assert (len(seen.deltas), seen.first_event_ns) == (0, None)
    assert seen.usage is not None
    assert seen.usage.prompt_tokens == 2
    assert seen.opaque == (WHOLE["content"][0], {"type": "text"}, {"type": "tool_use"})


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ('{"type":"error","error":{"message":"no"}}', "upstream_stream_error", "no"),
        ('{"choices":[{"message":{}}]}', "invalid_stream_json", "chat completions"),
        ('{"output":[{}]}', "invalid_stream_json", "responses"),
        ("[1]", "invalid_stream_json", "neither"),
        ("<html>oh no</html>", "invalid_stream_json", "oh no"),
    ],
)
def test_a_whole_body_that_is_no_answer_is_a_fault(body: str, code: str, words: str) -> None:
    fault = decode("messages", body.encode()).fault
    assert fault is not None
    assert fault.code == code
    assert words in fault.message


def test_an_object_without_anything_is_no_answer() -> None:
    seen = decode("messages", b"{}")
    assert (seen.finish_reason, seen.fault, seen.usage) == (None, None, None)


# ---- laws ----------------------------------------------------------------------------------------

_pieces = st.lists(st.text(max_size=5), max_size=6)


@given(thoughts=_pieces, words=_pieces, arguments=_pieces, data=st.data())
def test_where_a_stream_is_cut_never_changes_what_it_says(
    thoughts: list[str], words: list[str], arguments: list[str], data: st.DataObject
) -> None:
    raw = sse(
        start(usage={"input_tokens": 1}),
        block(0, type="thinking", thinking=""),
        *(delta(0, "thinking_delta", thinking=piece) for piece in thoughts),
        delta(0, "signature_delta", signature="s"),
        block(1, type="text", text=""),
        *(text(piece, 1) for piece in words),
        block(2, type="tool_use", id="a", name="f", input={}),
        *(delta(2, "input_json_delta", partial_json=piece) for piece in arguments),
        stop("tool_use", output_tokens=2),
        END,
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    bounds = [0, *cuts, len(raw)]
    whole = decode("messages", raw)
    cut = decode("messages", *(raw[a:b] for a, b in itertools.pairwise(bounds)))
    for seen in (whole, cut):
        assert seen.content == "".join(words)
        assert seen.reasoning == "".join(thoughts)
        assert seen.tool_calls[0].arguments == ("".join(arguments) or "{}")
    assert whole.opaque == cut.opaque
    assert [row[1:3] for row in whole.deltas.rows()] == [row[1:3] for row in cut.deltas.rows()]
    assert whole.usage == cut.usage
