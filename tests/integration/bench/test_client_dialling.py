"""The client on real sockets: no connection, its phases, TLS."""

import errno
import os
import resource
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest

from bench.authorities import Authorities
from bench.client.chat_client import HttpChatClient, Timeouts
from bench.client.dial import look_up
from bench.client.dial_failure import DialFailed, own_limit, told_apart
from bench.endpoint import Reach
from bench.model.trial import Response
from tests.asking import asking, call, code, endpoint, run
from tests.fake_gateway import (
    ANSWER,
    Act,
    fake_gateway,
)
from tests.free_port import free_port

pytestmark = pytest.mark.integration
_TLS = Path(__file__).parents[2] / "cases" / "tls"


# ---- no connection -------------------------------------------------------------------------------


async def _ask_url(url: str, **changes: Any) -> Response:
    timeouts = changes.pop("timeouts", None)
    async with asking(url, timeouts=timeouts, **changes) as client:
        return (await client.send(call()))[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "name.example"])
def test_no_file_left_to_open_is_a_limit_of_this_machine_and_no_fault_of_a_name(host: str) -> None:
    """The resolver, too, opens files, and tells a name that it could not look up as unknown."""

    async def go() -> Response:
        async def looked_up(host: str, port: int) -> list[tuple[Any, ...]]:
            if host == "name.example":
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            return await look_up(host, port)

        made = HttpChatClient(endpoint(f"http://{host}:9/v1"), look_up=looked_up)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        await looked_up("127.0.0.1", 9)  # what stays open after the first look-up is open now
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))
        try:
            return (await made.send(call()))[1]
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            await made.close()

    response = run(go())
    assert code(response) == "client_limit"
    assert response.error is not None
    assert response.error.message.startswith("this machine's own limit: Too many open files; raise")
    assert "`ulimit -n`" in response.error.message


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        (OSError(errno.ENFILE, "full"), "the whole system has too many open files"),
        (OSError(errno.ENOBUFS, "full"), "memory for sockets"),
        (OSError(errno.ENOMEM, "full"), "lower `--concurrency`"),
        (OSError(errno.EADDRNOTAVAIL, "none"), "no local port"),
        (socket.gaierror(socket.EAI_MEMORY, "Memory allocation failure"), "memory is used up"),
    ],
)
def test_what_the_client_s_own_system_refuses_is_told_with_what_to_do(
    refusal: OSError, advice: str
) -> None:
    with pytest.raises(DialFailed, match=advice) as caught, told_apart("there:1"):
        raise refusal
    assert caught.value.code == "client_limit"
    assert own_limit(socket.gaierror(socket.EAI_NONAME, "unknown")) is None
    assert own_limit(OSError(errno.ENETUNREACH, "no route")) is None


def test_an_address_of_a_kind_this_machine_lacks_does_not_hide_who_refused() -> None:
    port = free_port()

    async def both(_host: str, _port: int) -> list[tuple[Any, ...]]:
        tcp = (socket.SOCK_STREAM, 6, "")
        nobody_s = (socket.AF_INET6, *tcp, ("2001:db8::1", port, 0, 0))
        return [(socket.AF_INET, *tcp, ("127.0.0.1", port)), nobody_s]

    async def go() -> Response:
        made = HttpChatClient(endpoint(f"http://name.example:{port}/v1"), look_up=both)
        try:
            return (await made.send(call()))[1]
        finally:
            await made.close()

    assert code(run(go())) in {"connect_refused", "connect_failed"}


def test_a_port_nobody_listens_on_refuses() -> None:
    port = free_port()
    response = run(_ask_url(f"http://127.0.0.1:{port}/v1"))
    assert response.error is not None
    assert (response.error.code, response.error.seed_code) == ("connect_refused", "request_error")
    assert response.error.message == f"127.0.0.1:{port} refused the connection"
    assert (response.connection, response.local_port, response.status) == (None, None, None)
    assert response.timing.total_ms is not None
    assert response.timing.sent_ms is None


def test_a_name_that_does_not_exist_is_a_dns_error() -> None:
    # RFC 6761: names below `.invalid` never resolve.
    response = run(_ask_url("http://no-such-host.invalid/v1"))
    assert response.error is not None
    assert response.error.code == "dns_error"
    assert "`no-such-host.invalid`" in response.error.message


def test_a_name_is_looked_up_in_a_phase_of_its_own() -> None:
    async def scene() -> Response:
        async with fake_gateway(ANSWER) as gateway:
            return await _ask_url(gateway.url.replace("127.0.0.1", "localhost"))

    response = run(scene())
    assert code(response) is None
    assert response.timing.dns_ms is not None
    assert response.timing.connect_ms is not None


