"""The conversation with a proxy before the endpoint is reached. Pure: bytes to say, bytes heard.

CONNECT: RFC 9110, 9.3.6. SOCKS5: RFC 1928, with name and password RFC 1929; the proxy looks the
host up.
"""

from collections.abc import Generator

from bench.proxies import Proxy

_SUCCESS = range(200, 300)
_SHORTEST_STATUS = 2
_SOCKS, _CONNECT, _NAME, _NO_AUTH, _PASSWORD = 5, 1, 3, 0, 2
_ADDRESS_BYTES = {1: 4, 4: 16}
_SOCKS_REFUSALS = {
    1: "general failure",
    2: "not allowed by its rules",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "time to live expired",
    7: "command not known",
    8: "kind of address not known",
}
Talk = Generator[tuple[bytes, int], bytes, None]
"""Yields what to send and how many bytes to read; is sent what was read."""


class ProxyRefused(Exception):
    """The proxy did not connect on; the text says why."""


def connect_request(proxy: Proxy, host: str, port: int) -> bytes:
    """Return the request for a tunnel."""
    authority = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    shown = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    return f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{shown}\r\n".encode()


def check_connected(head: bytes) -> None:
    """Read the answer to ``connect_request``.

    Raises:
        ProxyRefused: It is no success.
    """
    line = head.partition(b"\r\n")[0].decode("latin-1")
    words = line.split(maxsplit=2)
    if len(words) < _SHORTEST_STATUS or not words[0].startswith("HTTP/1."):
        said = "closed the connection" if not head else "does not speak HTTP"
        raise ProxyRefused(said)
    if not words[1].isdecimal() or int(words[1]) not in _SUCCESS:
        message = f"answered `{' '.join(words[1:])[:100]}` to CONNECT"
        raise ProxyRefused(message)


def socks_talk(proxy: Proxy, host: str, port: int) -> Talk:
    """Ask a SOCKS5 proxy for a connection.

    Raises:
        ProxyRefused: It does not give one.
    """
    user, password = (proxy.user or "").encode(), (proxy.password or "").encode()
    methods = bytes([_NO_AUTH, _PASSWORD] if proxy.user is not None else [_NO_AUTH])
    version, method = yield bytes([_SOCKS, len(methods)]) + methods, 2
    if version != _SOCKS:
        raise ProxyRefused("does not speak SOCKS5")
    if method == _PASSWORD and proxy.user is not None:
        words = bytes([1, len(user)]) + user + bytes([len(password)]) + password
        _, status = yield words, 2
        if status:
            raise ProxyRefused("refused the name and password")
    elif method != _NO_AUTH:
        raise ProxyRefused("wants a name and password")
    name = host.encode()
    asked = bytes([_SOCKS, _CONNECT, 0, _NAME, len(name)]) + name + port.to_bytes(2, "big")
    _, status, _, kind = yield asked, 4
    if status:
        message = f"did not connect: {_SOCKS_REFUSALS.get(status, f'error {status}')}"
        raise ProxyRefused(message)
    size = _ADDRESS_BYTES.get(kind)
    if size is None:
        size = (yield b"", 1)[0]
    yield b"", size + 2
