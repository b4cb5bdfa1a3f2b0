"""The client on real sockets: connections, phases, time limits, cuts and cancelling."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from bench.client.chat_client import HttpChatClient
from bench.model.trial import Response
from tests.asking import ask, asking, call, code, endpoint, run
from tests.fake_gateway import (
    ANSWER,
    DONE,
    END,
    FINISH,
    HEAD,
    Act,
    Step,
    content,
    fake_gateway,
)

pytestmark = pytest.mark.integration


# ---- connections ---------------------------------------------------------------------------------


def test_a_connection_is_cold_once_and_warm_afterwards() -> None:
    async def scene() -> tuple[list[Response], int]:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url) as client:
            responses = [(await client.send(call()))[1] for _ in range(3)]
            return responses, gateway.connections

    responses, connections = run(scene())
    assert connections == 1
    assert [response.connection for response in responses] == ["cold", "warm", "warm"]
    assert len({response.local_port for response in responses}) == 1
    cold, warm = responses[0].timing, responses[1].timing
    assert cold.connect_ms is not None
    assert (cold.dns_ms, cold.tls_ms) == (None, None)
    assert (warm.dns_ms, warm.connect_ms, warm.tls_ms) == (None, None, None)
    assert cold.sent_ms is not None
    assert cold.sent_ms > cold.connect_ms


def test_what_happens_is_stamped_in_its_order() -> None:
    response = run(ask(HEAD, 0.01, content("a"), 0.01, content("b"), 0.01, FINISH + DONE, END))
    timing = response.timing
    stamps = [
        timing.sent_ms,
        timing.headers_ms,
        timing.first_event_ms,
        timing.last_content_ms,
        timing.total_ms,
    ]
    assert None not in stamps
    assert stamps == sorted(stamp for stamp in stamps if stamp is not None)
    assert timing.first_content_ms is not None
    assert timing.first_content_ms > (timing.headers_ms or 0)
    assert timing.client_lag_ms is not None


def test_requests_in_flight_at_once_never_share_a_connection() -> None:
    async def scene() -> tuple[list[Response], int]:
        slow = (HEAD, 0.05, content("hi") + FINISH + DONE + END)
        async with fake_gateway(slow) as gateway, asking(gateway.url) as client:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(client.send(call())) for _ in range(4)]
            return [task.result()[1] for task in tasks], gateway.connections

    responses, connections = run(scene())
    assert connections == 4
    assert len({response.local_port for response in responses}) == 4
    assert [code(response) for response in responses] == [None] * 4


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(
            [ANSWER[0].replace(b"content-type", b"connection: close\r\ncontent-type"), Act.HOLD]
            if isinstance(ANSWER[0], bytes)
            else [],
            id="close is announced, the socket held open",
        ),
        pytest.param([*ANSWER, b"noise behind the answer"], id="noise behind it"),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\n\r\n" + b"data: {}\n\n", Act.CLOSE], id="ends with the file"
        ),
    ],
)
def test_a_connection_that_cannot_be_trusted_is_not_used_again(answer: Sequence[Step]) -> None:
    async def scene() -> tuple[Response, Response]:
        async with fake_gateway(answer, ANSWER) as gateway, asking(gateway.url) as client:
            first = (await client.send(call()))[1]
            await asyncio.sleep(0.02)
            return first, (await client.send(call()))[1]

    _, second = run(scene())
    assert (code(second), second.connection) == (None, "cold")


def test_an_answer_ends_with_its_last_chunk_though_the_socket_is_held() -> None:
    response = run(ask(*ANSWER, Act.HOLD))
    assert code(response) is None
    assert not response.timing.body_not_ended


@pytest.mark.parametrize("end", [Act.CLOSE, Act.RESET], ids=["closed", "reset"])
def test_a_kept_connection_that_died_is_replaced_once(end: Act) -> None:
    async def scene() -> tuple[list[Response], int]:
        # The second request reaches a server that closes without a word.
        async with fake_gateway(ANSWER, [end], ANSWER) as gateway, asking(gateway.url) as client:
            responses = [(await client.send(call()))[1] for _ in range(2)]
            return responses, gateway.connections

    responses, connections = run(scene())
    assert [code(response) for response in responses] == [None, None]
    assert [response.connection for response in responses] == ["cold", "cold"]
    assert connections == 2
    assert responses[1].timing.connect_ms is not None


def test_a_fresh_connection_that_dies_is_not_tried_again() -> None:
    async def scene() -> tuple[Response, int]:
        async with fake_gateway([Act.CLOSE], ANSWER) as gateway, asking(gateway.url) as client:
            return (await client.send(call()))[1], len(gateway.requests)

    response, requests = run(scene())
    assert (code(response), requests) == ("connect_reset", 1)


def test_a_request_whose_answer_began_is_not_sent_again() -> None:
    async def scene() -> tuple[Response, int]:
        async with (
            fake_gateway(ANSWER, [HEAD, Act.RESET], ANSWER) as gateway,
            asking(gateway.url) as client,
        ):
            await client.send(call())
            return (await client.send(call()))[1], len(gateway.requests)

    response, requests = run(scene())
    assert (code(response), requests, response.connection) == ("connect_reset", 2, "warm")


def test_an_idle_connection_that_was_closed_is_noticed_before_it_is_used() -> None:
    async def scene() -> tuple[Response, int]:
        async with (
            fake_gateway([*ANSWER, 0.01, Act.CLOSE], ANSWER) as gateway,
            asking(gateway.url) as client,
        ):
            await client.send(call())
            await asyncio.sleep(0.1)
            return (await client.send(call()))[1], len(gateway.requests)

    response, requests = run(scene())
    assert (code(response), requests, response.connection) == (None, 2, "cold")


# ---- the request ---------------------------------------------------------------------------------


def test_a_raw_body_is_sent_byte_for_byte() -> None:
    raw = b'{ "model": "x",\n  "stream" : true, "messages": [] }'

    async def scene() -> bytes:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url, raw_body=raw) as client:
            assert client.encoded_size(call()) == len(raw)
            await client.send(call())
            return gateway.requests[0]

    assert run(scene()).endswith(b"\r\n\r\n" + raw)


def test_the_size_of_a_request_is_that_of_its_body() -> None:
    async def scene() -> tuple[int, bytes]:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url) as client:
            asked = call(text="wörter " * 100, max_tokens=5)
            await client.send(asked)
            return client.encoded_size(asked), gateway.requests[0]

    size, request = run(scene())
    assert len(request.partition(b"\r\n\r\n")[2]) == size


def test_a_large_request_is_sent_to_its_last_byte_before_it_counts_as_sent() -> None:
    async def scene() -> tuple[Response, bytes]:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url) as client:
            response = (await client.send(call(text="x" * 8_000_000)))[1]
            return response, gateway.requests[0]

    response, request = run(scene())
    assert len(request) > 8_000_000
    assert code(response) is None
    assert response.timing.sent_ms is not None
    assert response.timing.headers_ms is not None
    assert response.timing.sent_ms <= response.timing.headers_ms


def test_an_answer_before_the_request_was_read_is_kept_and_the_connection_is_not() -> None:
    refused = b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n"

    async def scene() -> tuple[Response, Response]:
        async with (
            fake_gateway(ANSWER, on_connect=[refused, 0.2]) as gateway,
            asking(gateway.url) as client,
        ):
            first = (await client.send(call(text="x" * 8_000_000)))[1]
            return first, (await client.send(call()))[1]

    first, second = run(scene())
    assert code(first) == "http_413"
    assert second.connection == "cold"


def test_cancelling_closes_the_connection_and_raises() -> None:
    async def scene() -> None:
        async with fake_gateway([HEAD, Act.HOLD]) as gateway, asking(gateway.url) as client:
            task = asyncio.create_task(client.send(call()))
            await gateway.requested.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await gateway.left.wait()

    run(scene())


def test_closing_a_client_closes_its_idle_connections() -> None:
    async def scene() -> None:
        async with fake_gateway(ANSWER) as gateway:
            client = HttpChatClient(endpoint(gateway.url))
            await client.send(call())
            await client.close()
            assert (await client.send(call()))[1].connection == "cold"
            await client.close()

    run(scene())


def test_a_blocked_event_loop_shows_as_client_lag() -> None:
    async def scene() -> Response:
        answer: list[Step] = [HEAD, 0.1, content("hi") + FINISH + END]
        async with fake_gateway(answer) as gateway, asking(gateway.url) as client:
            task = asyncio.create_task(client.send(call()))
            await asyncio.sleep(0.03)
            time.sleep(0.08)  # noqa: ASYNC251 - the point of the test
            return (await task)[1]

    response = run(scene())
    assert response.timing.client_lag_ms is not None
    assert response.timing.client_lag_ms >= 40
