"""Messages and responses: the meter reads back what the simulator's own log says it sent."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from bench.model.case import ChatRequest, Message
from bench.model.trial import Response
from bench.ports import Call
from bench.prompt import prompt_hash
from bench.wire import PROTOCOLS
from tests.api_bytes import TOOL, called
from tests.asking import KEY, STAMPS_DIFFER_NS, asking, call
from tests.simulator_process import Simulator, running_simulator

pytestmark = pytest.mark.integration
_TOKEN_KINDS = ("content", "reasoning", "tool")
both_apis = pytest.mark.parametrize("api", ["messages", "responses"])
all_apis = pytest.mark.parametrize("api", sorted(PROTOCOLS))


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    with running_simulator(
        tmp_path_factory.mktemp("simulator"), "--any-model", is_covered=True
    ) as running:
        yield running


def _ask(
    simulator: Simulator, api: str, *calls: Call, stream: bool = True
) -> list[tuple[int, Response, dict[str, Any]]]:
    """Ask one after another; return t0, the response and what the sender noted of it."""
    wire = PROTOCOLS[api]
    # The two ways in which a key is carried.
    key = ("x-api-key", KEY) if api == "messages" else ("Authorization", f"Bearer {KEY}")

    async def scene() -> list[tuple[int, Response]]:
        url = f"{simulator.base_url}{wire.path}"
        headers = (*wire.headers, key)
        async with asking(url, stream=stream, wire=wire, headers=headers) as client:
            return [await client.send(each) for each in calls]

    answers = asyncio.run(scene())
    return [(t0, seen, simulator.record_of(seen.request_id or "")) for t0, seen in answers]


def _talk(model: str, *messages: Message, **fields: Any) -> Call:
    usual = call(model)
    request = ChatRequest(messages=messages, tools=(TOOL,), **fields)
    return Call(target=usual.target, request=request, timeout_ms=usual.timeout_ms, tags={})


def _sent(record: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Return (sent at ns, kind, characters) of the token events."""
    return [(at, kind, size) for at, kind, size, _ in record["events"] if kind in _TOKEN_KINDS]


@both_apis
@pytest.mark.parametrize(
    "model",
    [
        pytest.param("sim-ttft20-itl2-n20", id="steady"),
        pytest.param("sim-ttft20-itl2-n6-reasoningcontent8", id="a summary of reasoning"),
        pytest.param("sim-ttft20-itl2-n6-reasoning8", id="raw reasoning"),
        pytest.param("sim-ttft5-itl1-n4-reasoning2-tools2", id="all kinds"),
        pytest.param("sim-ttft10-itl1-n12-coalesce4", id="several events in a write"),
        pytest.param("sim-ttft10-itl1-n12-unicode-split3", id="cut inside characters"),
        pytest.param("sim-ttft10-itl1-n12-crlf-pings-comments-multiline", id="odd spelling"),
        pytest.param("sim-ttft10-itl1-n12-gzip-norole", id="gzip"),
    ],
)
def test_every_event_is_read_once_in_order_and_never_before_it_was_sent(
    simulator: Simulator, api: str, model: str
) -> None:
    for t0_ns, response, record in _ask(simulator, api, call(model), call(model)):
        sent, read = _sent(record), response.stream_chunks
        assert response.error is None
        assert response.simulated
        assert record["api"] == api
        assert [(chunk.kind, chunk.characters) for chunk in read] == [row[1:] for row in sent]
        for chunk, (at_ns, _, _) in zip(read, sent, strict=True):
            assert t0_ns + chunk.at_ms * 1e6 + STAMPS_DIFFER_NS >= at_ns
        assert response.usage is not None
        assert response.usage.completion_tokens == record["sent_tokens"]
        assert response.usage.prompt_tokens == record["prompt_tokens"]
        assert response.usage.cost_usd is not None


@all_apis
def test_the_same_question_has_the_same_hash_in_every_protocol(
    simulator: Simulator, api: str
) -> None:
    system = Message(role="system", content="be short")
    said = Message(role="assistant", content="on it", tool_calls=(called("a"), called("b")))
    results = [Message(role="tool", content=f"r{id_}", tool_call_id=id_) for id_ in "ab"]
    talk = [system, Message(role="user", content="do"), said, *results]
    other = Message(role="assistant", tool_calls=(called("c"),))
    asked = _talk("sim-n3", *talk, other, Message(role="tool", content="", tool_call_id="c"))
    ((_, response, record),) = _ask(simulator, api, asked)
    assert response.error is None
    texts = ["be short", "do", "on it", "ra", "rb", "", ""]
    assert record["prompt_hash"] == prompt_hash(texts)