@pytest.mark.parametrize(
    ("judged", "said"),
    [
        pytest.param(
            Reach(stays=False, leaves=True),
            "`turning.example` was another machine when it was looked up first and is this machine "
            "(127.0.0.1) now; nothing is sent there",
            id="a-name-that-moved-here",
        ),
        pytest.param(Reach(stays=True, leaves=False), None, id="a-name-that-stayed-here"),
    ],
)
def test_a_key_goes_only_to_the_kind_of_address_that_it_was_let_go_to(judged, said) -> None:
    async def scene() -> tuple[Response, int]:
        async with fake_gateway(ANSWER) as gateway:
            port = int(gateway.url.rpartition(":")[2].partition("/")[0])

            async def look_up(host: str, _: int) -> list[tuple[Any, ...]]:
                names.append(host)
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

            client = HttpChatClient(
                endpoint(f"http://turning.example:{port}/v1", reach=judged), look_up=look_up
            )
            try:
                return (await client.send(call()))[1], len(gateway.requests)
            finally:
                await client.close()

    names: list[str] = []
    response, arrived = run(scene())
    assert names == ["turning.example"]
    assert (response.error and response.error.message) == said
    assert code(response) == ("dns_error" if said else None)
    assert arrived == (0 if said else 1)


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

    response = run(scene())
    assert response.error is not None
    assert (response.error.code, response.error.seed_code) == ("connect_timeout", "TimeoutError")


# ---- TLS -----------------------------------------------------------------------------------------


def _server_tls(certificate: str = "cert", key: str = "key") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_TLS / f"{certificate}.pem", _TLS / f"{key}.pem")
    return context


def test_tls_is_verified_against_the_given_authority_and_is_a_phase() -> None:
    async def scene() -> list[Response]:
        async with fake_gateway(ANSWER, tls=_server_tls()) as gateway:
            url = gateway.url.replace("http://", "https://")
            async with asking(url, authorities=Authorities(file=_TLS / "cert.pem")) as client:
                return [(await client.send(call()))[1] for _ in range(2)]

    cold, warm = run(scene())
    assert [code(cold), code(warm)] == [None, None]
    assert (cold.content, warm.connection) == ("hi", "warm")
    assert cold.timing.tls_ms is not None
    assert warm.timing.tls_ms is None


def test_a_certificate_nobody_vouches_for_is_a_tls_error() -> None:
    async def scene() -> Response:
        async with fake_gateway(ANSWER, tls=_server_tls()) as gateway:
            return await _ask_url(gateway.url.replace("http://", "https://"))

    error = run(scene()).error
    assert error is not None
    assert error.code == "tls_error"
    assert "certificate" in error.message


def test_a_certificate_for_another_name_is_a_tls_error() -> None:
    async def scene() -> Response:
        async with fake_gateway(ANSWER, tls=_server_tls("other-name", "other-key")) as gateway:
            url = gateway.url.replace("http://", "https://")
            return await _ask_url(url, authorities=Authorities(file=_TLS / "other-name.pem"))

    assert code(run(scene())) == "tls_error"


@pytest.mark.parametrize(
    ("certificate", "key", "trusted", "said"),
    [
        ("cert", "key", None, "self-signed certificate"),
        ("expired", "expired-key", "expired", "certificate has expired"),
        ("other-name", "other-key", "other-name", "certificate is not valid for '127.0.0.1'"),
    ],
)
def test_who_shows_a_bad_certificate_is_told_why_and_gets_neither_key_nor_request(
    certificate: str, key: str, trusted: str | None, said: str
) -> None:
    async def scene() -> tuple[Response, list[bytes]]:
        async with fake_gateway(ANSWER, tls=_server_tls(certificate, key)) as gateway:
            url = gateway.url.replace("http://", "https://")
            file = None if trusted is None else _TLS / f"{trusted}.pem"
            response = await _ask_url(url, authorities=Authorities(file=file))
            return response, gateway.requests

    response, requests = run(scene())
    assert requests == []
    assert response.error is not None
    assert response.error.code == "tls_error"
    where, _, why = response.error.message.partition(": certificate: ")
    assert where.startswith("no TLS connection to 127.0.0.1:")
    assert said.replace("-", " ") in why.replace("-", " ") or said in f"certificate {why}"


def test_tls_to_a_plain_port_is_a_tls_error() -> None:
    async def scene() -> Response:
        async with fake_gateway(on_connect=[b"HTTP/1.1 400 Bad\r\n\r\n", Act.CLOSE]) as gateway:
            return await _ask_url(gateway.url.replace("http://", "https://"))

    assert code(run(scene())) == "tls_error"


def test_a_connection_reset_in_the_handshake_is_told_so() -> None:
    async def scene() -> Response:
        async with fake_gateway(on_connect=[Act.RESET]) as gateway:
            return await _ask_url(gateway.url.replace("http://", "https://"))

    assert code(run(scene())) in {"connect_reset", "tls_error"}
