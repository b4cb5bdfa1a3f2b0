import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.simulator.answers import (
    BookEntry,
    Call,
    Reply,
    filler,
    invented_call,
    is_right,
    pieces,
    share,
)
from bench.simulator.chat import ChatBody, decode_chat, fingerprint, prompt_tokens
from bench.simulator.compose import compose
from bench.simulator.errors import RequestRefused
from bench.simulator.scenario import Scenario
from bench.simulator.timeline import cut_evenly

ENTRY = msgspec.convert(
    {
        "promptHash": "abc",
        "answer": {
            "content": "FINAL: 42",
            "toolCalls": [{"id": "x", "name": "f", "arguments": "{}"}],
        },
        "wrong": {"content": "FINAL: 41"},
    },
    BookEntry,
)
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "unit": {"enum": ["c", "f"]},
                    "hourly": {"type": "boolean"},
                    "where": {"type": "object", "properties": {"lat": {"type": "number"}}},
                    "tags": {"type": "array"},
                    "odd": True,
                },
            },
        },
    }
]


def chat(**fields: Any) -> ChatBody:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **fields}
    return decode_chat(json.dumps(body).encode())


def composed(scenario: Scenario, request: ChatBody, entry: BookEntry | None = None) -> Reply:
    return compose(scenario, request, entry, provider="fast", usual_tokens=10, draws=(1, "prompt"))


@given(st.text())
def test_pieces_joined_are_the_text_again(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert all(pieces(text))


@given(st.text(), st.integers(1, 9))
def test_a_text_cut_evenly_stays_the_text(text: str, count: int) -> None:
    cut = cut_evenly(text, count)
    assert "".join(cut) == text
    assert len(cut) <= count
    assert all(cut)


@given(st.integers(0, 20_000), st.integers(0), st.booleans())
def test_filler_has_as_many_pieces_as_asked_for(count: int, start: int, unicode: bool) -> None:
    words = filler(count, start=start, unicode=unicode)
    assert len(words) == count
    assert all(words)
    assert words == filler(count, start=start, unicode=unicode)


def test_a_share_is_even_and_the_same_everywhere() -> None:
    shares = [share("right", 1, "fast", n) for n in range(2000)]
    assert all(0 <= value < 1 for value in shares)
    assert 0.47 < sum(shares) / len(shares) < 0.53
    assert share("a", 1) == pytest.approx(0.02212, abs=1e-5)


def test_the_right_rate_is_met_and_does_not_change() -> None:
    entries = [msgspec.structs.replace(ENTRY, prompt_hash=str(n)) for n in range(2000)]
    right = [is_right(e, percent=70, seed=1, provider="fast") for e in entries]
    assert 0.66 < sum(right) / len(right) < 0.74
    assert right == [is_right(e, percent=70, seed=1, provider="fast") for e in entries]
    assert right != [is_right(e, percent=70, seed=2, provider="fast") for e in entries]


def test_an_entry_without_a_wrong_answer_is_always_right() -> None:
    entry = msgspec.structs.replace(ENTRY, wrong=None)
    assert is_right(entry, percent=0, seed=1, provider="fast")


@pytest.mark.parametrize(
    ("percent", "text", "calls"),
    [(100.0, "FINAL: 42", 1), (0.0, "FINAL: 41", 0), (None, "FINAL: 42", 1)],
)
def test_the_book_answers(percent: float | None, text: str, calls: int) -> None:
    reply = composed(Scenario(right_percent=percent), chat(), ENTRY)
    assert "".join(reply.content) == text
    assert len(reply.calls) == calls
    assert reply.finish_reason == ("tool_calls" if calls else "stop")


def test_a_token_count_wins_over_the_book() -> None:
    reply = composed(Scenario(tokens=7), chat(), ENTRY)
    assert (len(reply.content), reply.tokens, reply.calls) == (7, 7, ())


def test_without_a_book_filler_has_the_usual_length() -> None:
    assert composed(Scenario(), chat()).tokens == 10


@pytest.mark.parametrize("field", ["max_tokens", "max_completion_tokens"])
def test_a_limit_cuts_the_answer_and_says_so(field: str) -> None:
    reply = composed(Scenario(tokens=20, reasoning_tokens=3), chat(**{field: 5}))
    assert (len(reply.reasoning), len(reply.content), reply.tokens) == (3, 2, 5)
    assert reply.finish_reason == "length"


def test_reasoning_alone_can_use_up_the_limit() -> None:
    reply = composed(Scenario(tokens=20, reasoning_tokens=30), chat(max_tokens=5))
    assert (len(reply.reasoning), reply.content, reply.finish_reason) == (5, (), "length")


def test_tool_calls_that_do_not_fit_are_dropped() -> None:
    reply = composed(Scenario(tool_calls=1), chat(max_tokens=2, tools=TOOLS))
    assert (reply.calls, reply.tokens, reply.finish_reason) == ((), 0, "length")


def test_an_empty_answer_is_a_stop() -> None:
    reply = composed(Scenario(empty=True), chat(), ENTRY)
    assert (reply.tokens, reply.finish_reason) == (0, "stop")


def test_made_up_calls_have_arguments_of_the_schema() -> None:
    reply = composed(Scenario(tool_calls=2), chat(tools=TOOLS))
    assert [call.name for call in reply.calls] == ["get_weather", "get_weather"]
    arguments = json.loads(reply.calls[0].text)
    assert arguments == {
        "city": "simulated",
        "days": 1,
        "unit": "c",
        "hourly": True,
        "where": {"lat": 1},
        "tags": [],
    }
    assert reply.call_tokens == 2 * (1 + 3)


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param([], id="none offered"),
        pytest.param([{"type": "function"}], id="no function"),
        pytest.param([{"function": {"name": "f", "parameters": 3}}], id="no schema"),
        pytest.param(
            [{"function": {"name": "f", "parameters": {"type": "string"}}}], id="odd schema"
        ),
    ],
)
def test_odd_tools_still_get_a_call(tools: list[dict[str, Any]]) -> None:
    assert isinstance(json.loads(invented_call(tools, 0).text), dict)


