"""Messages and responses as the simulator serves them: requests refused, answers spelled."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from bench.simulator.book import AnswerBook
from bench.simulator.exchange import Exchange, Request
from bench.simulator.messages import MessagesApi
from bench.simulator.responses import ResponsesApi
from bench.simulator.service import Gateway, Settings
from bench.simulator.spoken import parsed
from bench.simulator.thoughts import sealed

USER = {"role": "user", "content": "hi"}
MESSAGES: dict[str, Any] = {"model": "sim-n3", "max_tokens": 9, "messages": [USER]}
RESPONSES: dict[str, Any] = {"model": "sim-n3", "input": "hi"}
VERSION = {"anthropic-version": "2023-06-01"}


def ask(path: str, body: dict[str, Any] | bytes, **headers: str) -> Exchange:
    host = Gateway(
        settings=Settings(instance="t"),
        book=AnswerBook(None),
        utcnow=lambda: datetime(2026, 11, 30, tzinfo=UTC),
    )
    usual = {"x-api-key": "test-token", **VERSION}
    return host.handle(
        Request(
            method="POST",
            path=path,
            headers={name: value for name, value in (usual | headers).items() if value},
            body=body if isinstance(body, bytes) else json.dumps(body).encode(),
            received_ns=0,
            connection=1,
        )
    )


def sent(exchange: Exchange) -> bytes:
    return b"".join(write.data for write in exchange.writes)


def told(exchange: Exchange) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(sent(exchange))
    return body


def events(path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    raw = sent(ask(path, {**body, "stream": True})).decode()
    blocks = [block.splitlines() for block in raw.split("\n\n") if block]
    found = [json.loads(lines[1].removeprefix("data: ")) for lines in blocks]
    assert [lines[0] for lines in blocks] == [f"event: {event['type']}" for event in found]
    return found


REFUSED = [
    pytest.param("messages", b"{", "not JSON", id="messages-no-json"),
    pytest.param("messages", {**MESSAGES, "max_tokens": None}, "max_tokens", id="no-limit"),
    pytest.param("messages", {**MESSAGES, "max_tokens": 0}, "max_tokens: 0", id="limit-0"),
    pytest.param("messages", {**MESSAGES, "messages": []}, "at least one", id="no-messages"),
    pytest.param(
        "messages",
        {**MESSAGES, "thinking": {"type": "enabled", "budget_tokens": 9}},
        "greater than `thinking.budget_tokens`",
        id="budget-too-large",
    ),
    pytest.param(
        "messages",
        {
            **MESSAGES,
            "thinking": {"type": "enabled", "budget_tokens": 1},
            "messages": [USER, {"role": "assistant", "content": [{"type": "tool_use"}]}],
        },
        "messages.1.content: expected `thinking`",
        id="thinking-left-out",
    ),
    pytest.param(
        "messages",
        {
            **MESSAGES,
            "messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}],
        },
        "messages.0.content: not the reasoning that was sent",
        id="no-signature",
    ),
    pytest.param("responses", b"{", "not JSON", id="responses-no-json"),
    pytest.param("responses", {"model": "sim-n3"}, "input", id="no-input"),
    pytest.param("responses", {**RESPONSES, "input": []}, "`input` is empty", id="empty-input"),
    pytest.param(
        "responses", {**RESPONSES, "max_output_tokens": 15}, "16 is the least", id="limit-15"
    ),
    pytest.param(
        "responses",
        {**RESPONSES, "input": [{"type": "reasoning", "summary": [], "encrypted_content": "x"}]},
        "not the reasoning that was sent",
        id="seal-changed",
    ),
]


@pytest.mark.parametrize(("api", "body", "words"), REFUSED)
def test_what_the_real_server_refuses_is_refused(
    api: str, body: dict[str, Any] | bytes, words: str
) -> None:
    exchange = ask(f"/v1/{api}", body)
    assert exchange.status == 400
    said = told(exchange)
    assert words in said["error"]["message"]
    assert said["error"]["type"] == "invalid_request_error"
    assert said.get("type") == ("error" if api == "messages" else None)


def test_messages_need_a_version_and_a_key() -> None:
    bare = ask("/v1/messages", MESSAGES, **{"anthropic-version": ""})
    assert (bare.status, told(bare)["error"]["message"]) == (
        400,
        "anthropic-version: header is required",
    )
    keyless = ask("/v1/messages", MESSAGES, **{"x-api-key": "wrong"})
    assert keyless.status == 401
    assert told(keyless)["error"]["type"] == "authentication_error"
    bearer = {"x-api-key": "", "authorization": "Bearer test-token"}
    assert ask("/messages", MESSAGES, **bearer).status == 200


@pytest.mark.parametrize(
    ("words", "kind"), [("status503", "api_error"), ("status429", "rate_limit_error")]
)
def test_errors_of_messages_have_anthropics_kinds(words: str, kind: str) -> None:
    said = told(ask("/v1/messages", {**MESSAGES, "model": f"sim-{words}"}))
    assert (said["type"], said["error"]["type"]) == ("error", kind)
    unknown = told(ask("/v1/messages", {**MESSAGES, "model": "nobody"}))
    assert unknown["error"]["type"] == "not_found_error"


def test_a_stream_of_messages_opens_and_closes_each_block() -> None:
    body = {**MESSAGES, "model": "sim-n2-reasoningcontent1-tools1", "max_tokens": 99}
    found = events("/v1/messages", body)
    kinds = [(event["type"], event.get("index")) for event in found]
    assert kinds[0] == ("message_start", None)
    assert kinds[-2:] == [("message_delta", None), ("message_stop", None)]
    for index, kind in enumerate(["thinking", "text", "tool_use"]):
        of_block = [event for event in found if event.get("index") == index]
        assert of_block[0]["content_block"]["type"] == kind
        assert of_block[-1] == {"type": "content_block_stop", "index": index}
    deltas = [event["delta"] for event in found if "delta" in event]
    thinking = "".join(part.get("thinking", "") for part in deltas)
    assert [part["signature"] for part in deltas if "signature" in part] == [sealed(thinking)]


def test_a_stream_of_responses_numbers_its_events_and_ends_with_all_of_it() -> None:
    include = ["reasoning.encrypted_content"]
    body = {**RESPONSES, "model": "sim-n2-reasoning1-tools1", "include": include}
    found = events("/v1/responses", body)
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    kinds = [item["type"] for item in found[-1]["response"]["output"]]
    assert kinds == ["reasoning", "message", "function_call"]
    reasoning = found[-1]["response"]["output"][0]
    assert reasoning["encrypted_content"] == sealed(reasoning["content"][0]["text"])
    dones = [event["item"] for event in found if event["type"] == "response.output_item.done"]
    assert dones == found[-1]["response"]["output"]


@pytest.mark.parametrize("words", ["nodone", "nofinish", "nousage", "norole"])
@pytest.mark.parametrize("api", ["messages", "responses"])
def test_what_a_scenario_leaves_out_is_left_out(api: str, words: str) -> None:
    body = MESSAGES if api == "messages" else RESPONSES
    found = events(f"/v1/{api}", {**body, "model": f"sim-n2-{words}"})
    names = [event["type"] for event in found]
    last = {"messages": "message_stop", "responses": "response.completed"}[api]
    first = {"messages": "message_start", "responses": "response.created"}[api]
    assert names[0] == first
    assert (last in names) is not (words == "nodone" or (words, api) == ("nofinish", "responses"))
    if words == "nousage":
        assert '"output_tokens": 2' not in json.dumps(found)
    if api == "messages":
        assert ("message_delta" in names) is (words != "nofinish")


@pytest.mark.parametrize("api", ["messages", "responses"])
def test_a_whole_answer_says_the_same_as_a_stream(api: str) -> None:
    body = MESSAGES if api == "messages" else RESPONSES
    words = {"model": "sim-n2-reasoningcontent1-tools1"}
    limit = {"max_tokens": 99} if api == "messages" else {}
    whole = told(ask(f"/v1/{api}", {**body, **words, **limit}))
    parts = whole["content"] if api == "messages" else whole["output"]
    assert len(parts) == 3
    bare = told(ask(f"/v1/{api}", {**body, "model": "sim-n2-nofinish-nousage"}))
    assert bare.get("usage") is None
    assert (bare.get("stop_reason"), bare.get("status")) in {(None, None), (None, "in_progress")}


def test_requests_become_the_same_conversation() -> None:
    turns = [
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "tool_use"}]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "content": [{"type": "text", "text": "r"}]},
                {"type": "text", "text": "and?"},
            ],
        },
    ]
    tools = [{"name": "f", "input_schema": {"type": "object"}}]
    system = [{"type": "text", "text": "s"}]
    body = {**MESSAGES, "messages": turns, "tools": tools, "system": system}
    read = MessagesApi().read(json.dumps(body).encode())
    assert [message.text for message in read.messages] == ["s", "hi", "a", "r", "and?"]
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "name": "f"},
        {"type": "function_call_output", "output": "r"},
        {"role": "user", "content": "and?"},
        {"type": "function_call", "name": "f"},
    ]
    asked = {**RESPONSES, "instructions": "s", "input": items, "tools": [{"name": "f"}]}
    other = ResponsesApi().read(json.dumps(asked).encode())
    assert [message.text for message in other.messages] == ["s", "hi", "a", "r", "and?", ""]
    assert read.tools is not None
    assert other.tools is not None
    assert read.tools[0]["function"]["name"] == other.tools[0]["function"]["name"] == "f"


def test_arguments_that_are_no_object_are_an_empty_one() -> None:
    assert [parsed(text) for text in ('{"a":1}', "[1]", "{")] == [{"a": 1}, {}, {}]
