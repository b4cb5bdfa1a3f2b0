from typing import Any

import pytest

from bench.client.endpoint import (
    Endpoint,
    UnusableHeader,
    UnusableUrl,
    address_of,
)
from bench.client.request_text import make_request
from bench.dialects import DIALECTS
from bench.wire import PROTOCOLS


def _endpoint(**changes: Any) -> Endpoint:
    usual: dict[str, Any] = {
        "url": "http://127.0.0.1:4000/v1/chat/completions",
        "headers": (),
        "stream": True,
        "wire": PROTOCOLS["chat"],
        "dialect": DIALECTS["plain"],
    }
    return Endpoint(**(usual | changes))


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("http://127.0.0.1:4000/v1/x", "127.0.0.1", 4000, "/v1/x", "127.0.0.1:4000"),
        ("https://api.example/v1", "api.example", 443, "/v1", "api.example"),
        ("http://API.example:80/", "api.example", 80, "/", "api.example"),
        ("http://[::1]:9/v1?a=b", "::1", 9, "/v1?a=b", "[::1]:9"),
        ("https://bücher.example", "xn--bcher-kva.example", 443, "/", "xn--bcher-kva.example"),
        ("http://h/p#fragment", "h", 80, "/p", "h"),
    ],
)
def test_a_url_is_taken_apart(url: str, host: str, port: int, target: str, authority: str) -> None:
    address = address_of(url)
    assert (address.host, address.port) == (host, port)
    assert (address.target, address.authority) == (target, authority)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("127.0.0.1:4000/v1", "no http or https URL"),
        ("ftp://h/x", "no http or https URL"),
        ("http://", "no http or https URL"),
        ("http://h:99999/", "is no URL"),
        ("http://user:pw@h:1/", "name or password"),
        ("http://h/a b", "percent-encoded"),
        ("http://h/ä", "percent-encoded"),
    ],
)
def test_a_url_that_cannot_be_asked_is_refused_without_its_password(url: str, why: str) -> None:
    with pytest.raises(UnusableUrl, match=why) as refused:
        _endpoint(url=url)
    assert "pw" not in refused.value.message
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("x y", "1", "no valid name"),
        ("", "1", "no valid name"),
        ("x", "a\r\nEvil: 1", "control characters"),
        ("x", "a\x00", "control characters"),
        ("Content-Length", "5", "set by the client"),
        ("transfer-encoding", "chunked", "set by the client"),
    ],
)
def test_a_header_that_would_change_the_request_is_refused(name: str, value: str, why: str) -> None:
    with pytest.raises(UnusableHeader, match=why):
        _endpoint(headers=((name, value),))


@pytest.mark.parametrize("value", ["sk-gé", "sk-g\udce9", "sk-g\u2011x", "sk-g\U0001f511"])
def test_a_key_or_header_beyond_ascii_is_refused_without_being_shown(value: str) -> None:
    with pytest.raises(UnusableHeader) as refused:
        _endpoint(headers=(("Authorization", value),))
    assert refused.value.message == (
        "header `Authorization` has a character in its value (number 5) that HTTP can't send: "
        "only ASCII can be"
    )
    assert "percent-encoded" in (refused.value.hint or "")


def test_a_tag_beyond_ascii_goes_out_percent_encoded_and_the_rest_as_it_is() -> None:
    raw = make_request(
        address_of("http://h/v1"),
        b"{}",
        dialect_headers={"x-tag": "modèle|a c%20|r1"},
        own_headers=(("x-own", "a\tb%~"),),
    ).http1()
    assert b"\r\nx-tag: mod%C3%A8le|a c%20|r1\r\n" in raw
    assert b"\r\nx-own: a\tb%~\r\n" in raw
    assert raw.isascii()


@pytest.mark.parametrize(
    ("raw", "asks"),
    [
        (None, True),
        (b'{"stream": true}', True),
        (b'{"stream": false}', False),
        (b"{}", False),
        (b"[]", False),
        (b"no JSON", False),
    ],
)
def test_a_raw_body_says_itself_whether_it_asks_for_a_stream(raw: bytes | None, asks: bool) -> None:
    assert _endpoint(raw_body=raw).asks_for_stream is asks


def test_a_request_is_written_with_the_users_headers_last() -> None:
    raw = make_request(
        address_of("http://127.0.0.1:4000/v1/x?y=1"),
        b'{"a":1}',
        dialect_headers={"x-no-cache": "true"},
        own_headers=(("Authorization", "Bearer k"), ("X-No-Cache", "false")),
    ).http1()
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/x?y=1 HTTP/1.1"
    assert body == b'{"a":1}'
    assert "Content-Length: 7" in lines
    assert "Host: 127.0.0.1:4000" in lines
    assert "Authorization: Bearer k" in lines
    assert [line for line in lines if line.lower().startswith("x-no-cache")] == [
        "X-No-Cache: false"
    ]
    assert any(line.startswith("Accept-Encoding: ") for line in lines)


def test_a_dialects_header_is_checked_too() -> None:
    with pytest.raises(UnusableHeader):
        make_request(address_of("http://h/"), b"", dialect_headers={"x": "a\nb"}, own_headers=())


def test_in_http_2_the_host_is_the_authority_and_nothing_of_one_connection_is_sent() -> None:
    request = make_request(
        address_of("https://api.example/v1/x"),
        b"{}",
        dialect_headers={"X-No-Cache": "true"},
        own_headers=(("Host", "other.example"), ("Connection", "close"), ("X-Key", "k")),
    )
    fields = dict(request.http2())
    assert fields[b":authority"] == b"other.example"
    assert (fields[b":method"], fields[b":scheme"], fields[b":path"]) == (
        b"POST",
        b"https",
        b"/v1/x",
    )
    assert (fields[b"x-no-cache"], fields[b"x-key"], fields[b"content-length"]) == (
        b"true",
        b"k",
        b"2",
    )
    assert not {b"host", b"connection"} & set(fields)


def test_a_proxy_that_passes_requests_on_is_told_the_whole_address() -> None:
    request = make_request(
        address_of("http://api.example/v1/x?y=1"), b"{}", dialect_headers={}, own_headers=()
    )
    head = request.http1(forwarded_by="Basic dTpw").decode()
    assert head.startswith("POST http://api.example/v1/x?y=1 HTTP/1.1\r\nHost: api.example\r\n")
    assert "\r\nProxy-Authorization: Basic dTpw\r\n" in head
    assert "Proxy-Authorization" not in request.http1(forwarded_by="").decode()
    assert request.http1().startswith(b"POST /v1/x?y=1 HTTP/1.1\r\n")
