"""The client through proxies of every kind, on real sockets."""

import ssl
from pathlib import Path

import pytest

from bench.authorities import Authorities
from bench.endpoint import Reach
from bench.proxies import parse_proxy
from tests.asking import asking, call, code, run
from tests.fake_gateway import ANSWER, fake_gateway
from tests.h2_server import h2_server
from tests.proxy_server import proxy_server

pytestmark = pytest.mark.integration
TLS = Path(__file__).parents[2] / "cases" / "tls"
TRUSTED = Authorities(file=TLS / "cert.pem")


def server_tls(*protocols: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "cert.pem", TLS / "key.pem")
    context.set_alpn_protocols(list(protocols))
    return context


def through(proxy, scheme="http", *, user=""):
    host = "localhost" if scheme == "https" else "127.0.0.1"
    return parse_proxy(f"{scheme}://{user}{host}:{proxy.port}", given_by="the test")


KINDS = [
    pytest.param("http", "https", id="tunnel"),
    pytest.param("https", "https", id="tls-in-tls"),
    pytest.param("socks5", "https", id="socks-and-tls"),
    pytest.param("socks5", "http", id="socks"),
    pytest.param("http", "http", id="passed-on"),
    pytest.param("https", "http", id="passed-on-over-tls"),
]


@pytest.mark.parametrize(("kind", "scheme"), KINDS)
def test_an_answer_comes_through_a_proxy_and_the_connection_is_kept(kind, scheme):
    async def scene():
        proxy_tls = server_tls("http/1.1") if kind == "https" else None
        gateway_tls = server_tls("http/1.1") if scheme == "https" else None
        async with (
            fake_gateway(ANSWER, tls=gateway_tls) as gateway,
            proxy_server(tls=proxy_tls) as proxy,
        ):
            url = gateway.url.replace("http://127.0.0.1", f"{scheme}://localhost")
            way = through(proxy, kind, user="me:secret@")
            async with asking(url, proxy=way, authorities=TRUSTED) as client:
                responses = [(await client.send(call()))[1] for _ in range(2)]
                return responses, proxy, gateway.requests, client.vantage()

    (cold, warm), proxy, requests, vantage = run(scene())
    assert (code(cold), code(warm), cold.content) == (None, None, "hi")
    assert (cold.connection, warm.connection) == ("cold", "warm")
    is_tunnel = scheme == "https" or kind == "socks5"
    assert (cold.timing.proxy_ms is not None) is is_tunnel
    assert warm.timing.proxy_ms is None
    assert vantage.proxy == f"{kind}://{through(proxy, kind).host}:{proxy.port}"
    seen_by_proxy = b"".join(proxy.heads)
    if is_tunnel:
        assert b"test-token" not in seen_by_proxy
        assert b"roxy-" not in b"".join(requests)
    if kind == "socks5":
        assert proxy.credentials == [b"me:secret"]
        assert proxy.names[0][0] == "localhost"
    else:
        assert b"Proxy-Authorization: Basic bWU6c2VjcmV0\r\n" in seen_by_proxy


def test_http_2_goes_through_a_tunnel():
    async def scene():
        async with h2_server(tls=server_tls("h2")) as server, proxy_server() as proxy:
            url = server.url("https", "localhost")
            changes = {"proxy": through(proxy), "authorities": TRUSTED, "http_version": "auto"}
            async with asking(url, **changes) as client:
                return (await client.send(call()))[1]

    response = run(scene())
    assert (code(response), response.http_version) == (None, "2")


def test_the_proxy_looks_the_name_up():
    async def scene():
        async with (
            fake_gateway(ANSWER) as gateway,
            proxy_server(only_the_proxy_knows="127.0.0.1") as proxy,
        ):
            url = gateway.url.replace("127.0.0.1", "only.the.proxy.knows")
            async with asking(url, proxy=through(proxy, "socks5")) as client:
                return (await client.send(call()))[1], proxy.names

    response, names = run(scene())
    assert code(response) is None
    assert names[0][0] == "only.the.proxy.knows"


REFUSALS = [
    pytest.param("http", "407", "answered `407 Proxy Authentication Required`", id="407"),
    pytest.param("http", "garbage", "does not speak HTTP", id="no-http"),
    pytest.param("http", "close", "closed the connection", id="closed"),
    pytest.param("https", "407", "answered `407 Proxy", id="407-over-tls"),
    pytest.param("https", "close", "closed the connection", id="closed-over-tls"),
    pytest.param("socks5", "socks", "did not connect: connection refused", id="socks-refused"),
    pytest.param("socks5", "garbage", "does not speak SOCKS5", id="no-socks"),
    pytest.param("socks5", "password", "wants a name and password", id="socks-password"),
    pytest.param("socks5-named", "password", "refused the name and password", id="socks-denied"),
]


@pytest.mark.parametrize(("kind", "refusal", "said"), REFUSALS)
def test_what_a_proxy_refuses_is_the_proxy_s_error_and_nothing_was_sent(kind, refusal, said):
    async def scene():
        tls = server_tls("http/1.1") if kind == "https" else None
        async with (
            fake_gateway(ANSWER, tls=server_tls("http/1.1")) as gateway,
            proxy_server(refusal=refusal, tls=tls) as proxy,
        ):
            scheme, _, named = kind.partition("-")
            way = through(proxy, scheme, user="me:secret@" if named else "")
            url = gateway.url.replace("http://127.0.0.1", "https://localhost")
            async with asking(url, proxy=way, authorities=TRUSTED) as client:
                return (await client.send(call()))[1], gateway.connections

    response, connections = run(scene())
    assert code(response) == "proxy_error"
    assert said in response.error.message
    assert "secret" not in response.error.message
    assert (connections, response.timing.sent_ms, response.connection) == (0, None, None)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("http://127.0.0.1:1", "refused the connection"),
        ("http://no-such-proxy.invalid:1", "`no-such-proxy.invalid` was not found"),
    ],
)
def test_a_proxy_that_is_not_there_is_named(typed, said):
    async def scene():
        proxy = parse_proxy(typed, given_by="the test")
        async with asking("https://localhost:1/v1", proxy=proxy) as client:
            return (await client.send(call()))[1]

    response = run(scene())
    assert code(response) == "proxy_error"
    assert typed in response.error.message
    assert said in response.error.message


def test_a_proxy_that_moved_is_judged_again_at_the_connection():
    async def scene():
        async with proxy_server() as proxy:
            judged = Reach(stays=False, leaves=True)
            changes = {"proxy": through(proxy), "reach": judged, "authorities": TRUSTED}
            async with asking("https://api.example/v1", **changes) as client:
                return (await client.send(call()))[1], proxy.heads

    response, heads = run(scene())
    assert code(response) == "proxy_error"
    assert "is this machine" in response.error.message
    assert heads == []


def test_the_endpoint_s_certificate_is_verified_through_a_proxy():
    async def scene():
        async with (
            fake_gateway(ANSWER, tls=server_tls("http/1.1")) as gateway,
            proxy_server() as proxy,
        ):
            url = gateway.url.replace("http://127.0.0.1", "https://localhost")
            other = Authorities(file=TLS / "other-name.pem")
            async with asking(url, proxy=through(proxy), authorities=other) as client:
                return (await client.send(call()))[1], gateway.requests

    response, requests = run(scene())
    assert code(response) == "tls_error"
    assert "certificate" in response.error.message
    assert requests == []
