"""One request as it is sent, in HTTP/1.1 and in HTTP/2. Pure."""

from collections.abc import Mapping
from urllib.parse import quote

from bench import __version__
from bench.client.endpoint import Address, check_header
from bench.model.record import Value
from bench.stream.content_coding import ACCEPTED

_ASCII = "".join(map(chr, range(0x80)))
"""Stays as it is where a tag or a name holds characters beyond, which no header can carry."""
_OF_ONE_CONNECTION = frozenset(
    {"host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te"}
)
"""Not for HTTP/2 (RFC 9113, 8.2.2); the host goes into ``:authority``."""


class Request(Value, frozen=True, kw_only=True):
    """A POST request."""

    address: Address
    headers: tuple[tuple[str, str], ...]
    """All but what frames the body; ``Host`` first."""
    body: bytes

    def http1(self, *, forwarded_by: str | None = None) -> bytes:
        """Return it in HTTP/1.1.

        Args:
            forwarded_by: ``Proxy-Authorization`` for a proxy that passes the request on, empty
                where it wants none; ``None`` = it goes to the endpoint itself.
        """
        address, headers = self.address, self.headers
        target = address.target
        if forwarded_by is not None:
            target = f"{address.scheme}://{address.authority}{target}"
            if forwarded_by:
                headers = (*headers, ("Proxy-Authorization", forwarded_by))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        head = f"POST {target} HTTP/1.1\r\n{lines}Content-Length: {len(self.body)}\r\n\r\n"
        return head.encode() + self.body

    def http2(self) -> list[tuple[bytes, bytes]]:
        """Return its header fields in HTTP/2; the body goes into frames of its own."""
        address = self.address
        authority = next(value for name, value in self.headers if name.lower() == "host")
        fields = [
            (":method", "POST"),
            (":scheme", address.scheme),
            (":authority", authority),
            (":path", address.target),
            *(
                (name.lower(), value)
                for name, value in self.headers
                if name.lower() not in _OF_ONE_CONNECTION
            ),
            ("content-length", str(len(self.body))),
        ]
        return [(name.encode(), value.encode()) for name, value in fields]


def make_request(
    address: Address,
    body: bytes,
    *,
    dialect_headers: Mapping[str, str],
    own_headers: tuple[tuple[str, str], ...],
) -> Request:
    """Return a request with its headers.

    Args:
        address: Where it goes.
        body: JSON, already encoded.
        dialect_headers: Of this request (pin, cache, fallback, tags); they win over the defaults.
        own_headers: The user's and the key; they win over everything but the framing.
    """
    headers = {
        "host": ("Host", address.authority),
        "user-agent": ("User-Agent", f"gateway-bench/{__version__}"),
        "accept": ("Accept", "*/*"),
        # What the usual SDKs accept, so that what is measured is what their users get.
        "accept-encoding": ("Accept-Encoding", ACCEPTED),
        "content-type": ("Content-Type", "application/json"),
    }
    for name, meant in dialect_headers.items():
        value = meant if meant.isascii() else quote(meant, safe=_ASCII)
        check_header(name, value)
        headers[name.lower()] = (name, value)
    for name, value in own_headers:
        headers[name.lower()] = (name, value)
    return Request(address=address, headers=tuple(headers.values()), body=body)
