"""One client's connection: reader in, exchanges out, in the order of the requests (IO)."""

import asyncio
from collections import deque
from time import perf_counter_ns
from typing import Protocol, cast

from bench.simulator.agenda import Agenda
from bench.simulator.exchange import Exchange, Request, RequestRecord
from bench.simulator.player import After, Player
from bench.simulator.reader import Incoming, RequestReader

_MOST_WAITING = 64
"""Pipelined requests that may wait; more is no client but an attack."""


class Host(Protocol):
    """What a connection needs of its server."""

    def handle(self, request: Request) -> Exchange:
        """Return what to send for a request."""

    def refuse(self, request: Request, refusal: tuple[int, str, str]) -> Exchange:
        """Return what to send for bytes that are no request."""

    def log(self, record: RequestRecord) -> None:
        """Take the record of an exchange that is over."""

    def entered(self, connection: "Connection") -> None:
        """Take note of an open connection."""

    def left(self, connection: "Connection") -> None:
        """Take note of a connection's end."""


class Connection:
    """One connection: an ``asyncio.Protocol`` by shape, so that no method needs ``override``."""

    def __init__(
        self, host: Host, loop: asyncio.AbstractEventLoop, agenda: Agenda, *, number: int
    ) -> None:
        """Prepare for a client.

        Args:
            host: Answers and keeps the log.
            loop: The event loop.
            agenda: Wakes the streams.
            number: Of this connection, from 1.
        """
        self._host = host
        self._loop = loop
        self._agenda = agenda
        self._number = number
        self._transport: asyncio.Transport | None = None
        self._reader = RequestReader()
        self._waiting: deque[Incoming] = deque()
        self._player: Player | None = None
        self._record: RequestRecord | None = None
        self._keeps_alive = True
        self._is_draining = False

    def drain(self) -> None:
        """Close now if idle, else after the current answer; waiting requests are dropped."""
        self._is_draining = True
        self._waiting.clear()
        if self._player is None and self._transport is not None:
            self._transport.close()

    def stop(self) -> None:
        """Cut whatever is on its way."""
        if self._player is not None:
            self._player.abandon("stopped")
        if self._transport is not None:
            self._transport.abort()

    # ---- asyncio.Protocol ------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Prepare the transport: no byte may wait in it unnoticed."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        self._host.entered(self)

    def data_received(self, data: bytes) -> None:
        """Read requests; start answering if nothing is on its way."""
        self._waiting.extend(self._reader.feed(data, perf_counter_ns()))
        if self._reader.wants_continue and self._transport is not None:
            self._reader.wants_continue = False
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self._waiting) > _MOST_WAITING:
            self.stop()
        elif self._player is None:
            self._answer_next()

    def eof_received(self) -> bool:
        """Take the end of the client's side for its leaving; returns that we close too."""
        return False

    def pause_writing(self) -> None:
        """Stop sending: the client reads slowly."""
        if self._player is not None:
            self._player.block()

    def resume_writing(self) -> None:
        """Go on sending."""
        if self._player is not None:
            self._player.unblock()

    def connection_lost(self, _exc: Exception | None) -> None:
        """Stop generating: the client is gone, or we closed."""
        self._host.left(self)
        self._transport = None
        if self._player is not None:
            self._player.abandon("client_gone")
            self._retire()

    # ---- answers ---------------------------------------------------------------------------------

    def _answer_next(self) -> None:
        if not self._waiting or self._transport is None or self._transport.is_closing():
            return
        incoming = self._waiting.popleft()
        request = Request(
            method=incoming.method,
            path=incoming.path,
            headers=incoming.headers,
            body=incoming.body,
            received_ns=incoming.read_ns,
            connection=self._number,
        )
        if incoming.refusal is not None:
            exchange = self._host.refuse(request, incoming.refusal)
        else:
            exchange = self._host.handle(request)
        bounded = exchange.length is not None or incoming.chunked
        self._keeps_alive = incoming.keep_alive and bounded and not self._is_draining
        self._record = exchange.record
        self._player = Player(
            exchange, self._transport, self._agenda, chunked=incoming.chunked, over=self._over
        )
        self._player.start(exchange.head(chunked=incoming.chunked, close=not self._keeps_alive))

    def _over(self, after: After) -> None:
        self._retire()
        if self._transport is None:
            return
        if after == "reset":
            self._transport.abort()
        elif after == "close" or not self._keeps_alive or self._is_draining:
            self._transport.close()
        elif self._waiting:
            self._loop.call_soon(self._answer_next)

    def _retire(self) -> None:
        """Forget the exchange that is over and hand its record to the log."""
        record, self._player, self._record = self._record, None, None
        if record is not None:
            self._host.log(record)