@all_apis
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
def test_a_conversation_with_tools_gives_sealed_reasoning_back(
    simulator: Simulator, api: str, *, stream: bool
) -> None:
    """The simulator refuses reasoning that it did not write, and calls without their reasoning."""
    question = Message(role="user", content="look around")
    model = "sim-n2-reasoning3-tools2"
    asked = _talk(model, question, reasoning_effort="low", max_tokens=500)
    ((_, first, _),) = _ask(simulator, api, asked, stream=stream)
    assert first.finish_reason == "tool_calls"
    assert first.opaque
    # A loop gives calls new ids where it must.
    calls = tuple(called(f"n{i}", c.arguments, c.name) for i, c in enumerate(first.tool_calls))
    said = Message(role="assistant", content=first.content, tool_calls=calls, opaque=first.opaque)
    results = [Message(role="tool", content="ok", tool_call_id=f"n{i}") for i in range(2)]
    again = _talk(model, question, said, *results, reasoning_effort="low", max_tokens=500)
    ((_, second, record),) = _ask(simulator, api, again, stream=stream)
    assert second.error is None
    assert record["status"] == 200


def _changed(part: dict[str, Any]) -> dict[str, Any]:
    return {**part, **{key: "no" for key in ("signature", "encrypted_content") if key in part}}


@both_apis
def test_reasoning_that_was_changed_is_refused(simulator: Simulator, api: str) -> None:
    question = Message(role="user", content="look around")
    asked = _talk("sim-n2-reasoning3-tools1", question, reasoning_effort="low", max_tokens=500)
    ((_, first, _),) = _ask(simulator, api, asked)
    said = Message(
        role="assistant",
        content=first.content,
        tool_calls=(called("n"),),
        opaque=tuple(map(_changed, first.opaque)),
    )
    result = Message(role="tool", content="ok", tool_call_id="n")
    again = _talk("sim-n2", question, said, result, reasoning_effort="low", max_tokens=500)
    ((_, second, _),) = _ask(simulator, api, again)
    assert second.error is not None
    assert (second.error.code, "not the reasoning that was sent" in second.error.message) == (
        "http_400",
        True,
    )


@both_apis
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("cut3", "stream_incomplete"),
        ("reset3", "connect_reset"),
        ("eof3", "stream_incomplete"),
        ("error3", "upstream_stream_error"),
        ("badjson2", "invalid_stream_json"),
        ("nofinish", "stream_incomplete"),
        ("empty", "empty_answer"),
        ("status503", "http_503"),
        ("status429-retryafter2", "rate_limited"),
        ("status502-html", "http_502"),
    ],
)
def test_every_failure_the_simulator_plays_has_its_code(
    simulator: Simulator, api: str, words: str, code: str
) -> None:
    ((_, response, record),) = _ask(simulator, api, call(f"sim-ttft2-itl1-n8-{words}"))
    assert response.error is not None
    assert response.error.code == code
    assert len(response.stream_chunks) == len(_sent(record))
    if words in {"cut3", "reset3", "eof3", "error3"}:
        # What the start of a message says is no count of an answer that broke off.
        assert response.usage is None


@both_apis
def test_an_answer_cut_by_its_limit_says_so(simulator: Simulator, api: str) -> None:
    for stream in (True, False):
        asked = call("sim-n40", max_tokens=20)
        ((_, response, _),) = _ask(simulator, api, asked, stream=stream)
        assert response.error is None
        assert response.finish_reason == "length"
        assert response.provider_finish_reason in {"max_tokens", "max_output_tokens"}


@all_apis
def test_without_streaming_there_is_a_total_and_no_ttft(simulator: Simulator, api: str) -> None:
    ((_, response, record),) = _ask(simulator, api, call("sim-ttft5-n20"), stream=False)
    timing = response.timing
    assert response.error is None
    assert record["stream"] is False
    assert (timing.first_content_ms, timing.first_token_ms) == (None, None)
    assert (timing.itl_ms, timing.tpot_ms, timing.held_back) == (None, None, None)
    assert timing.total_ms is not None
    assert response.usage is not None
