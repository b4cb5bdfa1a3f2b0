"""The client on real sockets: connections, phases, time limits, cuts and cancelling."""

import asyncio
import gzip
import socket
import ssl
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bench.client import HttpChatClient, Timeouts
from bench.model.trial import Response
from tests.asking import asking, call, endpoint
from tests.fake_gateway import (
    ANSWER,
    DONE,
    END,
    FINISH,
    HEAD,
    Act,
    Step,
    chunk,
    content,
    fake_gateway,
)

pytestmark = pytest.mark.integration
_T = TypeVar("_T")
_TLS = Path(__file__).parents[2] / "cases" / "tls"


def _run(scene: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(scene)


async def _ask(*steps: Step, timeouts: Timeouts | None = None, ms: float = 60_000) -> Response:
    """Ask a fresh gateway that plays ``steps`` once."""
    async with fake_gateway(steps) as gateway, asking(gateway.url, timeouts=timeouts) as client:
        return (await client.send(call(timeout_ms=ms)))[1]


def _code(response: Response) -> str | None:
    return response.error.code if response.error else None


# ---- connections ---------------------------------------------------------------------------------


def test_a_connection_is_cold_once_and_warm_afterwards() -> None:
    async def scene() -> tuple[list[Response], int]:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url) as client:
            responses = [(await client.send(call()))[1] for _ in range(3)]
            return responses, gateway.connections

    responses, connections = _run(scene())
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
    response = _run(_ask(HEAD, 0.01, content("a"), 0.01, content("b"), 0.01, FINISH + DONE, END))
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

    responses, connections = _run(scene())
    assert connections == 4
    assert len({response.local_port for response in responses}) == 4
    assert [_code(response) for response in responses] == [None] * 4


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

    _, second = _run(scene())
    assert (_code(second), second.connection) == (None, "cold")


def test_an_answer_ends_with_its_last_chunk_though_the_socket_is_held() -> None:
    response = _run(_ask(*ANSWER, Act.HOLD))
    assert _code(response) is None
    assert not response.timing.body_not_ended


@pytest.mark.parametrize("end", [Act.CLOSE, Act.RESET], ids=["closed", "reset"])
def test_a_kept_connection_that_died_is_replaced_once(end: Act) -> None:
    async def scene() -> tuple[list[Response], int]:
        # The second request reaches a server that closes without a word.
        async with fake_gateway(ANSWER, [end], ANSWER) as gateway, asking(gateway.url) as client:
            responses = [(await client.send(call()))[1] for _ in range(2)]
            return responses, gateway.connections

    responses, connections = _run(scene())
    assert [_code(response) for response in responses] == [None, None]
    assert [response.connection for response in responses] == ["cold", "cold"]
    assert connections == 2
    assert responses[1].timing.connect_ms is not None


def test_a_fresh_connection_that_dies_is_not_tried_again() -> None:
    async def scene() -> tuple[Response, int]:
        async with fake_gateway([Act.CLOSE], ANSWER) as gateway, asking(gateway.url) as client:
            return (await client.send(call()))[1], len(gateway.requests)

    response, requests = _run(scene())
    assert (_code(response), requests) == ("connect_reset", 1)


def test_a_request_whose_answer_began_is_not_sent_again() -> None:
    async def scene() -> tuple[Response, int]:
        async with (
            fake_gateway(ANSWER, [HEAD, Act.RESET], ANSWER) as gateway,
            asking(gateway.url) as client,
        ):
            await client.send(call())
            return (await client.send(call()))[1], len(gateway.requests)

    response, requests = _run(scene())
    assert (_code(response), requests, response.connection) == ("connect_reset", 2, "warm")


def test_an_idle_connection_that_was_closed_is_noticed_before_it_is_used() -> None:
    async def scene() -> tuple[Response, int]:
        async with (
            fake_gateway([*ANSWER, 0.01, Act.CLOSE], ANSWER) as gateway,
            asking(gateway.url) as client,
        ):
            await client.send(call())
            await asyncio.sleep(0.1)
            return (await client.send(call()))[1], len(gateway.requests)

    response, requests = _run(scene())
    assert (_code(response), requests, response.connection) == (None, 2, "cold")


# ---- no connection -------------------------------------------------------------------------------


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def _ask_url(url: str, **changes: Any) -> Response:
    timeouts = changes.pop("timeouts", None)
    async with asking(url, timeouts=timeouts, **changes) as client:
        return (await client.send(call()))[1]


def test_a_port_nobody_listens_on_refuses() -> None:
    port = _free_port()
    response = _run(_ask_url(f"http://127.0.0.1:{port}/v1"))
    assert response.error is not None
    assert (response.error.code, response.error.seed_code) == ("connect_refused", "request_error")
    assert response.error.message == f"127.0.0.1:{port} refused the connection"
    assert (response.connection, response.local_port, response.status) == (None, None, None)
    assert response.timing.total_ms is not None
    assert response.timing.sent_ms is None


def test_a_name_that_does_not_exist_is_a_dns_error() -> None:
    # RFC 6761: names below `.invalid` never resolve.
    response = _run(_ask_url("http://no-such-host.invalid/v1"))
    assert response.error is not None
    assert response.error.code == "dns_error"
    assert "`no-such-host.invalid`" in response.error.message


