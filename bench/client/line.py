"""One HTTP/1.1 connection, on asyncio's transports or on ``StampedTransport``.

Each read is stamped before anything looks at it. What the bytes mean is the exchange's business.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

from bench.client.carrier import ByteTransport
from bench.client.exchange import Exchange
from bench.client.request_text import Request


class Line:
    """Carries one exchange at a time, many in a row. A ``bench.client.carrier.Carrier``.

    Args:
        now_ns: The clock.
        forwarded_by: What a proxy that passes requests on is shown; see ``Request.http1``.
    """

    http_version: Literal["1.1", "2"] = "1.1"

    def __init__(self, now_ns: Callable[[], int], *, forwarded_by: str | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = loop.create_future()
        """Done once the connection is gone."""
        self.settled = asyncio.Event()
        """From the beginning: HTTP/1.1 has nothing to agree on."""
        self.settled.set()
        self.stamped_by: Literal["kernel", "loop"] = "loop"
        self.opened_ns = self.idle_since_ns = now_ns()
        self.local_port: int | None = None
        self._forwarded_by = forwarded_by
        self._now_ns = now_ns
        self._loop = loop
        self._transport: ByteTransport | None = None
        self._exchange: Exchange | None = None
        self._over: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for_ns = 0

    @property
    def is_open(self) -> bool:
        """Another exchange can be started."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def is_idle(self) -> bool:
        """No exchange is under way."""
        return self._exchange is None

    @property
    def room(self) -> int:
        """1 between two exchanges."""
        return int(self.is_open and self.is_idle)

    async def carry(self, exchange: Exchange, request: Request) -> None:
        """Send ``request`` and return when ``exchange`` is over; closes what can't be used again.

        Cancelling closes the connection.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            exchange.reset(self._now_ns(), "it was closed before the request was sent")
            return
        self._exchange = exchange
        self._over = self._loop.create_future()
        try:
            transport.write(request.http1(forwarded_by=self._forwarded_by))
            # A write that fails closes the transport and empties its buffer: nothing left.
            if not transport.get_write_buffer_size() and not transport.is_closing():
                exchange.sent_ns = self._now_ns()
            self._arm()
            await self._over
        finally:
            self._stop_timer()
            self._exchange = self._over = None
            self.idle_since_ns = self._now_ns()
            if not exchange.http.is_reusable or exchange.sent_ns is None:
                self.abort()

    def abort(self) -> None:
        """Close at once, without waiting for what is still to be sent."""
        if self._transport is not None:
            self._transport.abort()

    # ---- called by the transport ---------------------------------------------

    def connection_made(self, transport: ByteTransport) -> None:
        """Take the open connection."""
        # No slack: `resume_writing` then comes when the last byte of a request has left.
        transport.set_write_buffer_limits(high=0)
        self._transport = transport
        name = transport.get_extra_info("sockname")
        self.local_port = name[1] if name else None

    def data_received(self, data: bytes) -> None:
        """Stamp and hand on what arrived."""
        self.take(self._now_ns(), data)

    def keep(self, at_ns: int, data: bytes) -> bool:
        """Keep what arrived at ``at_ns`` for later, if it lies in the middle of an answer."""
        exchange = self._exchange
        return exchange is not None and exchange.keep(at_ns, data)

    def take(self, at_ns: int, data: bytes) -> None:
        """Hand on what arrived at ``at_ns``."""
        exchange = self._exchange
        if exchange is None:
            self.abort()  # bytes that nobody asked for: the next answer could not be trusted
            return
        if exchange.keep(at_ns, data):
            return
        exchange.receive(at_ns, data)
        if exchange.is_over:
            self._finish()
        elif exchange.due_ns < self._armed_for_ns:
            self._arm()

    def eof_received(self) -> bool:
        """Take the end of file; the transport then closes itself."""
        self.end(self._now_ns())
        return False

    def end(self, at_ns: int) -> None:
        """Take that the last byte came before ``at_ns``."""
        if self._exchange is not None:
            self._exchange.eof(at_ns)
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take that the connection is gone."""
        if self._exchange is not None:
            reason = str(exc) if exc else "closed"
            self._exchange.reset(self._now_ns(), reason)
            self._finish()
        if not self.closed.done():
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        """Part of the request waits for the socket; nothing else is written meanwhile."""

    def resume_writing(self) -> None:
        """Note that the last byte of the request has left."""
        if self._exchange is not None and self._exchange.sent_ns is None:
            self._exchange.sent_ns = self._now_ns()

    # ---- time limits ----------------------------------------------------------

    def _arm(self) -> None:
        self._stop_timer()
        if self._exchange is not None:
            self._armed_for_ns = self._exchange.due_ns
            wait_ns = max(0, self._armed_for_ns - self._now_ns())
            self._timer = self._loop.call_later(wait_ns / 1e9, self._expire)

    def _expire(self) -> None:
        if self._exchange is None:
            return
        self._exchange.expire(self._now_ns())
        if self._exchange.is_over:
            self._finish()
        else:
            self._arm()  # reads have moved the limit, or the timer came a little early

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _finish(self) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(None)
