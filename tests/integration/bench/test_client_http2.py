"""The client over HTTP/2: one connection for many, every stream stamped and ended on its own."""

import asyncio
import gzip
import ssl
from pathlib import Path

import pytest
from h2.errors import ErrorCodes
from msgspec.structs import replace

from bench.authorities import Authorities
from tests.asking import asking, call, code, run
from tests.fake_gateway import ANSWER, Act, fake_gateway
from tests.h2_server import EVENT, FINISH, Stream, answered, h2_server

pytestmark = pytest.mark.integration
TLS = Path(__file__).parents[2] / "cases" / "tls"
TRUSTED = Authorities(file=TLS / "cert.pem")


def server_tls(*protocols: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    context.set_alpn_protocols(list(protocols))
    return context


def asking_h2(server, **changes):
    return asking(server.url(), **{"http_version": "2", **changes})


def test_a_request_and_its_answer_travel_over_http_2():
    async def scene():
        async with h2_server() as server, asking_h2(server) as client:
            responses = [(await client.send(call(text="hello")))[1] for _ in range(2)]
            return responses, server.streams, len(server.connections), client.vantage()

    (cold, warm), streams, connections, vantage = run(scene())
    assert (code(cold), cold.content, cold.http_version) == (None, "hi", "2")
    assert (cold.connection, warm.connection, connections) == ("cold", "warm", 1)
    assert cold.timing.connect_ms is not None
    assert warm.timing.connect_ms is None
    headers = streams[0].headers
    assert headers[b":path"] == b"/v1/chat/completions"
    assert headers[b"authorization"] == b"Bearer test-token"
    assert b'"hello"' in bytes(streams[0].body)
    assert vantage.http_versions == ("2",)
    timing = warm.timing
    assert 0 < timing.sent_ms <= timing.headers_ms <= timing.first_content_ms <= timing.total_ms


@pytest.mark.parametrize(
    ("offered", "asked", "spoken"),
    [
        pytest.param(("h2", "http/1.1"), "auto", "2", id="both-offered"),
        pytest.param(("h2",), "2", "2", id="asked-for"),
    ],
)
def test_over_tls_the_server_chooses(offered, asked, spoken):
    async def scene():
        async with h2_server(tls=server_tls(*offered)) as server:
            url = server.url("https", "localhost")
            async with asking(url, http_version=asked, authorities=TRUSTED) as client:
                return (await client.send(call()))[1], client.vantage()

    response, vantage = run(scene())
    assert (code(response), response.http_version) == (None, spoken)
    assert response.timing.tls_ms is not None
    assert vantage.tls is not None
    assert vantage.tls.startswith("TLSv1.")
    assert vantage.tls_p50_ms is not None


@pytest.mark.parametrize(("asked", "error"), [("auto", None), ("1.1", None), ("2", "tls_error")])
def test_a_server_without_http_2_is_asked_in_http_1_unless_2_was_demanded(asked, error):
    async def scene():
        async with fake_gateway(ANSWER, tls=server_tls("http/1.1")) as gateway:
            url = gateway.url.replace("http://127.0.0.1", "https://localhost")
            async with asking(url, http_version=asked, authorities=TRUSTED) as client:
                return [(await client.send(call()))[1] for _ in range(2)]

    first, second = run(scene())
    assert code(first) == error
    if error is None:
        assert (first.http_version, first.connection, second.connection) == ("1.1", "cold", "warm")
    else:
        assert "does not offer HTTP/2" in first.error.message


def test_requests_in_flight_share_a_connection_and_none_waits_for_another():
    async def scene():
        order, second_ended = [], asyncio.Event()

        async def slow(stream: Stream) -> None:
            stream.head()
            stream.send((EVENT % "a").encode())
            await second_ended.wait()
            stream.send(FINISH, ends=True)

        async with h2_server(slow, answered) as server, asking_h2(server) as client:
            first = asyncio.ensure_future(client.send(call()))
            first.add_done_callback(lambda _: order.append("first"))
            await server.has_arrived(1)
            second = (await client.send(call()))[1]
            order.append("second")
            second_ended.set()
            return (await first)[1], second, order, len(server.connections)

    first, second, order, connections = run(scene())
    assert (code(first), code(second)) == (None, None)
    assert (order, connections) == (["second", "first"], 1)


def test_who_waits_for_a_shared_connection_to_open_is_cold_too():
    async def scene():
        async with h2_server() as server, asking_h2(server) as client:
            sent = [asyncio.ensure_future(client.send(call())) for _ in range(5)]
            return [(await one)[1] for one in sent], len(server.connections)

    responses, connections = run(scene())
    assert [one.connection for one in responses] == ["cold"] * 5
    assert connections == 1


def test_beyond_the_server_s_limit_another_connection_is_opened():
    async def scene():
        gate = asyncio.Event()

        async def held(stream: Stream) -> None:
            await gate.wait()
            stream.answer()

        async with h2_server(answered, held, most_streams=2) as server, asking_h2(server) as client:
            await client.send(call())
            sent = [asyncio.ensure_future(client.send(call())) for _ in range(5)]
            await server.has_arrived(6)
            gate.set()
            return [(await one)[1] for one in sent], len(server.connections)

    responses, connections = run(scene())
    assert [code(one) for one in responses] == [None] * 5
    assert connections == 3


def test_a_body_larger_than_the_server_s_window_leaves_in_pieces():
    async def scene():
        async with h2_server() as server, asking_h2(server) as client:
            response = (await client.send(call(text="x" * 300_000)))[1]
            return response, len(server.streams[0].body)

    response, size = run(scene())
    assert code(response) is None
    assert size > 300_000
    assert response.timing.sent_ms is not None


def test_a_stream_larger_than_the_usual_window_comes_whole():
    async def scene():
        async def long(stream: Stream) -> None:
            stream.head()
            for _ in range(40):
                stream.send((EVENT % ("y" * 8_000)).encode())
                await stream.connection.writer.drain()
            stream.send(FINISH, ends=True)

        async with h2_server(long) as server, asking_h2(server) as client:
            return (await client.send(call()))[1]

    response = run(scene())
    assert code(response) is None
    assert len(response.content) == 320_000


def test_a_compressed_answer_is_undone():
    async def scene():
        async def packed(stream: Stream) -> None:
            stream.head(200, ("content-encoding", "gzip"))
            stream.send(gzip.compress((EVENT % "zip").encode() + FINISH), ends=True)

        async def spoilt(stream: Stream) -> None:
            stream.head(200, ("content-encoding", "gzip"))
            stream.send(b"no gzip at all", ends=True)

        async with h2_server(packed, spoilt, answered) as server, asking_h2(server) as client:
            return [(await client.send(call()))[1] for _ in range(3)]

    packed, spoilt, after = run(scene())
    assert (code(packed), packed.content) == (None, "zip")
    assert code(spoilt) == "invalid_http"
    assert (code(after), after.connection) == (None, "warm")


def test_a_status_error_and_an_error_body_are_read():
    async def scene():
        async def limited(stream: Stream) -> None:
            stream.head(429, ("retry-after", "3"))
            stream.send(b'{"error":{"message":"slow down"}}', ends=True)

        async def bare(stream: Stream) -> None:
            stream.head(503, ends=True)

        async with h2_server(limited, bare) as server, asking_h2(server) as client:
            return [(await client.send(call()))[1] for _ in range(2)]

    limited, bare = run(scene())
    assert (code(limited), limited.error.retry_after_ms) == ("rate_limited", 3000)
    assert "slow down" in limited.error.message
    assert code(bare) == "http_503"


@pytest.mark.parametrize(
    ("reset", "error", "said"),
    [
        (ErrorCodes.INTERNAL_ERROR, "stream_incomplete", "INTERNAL_ERROR"),
        (0xBEEF, "stream_incomplete", "error 48879"),
    ],
)
def test_a_stream_that_the_server_resets_is_told_and_the_connection_goes_on(reset, error, said):
    async def scene():
        async def broken(stream: Stream) -> None:
            stream.head()
            stream.send((EVENT % "a").encode())
            stream.refuse(reset)

        async with h2_server(broken, answered) as server, asking_h2(server) as client:
            return [(await client.send(call()))[1] for _ in range(2)], len(server.connections)

    (broken, after), connections = run(scene())
    assert code(broken) == error
    assert said in broken.error.message
    assert (code(after), after.connection, connections) == (None, "warm", 1)


def test_a_refused_stream_is_asked_once_more():
    async def scene():
        async def refused(stream: Stream) -> None:
            stream.refuse(ErrorCodes.REFUSED_STREAM)

        async with h2_server(answered, refused, answered) as server, asking_h2(server) as client:
            return [(await client.send(call()))[1] for _ in range(2)], len(server.streams)

    (_, second), streams = run(scene())
    assert code(second) is None
    assert streams == 3


def test_what_was_under_way_at_a_goodbye_is_answered_and_the_next_goes_elsewhere():
    async def scene():
        async def leaving(stream: Stream) -> None:
            stream.head()
            stream.goodbye(stream.number)
            stream.send((EVENT % "last").encode())
            stream.send(FINISH, ends=True)

        async with h2_server(leaving, answered) as server, asking_h2(server) as client:
            return [(await client.send(call()))[1] for _ in range(2)], len(server.connections)

    (last, after), connections = run(scene())
    assert (code(last), last.content) == (None, "last")
    assert (code(after), after.connection, connections) == (None, "cold", 2)


def test_what_a_goodbye_leaves_out_was_not_taken():
    async def scene():
        async def turned_away(stream: Stream) -> None:
            stream.goodbye(0, ErrorCodes.ENHANCE_YOUR_CALM)

        async with h2_server(turned_away) as server, asking_h2(server) as client:
            return (await client.send(call()))[1]

    response = run(scene())
    assert code(response) == "connect_reset"
    assert "ENHANCE_YOUR_CALM" in response.error.message


def test_a_cancelled_request_resets_its_stream_alone():
    async def scene():
        async def held(stream: Stream) -> None:
            stream.head()
            await stream.reset.wait()

        async with h2_server(held, answered) as server, asking_h2(server) as client:
            sending = asyncio.ensure_future(client.send(call()))
            await server.has_arrived(1)
            sending.cancel()
            await server.streams[0].reset.wait()
            return (await client.send(call()))[1], len(server.connections)

    after, connections = run(scene())
    assert (code(after), connections) == (None, 1)


def test_a_time_limit_ends_a_stream_and_not_its_connection():
    async def scene():
        async def silent(stream: Stream) -> None:
            stream.head()
            await stream.reset.wait()

        async with h2_server(silent, answered) as server, asking_h2(server) as client:
            late = (await client.send(call(timeout_ms=5_000)))[1]
            await server.streams[0].reset.wait()
            return late, (await client.send(call()))[1], len(server.connections)

    late, after, connections = run(scene())
    assert (code(late), code(after), connections) == ("total_timeout", None, 1)


def test_a_server_that_speaks_something_else_is_no_http_2():
    async def scene():
        async with (
            fake_gateway(on_connect=(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 3, Act.HOLD)) as gateway,
            asking(gateway.url, http_version="2") as client,
        ):
            return (await client.send(call()))[1]

    response = run(scene())
    assert code(response) == "invalid_http"
    assert "not HTTP/2" in response.error.message


@pytest.mark.parametrize("how", ["close", "abort"])
def test_a_connection_that_ends_takes_its_streams_along(how):
    async def scene():
        async def gone(stream: Stream) -> None:
            stream.head()
            stream.send((EVENT % "a").encode())
            await stream.connection.writer.drain()
            writer = stream.connection.writer
            writer.close() if how == "close" else writer.transport.abort()

        async with h2_server(gone, answered) as server, asking_h2(server) as client:
            return [(await client.send(call()))[1] for _ in range(2)]

    broken, after = run(scene())
    assert code(broken) in {"stream_incomplete", "connect_reset"}
    assert (code(after), after.connection) == (None, "cold")


def test_opened_ahead_one_connection_has_room_for_many():
    async def scene():
        async with h2_server() as server, asking_h2(server) as client:
            room = await client.open_connections(20)
            sent = [asyncio.ensure_future(client.send(call())) for _ in range(20)]
            return room, [(await one)[1] for one in sent], len(server.connections)

    room, responses, connections = run(scene())
    assert room >= 20
    assert {one.connection for one in responses} == {"warm"}
    assert connections == 1


def test_a_fresh_connection_is_used_once():
    async def scene():
        async with h2_server() as server, asking_h2(server) as client:
            fresh = replace(call(), fresh_connection=True)
            responses = [(await client.send(fresh))[1] for _ in range(2)]
            return responses, len(server.connections)

    responses, connections = run(scene())
    assert [one.connection for one in responses] == ["cold", "cold"]
    assert connections == 2