def test_a_name_is_looked_up_in_a_phase_of_its_own() -> None:
    async def scene() -> Response:
        async with fake_gateway(ANSWER) as gateway:
            return await _ask_url(gateway.url.replace("127.0.0.1", "localhost"))

    response = _run(scene())
    assert _code(response) is None
    assert response.timing.dns_ms is not None
    assert response.timing.connect_ms is not None


def test_a_server_that_does_not_take_connections_is_a_connect_timeout() -> None:
    async def scene() -> Response:
        with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            for waiting in (first, second):  # a full backlog drops what comes then
                waiting.setblocking(False)
                waiting.connect_ex(listener.getsockname())
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            return await _ask_url(url, timeouts=Timeouts(connect_ms=200))

    response = _run(scene())
    assert response.error is not None
    assert (response.error.code, response.error.seed_code) == ("connect_timeout", "TimeoutError")


# ---- TLS -----------------------------------------------------------------------------------------


def _server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_TLS / "cert.pem", _TLS / "key.pem")
    return context


def test_tls_is_verified_against_the_given_authority_and_is_a_phase() -> None:
    async def scene() -> list[Response]:
        async with fake_gateway(ANSWER, tls=_server_tls()) as gateway:
            url = gateway.url.replace("http://", "https://")
            async with asking(url, cacert=_TLS / "cert.pem") as client:
                return [(await client.send(call()))[1] for _ in range(2)]

    cold, warm = _run(scene())
    assert [_code(cold), _code(warm)] == [None, None]
    assert (cold.content, warm.connection) == ("hi", "warm")
    assert cold.timing.tls_ms is not None
    assert warm.timing.tls_ms is None


def test_a_certificate_nobody_vouches_for_is_a_tls_error() -> None:
    async def scene() -> Response:
        async with fake_gateway(ANSWER, tls=_server_tls()) as gateway:
            return await _ask_url(gateway.url.replace("http://", "https://"))

    error = _run(scene()).error
    assert error is not None
    assert error.code == "tls_error"
    assert "certificate" in error.message


def test_a_certificate_for_another_name_is_a_tls_error() -> None:
    async def scene() -> Response:
        async with fake_gateway(ANSWER, tls=_server_tls()) as gateway:
            # 127.0.0.2 is this machine too, and not in the certificate.
            url = gateway.url.replace("http://127.0.0.1", "https://127.0.0.2")
            return await _ask_url(url, cacert=_TLS / "cert.pem")

    assert _code(_run(scene())) in {"tls_error", "connect_refused"}


def test_tls_to_a_plain_port_is_a_tls_error() -> None:
    async def scene() -> Response:
        async with fake_gateway(on_connect=[b"HTTP/1.1 400 Bad\r\n\r\n", Act.CLOSE]) as gateway:
            return await _ask_url(gateway.url.replace("http://", "https://"))

    assert _code(_run(scene())) == "tls_error"


def test_a_connection_reset_in_the_handshake_is_told_so() -> None:
    async def scene() -> Response:
        async with fake_gateway(on_connect=[Act.RESET]) as gateway:
            return await _ask_url(gateway.url.replace("http://", "https://"))

    assert _code(_run(scene())) in {"connect_reset", "tls_error"}


# ---- time limits ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        pytest.param([Act.HOLD], "header_timeout", id="no headers"),
        pytest.param([HEAD[:20], Act.HOLD], "header_timeout", id="half the headers"),
        pytest.param([HEAD + content("hi"), Act.HOLD], "total_timeout", id="a stall"),
    ],
)
def test_the_limit_of_a_request_says_where_it_struck(steps: Sequence[Step], code: str) -> None:
    response = _run(_ask(*steps, ms=150))
    assert response.error is not None
    assert (response.error.code, response.error.seed_code) == (code, "TimeoutError")
    assert response.timing.total_ms is not None
    assert response.timing.total_ms >= 150


def test_a_silent_stream_is_an_idle_timeout_and_keeps_what_came() -> None:
    timeouts = Timeouts(idle_ms=100)
    response = _run(_ask(HEAD + content("one"), Act.HOLD, timeouts=timeouts))
    assert _code(response) == "idle_timeout"
    assert (response.content, response.status) == ("one", 200)
    assert response.timing.first_content_ms is not None


def test_a_slow_stream_that_goes_on_is_not_idle() -> None:
    steps: list[Step] = [
        HEAD,
        *(step for _ in range(4) for step in (0.05, content("x"))),
        FINISH + DONE + END,
    ]
    response = _run(_ask(*steps, timeouts=Timeouts(idle_ms=2_000)))
    assert _code(response) is None


def test_a_body_that_does_not_end_after_done_is_closed_and_marked() -> None:
    async def scene() -> Response:
        answer: list[Step] = [HEAD + content("hi") + FINISH + DONE, Act.HOLD]
        async with fake_gateway(answer) as gateway, asking(gateway.url) as client:
            response = (await client.send(call()))[1]
            await gateway.left.wait()
            return response

    response = _run(scene())
    assert _code(response) is None
    assert response.timing.body_not_ended
    assert response.timing.total_ms == response.timing.last_content_ms


