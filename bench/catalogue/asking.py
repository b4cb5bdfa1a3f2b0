"""One GET over a connection of its own, straight to an address that was judged. Blocking.

On the parser that the measuring client uses: loaded anyway, where a library for HTTP would double
what a run has to load before its first request.
"""

import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench import __version__
from bench.errors import reason_in
from bench.stream.content_coding import ACCEPTED
from bench.stream.http_answer import HttpAnswer

TIMEOUT_S = 10.0
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NEXT_ADDRESS_S = 2.0
"""How long one of several addresses may stay silent before the next is tried."""
_READ_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back, whatever its status."""

    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


class Unanswered(Exception):
    """No whole answer came; said in the list's place, never an error of its own."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def get(
    url: str,
    *,
    headers: Iterable[tuple[str, str]],
    addresses: Sequence[str],
    tls: ssl.SSLContext | None,
    timeout_s: float = TIMEOUT_S,
) -> Answered:
    """Ask the first of ``addresses`` that takes the connection.

    Args:
        url: http or https, with a host. The name stays in `Host` and in TLS; the connection goes
            where the rules about keys looked.
        headers: With the key; a ``Host`` among them wins.
        addresses: What the host was judged to stand for, in the order in which they are tried.
        tls: For https.
        timeout_s: For all of it.

    Raises:
        Unanswered: Nothing listens, it takes too long, TLS fails, or what comes is no HTTP answer.
    """
    until = time.monotonic() + timeout_s
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        with ExitStack() as stack:
            port = parts.port or _DEFAULT_PORTS[parts.scheme]
            sock = stack.enter_context(_connected(host, port, addresses, until))
            _wait_no_longer_than(sock, until)
            if tls is not None:
                sock = stack.enter_context(tls.wrap_socket(sock, server_hostname=host))
            _wait_no_longer_than(sock, until)
            sock.sendall(_request(url, headers))
            return _read(sock, until)
    except TimeoutError as late:
        message = f"no answer within {timeout_s:g} s"
        raise Unanswered(message) from late
    except ssl.SSLCertVerificationError as fault:
        message = f"no TLS connection: certificate: {fault.verify_message.rstrip('.')}"
        raise Unanswered(message) from fault
    except (OSError, ValueError) as fault:  # `ssl.SSLError` is the one, a bad port the other
        raise Unanswered(reason_in(fault) if isinstance(fault, OSError) else str(fault)) from fault


def _connected(host: str, port: int, addresses: Sequence[str], until: float) -> socket.socket:
    fault: OSError | None = None
    for number, address in enumerate(addresses, start=1):
        left_s = _left_s(until)
        patience_s = left_s if number == len(addresses) else min(left_s, _NEXT_ADDRESS_S)
        try:
            return socket.create_connection((address, port), timeout=patience_s)
        except OSError as error:
            fault = error
    if fault is not None:
        raise fault
    message = f"the name `{host}` was not found"
    raise Unanswered(message)


def _request(url: str, headers: Iterable[tuple[str, str]]) -> bytes:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    fields = {
        "host": ("Host", _ascii(parts.netloc)),
        "user-agent": ("User-Agent", f"gateway-bench/{__version__}"),
        "accept": ("Accept", "*/*"),
        "accept-encoding": ("Accept-Encoding", ACCEPTED),
    }
    fields |= {name.lower(): (name, value) for name, value in headers}
    fields["connection"] = ("Connection", "close")
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.values())
    return f"GET {target} HTTP/1.1\r\n{lines}\r\n".encode()


def _ascii(name: str) -> str:
    return name if name.isascii() else name.encode("idna").decode()


def _read(sock: socket.socket, until: float) -> Answered:
    http, body = HttpAnswer(), bytearray()
    while not http.is_complete and http.broken is None:
        _wait_no_longer_than(sock, until)
        data = sock.recv(_READ_BYTES)
        if data:
            body += http.feed(data)
        elif not http.eof():
            raise Unanswered("the server closed the connection before the end of its answer")
    if http.broken is not None or http.head is None:
        raise Unanswered(http.broken.reason if http.broken else "it answered with nothing")
    return Answered(status=http.head.status, headers=http.head.headers, body=bytes(body))


def _wait_no_longer_than(sock: socket.socket, until: float) -> None:
    sock.settimeout(_left_s(until))


def _left_s(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
