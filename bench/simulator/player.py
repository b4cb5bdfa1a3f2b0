"""Sends one exchange, each write when it is due (IO).

Due times are absolute, so one late write does not delay the next. The stamp of an event is taken
just before the write that carries it, and nothing is written while bytes wait in the transport:
so a stamp is the moment at which the kernel gets the bytes.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Literal

from bench.simulator.agenda import Agenda
from bench.simulator.exchange import Ended, Exchange
from bench.simulator.timeline import Event, Write

After = Literal["keep", "close", "reset"]

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_WRITES_PER_TURN = 64
"""Undelayed writes before other connections get a turn."""


class Player:
    """Plays one exchange on a transport."""

    def __init__(
        self,
        exchange: Exchange,
        transport: asyncio.Transport,
        agenda: Agenda,
        *,
        chunked: bool,
        over: Callable[[After], None],
    ) -> None:
        """Prepare; ``start`` sends.

        Args:
            exchange: What to send.
            transport: Where to; its write buffer limit must be 0.
            agenda: Wakes us.
            chunked: Frame a body of unknown length in chunks; else its end is the connection's.
            over: Called once, after the last byte, with what becomes of the connection.
        """
        self._exchange = exchange
        self._record = exchange.record
        self._transport = transport
        self._agenda = agenda
        self._framed = chunked and exchange.length is None
        self._over = over
        self._head: bytes | None = None
        self._next: Write | None = None
        self._is_asleep = False
        self._is_blocked = False
        self._is_over = False

    def start(self, head: bytes) -> None:
        """Begin sending.

        Args:
            head: Status line and headers.
        """
        self._head = head
        if self._exchange.reset_first:
            self._finish("reset", "reset")
        elif self._exchange.hang:
            self._record.ended = "hang"
        else:
            self._advance()

    def block(self) -> None:
        """Stop: bytes wait in the transport because the client reads slowly."""
        self._is_blocked = True

    def unblock(self) -> None:
        """Go on: all bytes are with the kernel."""
        self._is_blocked = False
        if not self._is_asleep:
            self._advance()

    def abandon(self, ended: Ended) -> None:
        """Stop for good: the client has left, or the server does not wait longer."""
        if not self._is_over:
            self._is_over = True
            self._record.ended = self._record.ended or ended  # a stall stays a stall
            self._record.ended_ns = perf_counter_ns()

    def _advance(self) -> None:
        """Send what is due, then sleep until the next write is."""
        self._is_asleep = False
        for _ in range(_WRITES_PER_TURN):
            if self._is_blocked or self._is_over or self._transport.is_closing():
                return
            if self._head is not None and not self._exchange.late_headers:
                if self._sleeps_until(self._exchange.headers_ns):
                    return
                self._send_head()
                continue
            if self._next is None:
                self._next = next(self._exchange.writes, None)
            if self._next is None:
                self._end()
                return
            if self._sleeps_until(self._next.due_ns):
                return
            self._send(self._next)
            self._next = None
        self._is_asleep = True
        self._agenda.soon(self._advance)

    def _sleeps_until(self, due_ns: int) -> bool:
        """Set a timer if ``due_ns`` after the request is still to come. Never early."""
        if self._record.received_ns + due_ns <= perf_counter_ns():
            return False
        self._wake_at(due_ns)
        return True

    def _wake_at(self, due_ns: int) -> None:
        """Advance ``due_ns`` after the request. There is never more than one such date."""
        self._is_asleep = True
        self._agenda.at(self._record.received_ns + due_ns, self._advance)

    def _send_head(self) -> None:
        head, self._head = self._head or b"", None
        self._record.headers_sent_ns = perf_counter_ns()
        self._transport.write(head)

    def _send(self, write: Write) -> None:
        data = write.data
        if self._framed:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        head, self._head = self._head, None
        if head is not None:
            data = head + data
        at_ns = perf_counter_ns()
        self._transport.write(data)
        if head is not None:
            self._record.headers_sent_ns = at_ns
        late_ns = at_ns - self._record.received_ns - write.due_ns
        for event in write.events:
            self._note(event, at_ns, late_ns)

    def _note(self, event: Event, at_ns: int, late_ns: int) -> None:
        record = self._record
        record.events.append((at_ns, event.kind, event.characters, late_ns))
        record.sent_tokens += event.tokens
        if event.kind == "content" and event.characters:
            if record.first_content_ns is None:
                record.first_content_ns = at_ns
            record.last_content_ns = at_ns

    def _end(self) -> None:
        """All writes are out: end the body as the scenario says."""
        if self._head is not None:  # nothing to ride with: an empty body, or HEAD
            self._send_head()
        match self._exchange.end:
            case "stall":
                self._record.ended = "stall"
            case "cut":
                self._finish("cut", "close")
            case "reset":
                self._finish("reset", "reset")
            case "eof" | "error" as end:
                self._close_body(end)
            case None:
                self._close_body("completed")

    def _close_body(self, ended: Ended) -> None:
        linger_ns = self._exchange.linger_ns
        if linger_ns:
            self._is_asleep = True
            self._agenda.at(perf_counter_ns() + linger_ns, partial(self._last_chunk, ended))
        else:
            self._last_chunk(ended)

    def _last_chunk(self, ended: Ended) -> None:
        if self._is_over:
            return
        at_ns = perf_counter_ns()
        if self._framed:
            self._transport.write(b"0\r\n\r\n")
        is_whole = self._exchange.length is not None and ended != "eof"
        self._finish(ended, "keep" if self._framed or is_whole else "close", at_ns=at_ns)

    def _finish(self, ended: Ended, after: After, *, at_ns: int | None = None) -> None:
        self._is_over = True
        self._record.ended = ended
        self._record.ended_ns = at_ns if at_ns is not None else perf_counter_ns()
        if after == "reset":
            raw = self._transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._over(after)
