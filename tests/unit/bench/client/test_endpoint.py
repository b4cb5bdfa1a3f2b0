from pathlib import Path
from typing import Any

import pytest

from bench.client.endpoint import (
    Endpoint,
    UnreadableAuthorities,
    UnusableHeader,
    UnusableUrl,
    address_of,
    tls_context,
)
from bench.client.proxy import ProxyIgnored, refuse_proxy
from bench.client.request_text import request_bytes
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


def test_plain_http_needs_no_tls_and_https_verifies() -> None:
    assert tls_context(_endpoint()) is None
    context = tls_context(_endpoint(url="https://h/"))
    assert context is not None
    assert context.check_hostname


def test_a_file_without_certificates_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.pem", Path(__file__)):
        with pytest.raises(UnreadableAuthorities, match=path.name):
            tls_context(_endpoint(url="https://h/", cacert=path))


_PROXY = {"HTTPS_PROXY": "http://proxy:3128"}


@pytest.mark.parametrize(
    ("url", "environment", "variable"),
    [
        ("https://api.example/", _PROXY, "HTTPS_PROXY"),
        ("https://api.example/", {"all_proxy": "socks5://p"}, "all_proxy"),
        ("http://api.example/", {"http_proxy": "http://p"}, "http_proxy"),
        ("http://api.example/", _PROXY, None),
        ("https://api.example/", {}, None),
        ("https://api.example/", {"HTTPS_PROXY": ""}, None),
        ("https://api.example/", _PROXY | {"NO_PROXY": "other, .example"}, None),
        ("https://api.example/", _PROXY | {"NO_PROXY": "*"}, None),
        ("https://api.example/", _PROXY | {"NO_PROXY": "other"}, "HTTPS_PROXY"),
        ("https://127.0.0.1:8443/", _PROXY, None),
        ("https://localhost/", _PROXY, None),
        ("https://[::1]/", _PROXY, None),
    ],
)
def test_a_proxy_that_would_be_passed_by_is_named(
    url: str, environment: dict[str, str], variable: str | None
) -> None:
    if variable is None:
        refuse_proxy(url, environment)
        return
    with pytest.raises(ProxyIgnored, match=f"`{variable}`") as refused:
        refuse_proxy(url, environment)
    assert "NO_PROXY" in (refused.value.hint or "")


def test_a_request_is_written_with_the_users_headers_last() -> None:
    raw = request_bytes(
        address_of("http://127.0.0.1:4000/v1/x?y=1"),
        b'{"a":1}',
        dialect_headers={"x-no-cache": "true"},
        own_headers=(("Authorization", "Bearer k"), ("X-No-Cache", "false")),
    )
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
        request_bytes(address_of("http://h/"), b"", dialect_headers={"x": "a\nb"}, own_headers=())
