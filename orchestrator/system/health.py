"""One health request on a raw socket: no proxy, no redirect, and the peer is found out.

The last line of the request is held back until the connection's other end has an owner: a server
accepts before it reads, and one that closes right after its answer could not be found any more.
"""

import socket
import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from orchestrator.ports import HealthAnswer, HealthQuestion

if TYPE_CHECKING:
    from http.client import HTTPResponse

_BODY_LIMIT = 64 * 1024
_OWNER_WAIT_S = 1.0
_OWNER_PAUSE_S = 0.01

Peers = Callable[[tuple[str, int], tuple[str, int], Collection[int]], frozenset[int]]


class SocketProbe:
    """Asks over plain HTTP/1.1.

    Args:
        peers: Finds who holds the other end of a connection.
    """

    def __init__(self, peers: Peers) -> None:
        self._peers = peers

    def ask(self, question: HealthQuestion, near: Collection[int]) -> HealthAnswer:
        """Ask once; what a server or the network does is an answer, never an error."""
        from http.client import HTTPException  # with the parser of mail headers: 20 ms

        try:
            with socket.create_connection(
                (question.host, question.port), timeout=question.timeout_s
            ) as connection:
                return self._talk(connection, question, near)
        except ConnectionRefusedError:
            return HealthAnswer(status=None, fault="connection refused")
        except TimeoutError:
            return HealthAnswer(status=None, fault=f"no answer in {question.timeout_s:g} s")
        except (ConnectionError, HTTPException) as broken:
            return HealthAnswer(status=None, fault=f"no HTTP answer ({type(broken).__name__})")
        except OSError as fault:
            return HealthAnswer(status=None, fault=fault.strerror or str(fault))

    def _talk(
        self, connection: socket.socket, question: HealthQuestion, near: Collection[int]
    ) -> HealthAnswer:
        from http.client import HTTPResponse  # loaded by `ask`

        connection.sendall(_head(question))
        owners = self._owners(connection, near)
        connection.sendall(b"\r\n")
        with HTTPResponse(connection, method="GET") as response:
            response.begin()
            body = _read(response, connection, question.timeout_s)
            return HealthAnswer(
                status=response.status, body=body.decode(errors="replace"), owners=owners
            )

    def _owners(self, connection: socket.socket, near: Collection[int]) -> frozenset[int]:
        ours, theirs = connection.getsockname()[:2], connection.getpeername()[:2]
        deadline = time.perf_counter() + _OWNER_WAIT_S
        while True:
            owners = self._peers(ours, theirs, near)
            if owners or time.perf_counter() >= deadline:
                return owners
            time.sleep(_OWNER_PAUSE_S)


def _read(response: "HTTPResponse", connection: socket.socket, timeout_s: float) -> bytes:
    """Read a body that may never end: at most 64 KiB and the time of one request."""
    deadline = time.perf_counter() + timeout_s
    body = b""
    while len(body) < _BODY_LIMIT:
        left = deadline - time.perf_counter()
        if left <= 0:
            break
        connection.settimeout(left)
        try:
            part = response.read1(_BODY_LIMIT - len(body))
        except TimeoutError:
            break
        if not part:
            break
        body += part
    return body


def _head(question: HealthQuestion) -> bytes:
    host = f"[{question.host}]" if ":" in question.host else question.host
    lines = [
        f"GET {question.path} HTTP/1.1",
        f"Host: {host}:{question.port}",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Connection: close",
        *(f"{name}: {value}" for name, value in question.headers),
    ]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1", errors="replace")
