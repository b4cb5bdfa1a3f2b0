"""Lets so many requests through to an endpoint and holds the next ones, until a test says go on.

What is done to a run at a moment, a kill above all, is done while it stands here: a busy machine
can't have it end before.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.patience import PATIENCE_S

_READ = 1 << 16


@dataclass(kw_only=True)
class Turnstile:
    """One between a client and an upstream on this machine."""

    upstream: tuple[str, int]
    passes: int
    """POST requests that go through before it closes."""
    url: str = ""
    holds: threading.Event = field(default_factory=threading.Event)
    """A request stands here."""
    _opened: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _posts: int = 0

    def open(self) -> None:
        """Let everything through from now on."""
        self._opened.set()

    def wait(self) -> None:
        """Wait until a request stands here; those before it have been answered or are on their way."""
        assert self.holds.wait(PATIENCE_S), f"{self._posts} requests came"

    def admit(self, data: bytes) -> None:
        """Return when what a client sent may go on."""
        # Each request begins with a read of its own: clients wait for an answer before the next.
        if not data.startswith(b"POST "):
            return
        with self._lock:
            self._posts += 1
            is_through = self._posts <= self.passes
        if not is_through and not self._opened.is_set():
            self.holds.set()
            self._opened.wait(PATIENCE_S)


@contextmanager
def turnstile(url: str, *, passes: int) -> Iterator[Turnstile]:
    """Stand in front of ``url`` (``http://host:port``) while the context is open.

    Args:
        url: Where requests go on to.
        passes: POST requests that go through before it closes.
    """
    host, _, port = url.removeprefix("http://").rpartition(":")
    made = Turnstile(upstream=(host, int(port)), passes=passes)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        made.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        threading.Thread(target=_accept, args=(listener, made), daemon=True).start()
        try:
            yield made
        finally:
            made.open()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts


def _accept(listener: socket.socket, gate: Turnstile) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_serve, args=(client, gate), daemon=True).start()


def _serve(client: socket.socket, gate: Turnstile) -> None:
    with suppress(OSError), client, socket.create_connection(gate.upstream) as upstream:
        for one in (client, upstream):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=_pass_on, args=(upstream, client), daemon=True)
        back.start()
        while data := client.recv(_READ):
            gate.admit(data)
            upstream.sendall(data)
        with suppress(OSError):
            upstream.shutdown(socket.SHUT_WR)
        back.join(PATIENCE_S)


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_READ):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