def test_a_body_that_ends_late_after_done_is_read_to_its_end() -> None:
    response = _run(_ask(HEAD + content("hi") + FINISH + DONE, 0.1, END))
    assert not response.timing.body_not_ended
    assert response.timing.total_ms is not None
    assert response.timing.total_ms > (response.timing.last_content_ms or 0)


# ---- cuts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "code", "text"),
    [
        pytest.param([Act.CLOSE], "connect_reset", "", id="closed without a word"),
        pytest.param([Act.RESET], "connect_reset", "", id="reset without a word"),
        pytest.param([HEAD + content("a"), Act.CLOSE], "stream_incomplete", "a", id="closed"),
        pytest.param([HEAD + content("a"), 0.05, Act.RESET], "connect_reset", "a", id="reset"),
        pytest.param([HEAD + content("a") + END], "stream_incomplete", "a", id="ended early"),
        pytest.param(
            [HEAD + content("a") + FINISH + DONE, Act.CLOSE], None, "a", id="closed after done"
        ),
        pytest.param([b"SSH-2.0-OpenSSH_9.2\r\n", Act.HOLD], "invalid_http", "", id="no HTTP"),
        pytest.param([HEAD + END], "empty_answer", "", id="empty"),
        pytest.param(
            [HEAD + chunk(b"data: {oops\n\n") + FINISH + DONE + END],
            "invalid_stream_json",
            "",
            id="wrong JSON",
        ),
        pytest.param(
            [b"HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n"],
            "http_302",
            "",
            id="redirect",
        ),
        pytest.param(
            [b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 60_000, Act.HOLD],
            "response_too_large",
            "",
            id="endless headers",
        ),
    ],
)
def test_every_way_to_end_has_its_code(steps: Sequence[Step], code: str | None, text: str) -> None:
    response = _run(_ask(*steps))
    assert (_code(response), response.content) == (code, text)


def test_a_redirect_is_not_followed_and_the_key_goes_nowhere() -> None:
    async def scene() -> tuple[Response, int]:
        async with fake_gateway(ANSWER) as other:
            moved: Step = (
                f"HTTP/1.1 307 X\r\nlocation: {other.url}\r\ncontent-length: 0\r\n\r\n".encode()
            )
            async with fake_gateway([moved]) as gateway, asking(gateway.url) as client:
                return (await client.send(call()))[1], other.connections

    response, connections = _run(scene())
    assert (_code(response), connections) == ("http_307", 0)


def test_a_compressed_stream_is_read_as_it_comes() -> None:
    event = b'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    packed = gzip.compress(event)
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed)
    response = _run(_ask(head + packed[:20], 0.01, packed[20:]))
    assert (_code(response), response.content) == (None, "hi")


# ---- the request ---------------------------------------------------------------------------------


def test_a_raw_body_is_sent_byte_for_byte() -> None:
    raw = b'{ "model": "x",\n  "stream" : true, "messages": [] }'

    async def scene() -> bytes:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url, raw_body=raw) as client:
            assert client.encoded_size(call()) == len(raw)
            await client.send(call())
            return gateway.requests[0]

    assert _run(scene()).endswith(b"\r\n\r\n" + raw)


def test_the_size_of_a_request_is_that_of_its_body() -> None:
    async def scene() -> tuple[int, bytes]:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url) as client:
            asked = call(text="wörter " * 100, max_tokens=5)
            await client.send(asked)
            return client.encoded_size(asked), gateway.requests[0]

    size, request = _run(scene())
    assert len(request.partition(b"\r\n\r\n")[2]) == size


def test_a_large_request_is_sent_to_its_last_byte_before_it_counts_as_sent() -> None:
    async def scene() -> tuple[Response, bytes]:
        async with fake_gateway(ANSWER) as gateway, asking(gateway.url) as client:
            response = (await client.send(call(text="x" * 8_000_000)))[1]
            return response, gateway.requests[0]

    response, request = _run(scene())
    assert len(request) > 8_000_000
    assert _code(response) is None
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

    first, second = _run(scene())
    assert _code(first) == "http_413"
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

    _run(scene())


def test_closing_a_client_closes_its_idle_connections() -> None:
    async def scene() -> None:
        async with fake_gateway(ANSWER) as gateway:
            client = HttpChatClient(endpoint(gateway.url))
            await client.send(call())
            await client.close()
            assert (await client.send(call()))[1].connection == "cold"
            await client.close()

    _run(scene())


def test_a_blocked_event_loop_shows_as_client_lag() -> None:
    async def scene() -> Response:
        answer: list[Step] = [HEAD, 0.1, content("hi") + FINISH + END]
        async with fake_gateway(answer) as gateway, asking(gateway.url) as client:
            task = asyncio.create_task(client.send(call()))
            await asyncio.sleep(0.03)
            time.sleep(0.08)  # noqa: ASYNC251 - the point of the test
            return (await task)[1]

    response = _run(scene())
    assert response.timing.client_lag_ms is not None
    assert response.timing.client_lag_ms >= 40
