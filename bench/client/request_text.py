"""The bytes of one request. Pure."""

from collections.abc import Mapping

from bench import __version__
from bench.client.endpoint import Address, check_header
from bench.stream.content_coding import ACCEPTED


def request_bytes(
    address: Address,
    body: bytes,
    *,
    dialect_headers: Mapping[str, str],
    own_headers: tuple[tuple[str, str], ...],
) -> bytes:
    """Return an HTTP/1.1 POST request.

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
    for name, value in dialect_headers.items():
        check_header(name, value)
        headers[name.lower()] = (name, value)
    for name, value in own_headers:
        headers[name.lower()] = (name, value)
    lines = [f"{name}: {value}\r\n" for name, value in headers.values()]
    head = "".join((f"POST {address.target} HTTP/1.1\r\n", *lines))
    return b"%sContent-Length: %d\r\n\r\n%s" % (head.encode(), len(body), body)