def test_a_schema_that_never_ends_ends() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"again": schema}
    assert invented_call([{"function": {"name": "f", "parameters": schema}}], 0).text


def test_arguments_may_be_text_or_an_object() -> None:
    assert Call(name="f", arguments='{"a": 1}').text == '{"a": 1}'
    assert Call(name="f", arguments={"a": 1}).text == '{"a":1}'


def test_text_parts_count_as_the_text_of_a_message() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    whole = chat(messages=[{"role": "system", "content": None}, {"role": "user", "content": "ab"}])
    cut = chat(messages=[{"role": "developer"}, {"role": "user", "content": parts}])
    assert fingerprint(whole.messages) == fingerprint(cut.messages)
    assert prompt_tokens(whole.messages) == 6


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param(b"{", "request body is not JSON", id="cut"),
        pytest.param(b"\xff", "request body is not JSON", id="no UTF-8"),
        pytest.param(b"[]", "request body: Expected `object`", id="no object"),
        pytest.param(b'{"messages":[]}', "missing required field `model`", id="no model"),
        pytest.param(b'{"model":"m","messages":[]}', "`messages` is empty", id="no message"),
        pytest.param(b'{"model":"m","messages":[{"role":1}]}', "`$.messages[0].role`", id="type"),
        pytest.param(
            b'{"model":"m","max_tokens":0,"messages":[{"role":"user"}]}',
            "`max_tokens` is 0; 1 is the least",
            id="limit",
        ),
    ],
)
def test_a_bad_body_is_refused_with_the_place(body: bytes, said: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        decode_chat(body)
    assert caught.value.status == 400
    assert said in caught.value.message
