"""The meter reads back what the simulator's own log says it sent, event by event."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from bench.model.trial import Response
from tests.asking import STAMPS_DIFFER_NS, asking, call
from tests.simulator_process import Simulator, running_simulator

pytestmark = pytest.mark.integration
_TOKEN_KINDS = ("content", "reasoning", "tool")


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    with running_simulator(tmp_path_factory.mktemp("simulator"), "--any-model") as running:
        yield running


def _ask(
    simulator: Simulator, *models: str, stream: bool = True, **fields: Any
) -> list[tuple[int, Response, dict[str, Any]]]:
    """Ask one after another; return t0, the response and what the sender noted of it."""

    async def scene() -> list[tuple[int, Response]]:
        url = f"{simulator.base_url}/chat/completions"
        async with asking(url, stream=stream) as client:
            return [await client.send(call(model, **fields)) for model in models]

    answers = asyncio.run(scene())
    return [(t0, response, _record_of(simulator, response)) for t0, response in answers]


def _record_of(simulator: Simulator, response: Response) -> dict[str, Any]:
    return simulator.record_of(response.request_id or "")


def _sent(record: dict[str, Any]) -> list[tuple[int, str, int]]:
    """Return (sent at ns, kind, characters) of the token events."""
    return [(at, kind, size) for at, kind, size, _ in record["events"] if kind in _TOKEN_KINDS]


def _assert_read_back(t0_ns: int, response: Response, record: dict[str, Any]) -> None:
    """Compare what was read with what was sent: same events, same order, none before it was sent."""
    sent = _sent(record)
    read = response.stream_chunks
    assert [chunk.kind for chunk in read] == [kind for _, kind, _ in sent]
    for chunk, (at_ns, _, _) in zip(read, sent, strict=True):
        assert t0_ns + chunk.at_ms * 1e6 + STAMPS_DIFFER_NS >= at_ns
    assert [chunk.at_ms for chunk in read] == sorted(chunk.at_ms for chunk in read)
    assert t0_ns <= record["received_ns"]


@pytest.mark.parametrize(
    "model",
    [
        pytest.param("sim-ttft20-itl2-n20", id="steady"),
        pytest.param("sim-ttft20-itl2-n10-reasoning8", id="reasoning"),
        pytest.param("sim-ttft10-itl1-n12-coalesce4", id="several events in a write"),
        pytest.param("sim-ttft10-itl1-n12-split7", id="writes cut into pieces"),
        pytest.param("sim-ttft10-itl1-n12-crlf", id="crlf"),
        pytest.param("sim-ttft10-itl1-n12-gzip", id="gzip"),
        pytest.param("sim-ttft10-itl1-n12-unicode-split3", id="cut inside characters"),
    ],
)
def test_every_event_is_read_once_in_order_and_never_before_it_was_sent(
    simulator: Simulator, model: str
) -> None:
    for t0_ns, response, record in _ask(simulator, model, model):
        assert response.error is None
        assert response.simulated
        _assert_read_back(t0_ns, response, record)
        assert response.usage is not None
        assert response.usage.completion_tokens == record["sent_tokens"]
        timing = response.timing
        assert timing.first_token_ms is not None
        assert t0_ns + timing.first_token_ms * 1e6 + STAMPS_DIFFER_NS >= _sent(record)[0][0]


def test_a_tool_call_is_read_back_piece_by_piece(simulator: Simulator) -> None:
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    ((t0_ns, response, record),) = _ask(simulator, "sim-ttft5-itl1-tools1", tools=(tool,))
    assert response.error is None
    assert response.finish_reason == "tool_calls"
    assert [made.name for made in response.tool_calls] == ["look_up"]
    _assert_read_back(t0_ns, response, record)


def test_a_gateway_that_holds_everything_back_is_found_out(simulator: Simulator) -> None:
    ((_, held, _),) = _ask(simulator, "sim-ttft10-itl10-n30-hold")
    assert held.timing.held_back
    assert held.timing.coalesced_share is not None
    assert held.timing.coalesced_share > 0.5
    # A steady one that comes in a burst, because the machine stood still, is held back in truth.
    steady = (_ask(simulator, "sim-ttft10-itl10-n30")[0][1] for _ in range(5))
    assert any(response.timing.held_back is False for response in steady)


def test_a_cut_is_seen_after_as_many_tokens_as_were_sent(simulator: Simulator) -> None:
    ((_, response, record),) = _ask(simulator, "sim-ttft5-itl1-n20-cut7")
    assert response.error is not None
    assert response.error.code == "stream_incomplete"
    assert len(response.stream_chunks) == len(_sent(record)) == 7


@pytest.mark.parametrize(
    ("words", "code"),
    [
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
    simulator: Simulator, words: str, code: str
) -> None:
    ((_, response, _),) = _ask(simulator, f"sim-ttft2-itl1-n8-{words}")
    assert response.error is not None
    assert response.error.code == code


def test_a_stall_is_an_idle_or_total_timeout_with_what_came_before(simulator: Simulator) -> None:
    async def scene() -> Response:
        async with asking(f"{simulator.base_url}/chat/completions") as client:
            return (await client.send(call("sim-ttft2-itl1-n8-stall3", timeout_ms=5_000)))[1]

    response = asyncio.run(scene())
    assert response.error is not None
    assert response.error.code == "total_timeout"
    assert len(response.stream_chunks) == 3


def test_usage_that_is_sent_twice_is_counted_once(simulator: Simulator) -> None:
    once, twice = _ask(simulator, "sim-n6", "sim-n6-doubleusage")
    assert once[1].usage is not None
    assert twice[1].usage is not None
    assert twice[1].usage.completion_tokens == once[1].usage.completion_tokens == 6


def test_without_streaming_there_is_a_total_and_no_ttft(simulator: Simulator) -> None:
    ((_, response, record),) = _ask(simulator, "sim-ttft5-n20", stream=False)
    timing = response.timing
    assert response.error is None
    assert record["stream"] is False
    assert (timing.first_content_ms, timing.itl_ms, timing.held_back) == (None, None, None)
    assert timing.total_ms is not None
    assert response.usage is not None


def test_many_streams_at_once_are_each_read_back(simulator: Simulator) -> None:
    async def scene() -> Sequence[tuple[int, Response]]:
        async with asking(f"{simulator.base_url}/chat/completions") as client:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(client.send(call("sim-ttft10-itl2-n15"))) for _ in range(8)
                ]
            return [task.result() for task in tasks]

    for t0_ns, response in asyncio.run(scene()):
        _assert_read_back(t0_ns, response, _record_of(simulator, response))
