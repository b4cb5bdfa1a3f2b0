"""One request and its answer as bytes and stamps tell it: no socket, no clock, no event loop.

The connection hands in reads, ends and the passing of time; the exchange says when it is over and
how it ended. So every cut, stall and split can be tried without a network.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.model.record import Value
from bench.stream.deltas import Read
from bench.stream.framed_answer import FramedAnswer, Frames
from bench.stream.http_answer import HttpAnswer
from bench.wire.protocol import BodyDecoder

AFTER_DONE_NS = 1_000_000_000
"""How long a body may go on after its own end mark before it is closed."""
LONGEST_KEPT_NS = 500_000_000
"""How long a read may wait to be looked at: nothing that it can mean has to be known earlier."""
_MOST_KEPT = 32
_TOKEN_BYTES = range(4, 4097)
"""A larger read is no token, and in a smaller one the end of a body can hide."""
_MOST_KEPT_BYTES = 32_768
"""With larger reads: as a server sends them that doesn't wait between tokens."""
_BLANK_LINE = b"\r\n\r\n"
"""Ends a chunked body (RFC 9112, 7.1), with trailers and without."""
_TAIL = slice(-128, None)
"""Where an end is looked for. Before more bytes that nobody asked for it is found half a second later,
with the stamp of its read: searching a whole one takes as long as stamping it."""
_SUCCESS = range(200, 300)
_SILENCE_NS = 100_000_000
"""Shorter pauses before a time limit explain nothing."""
_ERROR_BODY_BYTES = 64 * 1024

EndCode = Literal[
    "dns_error",
    "connect_refused",
    "connect_failed",
    "connect_timeout",
    "tls_error",
    "proxy_error",
    "client_limit",
    "connect_reset",
    "stream_incomplete",
    "header_timeout",
    "idle_timeout",
    "total_timeout",
    "invalid_http",
    "response_too_large",
]


class Limits(Value, frozen=True, kw_only=True):
    """Times that end an exchange."""

    deadline_ns: int
    """Reading of the clock at which the whole request has taken too long."""
    idle_ns: int
    """Longest silence between two reads once headers have come."""


@dataclass(slots=True, kw_only=True)
class Phases:
    """Durations of the phases of connecting that were completed, nanoseconds."""

    dns_ns: int | None = None
    connect_ns: int | None = None
    proxy_ns: int | None = None
    """Until the proxy had connected on."""
    tls_ns: int | None = None


class Ending(Value, frozen=True, kw_only=True):
    """How the transport ended; ``code`` is ``None`` for a body that came to its end."""

    code: EndCode | None
    message: str = ""


_GIVEN_UP = Ending(code="connect_reset", message="it was given up before its end")


class Exchange:
    """State of one request on one connection.

    Args:
        decoder: Of the wire protocol.
        limits: Times that end it.
        is_framed: The answer comes in HTTP/2 frames: ``receive_frames`` takes it.
    """

    def __init__(self, decoder: BodyDecoder, limits: Limits, *, is_framed: bool = False) -> None:
        self.http: HttpAnswer | FramedAnswer = FramedAnswer() if is_framed else HttpAnswer()
        self.decoder = decoder
        self.limits = limits
        self.ending = _GIVEN_UP
        """Stays so only if nobody waits for the end."""
        self.error_body = bytearray()
        """Beginning of a body whose status is no success."""
        self.reads = 0
        self.body_bytes = 0
        self._kept: list[tuple[int, bytes]] | None = None
        """Reads that were stamped and not looked at yet; ``None`` = each is looked at at once."""
        self._settled_ns = 0
        """When there was last nothing kept."""
        self.sent_ns: int | None = None
        self.headers_ns: int | None = None
        self.last_read_ns: int | None = None
        self.ended_ns: int | None = None
        """Last byte of the body; at a failure, its moment."""

    @property
    def is_over(self) -> bool:
        """Nothing more is waited for."""
        return self.ending is not _GIVEN_UP

    @property
    def is_success_status(self) -> bool:
        """Headers came, with a status of success."""
        return self.http.head is not None and self.http.head.status in _SUCCESS

    @property
    def done_ns(self) -> int | None:
        """When the end mark of the protocol was read."""
        return self.decoder.done_ns

    @property
    def due_ns(self) -> int:
        """When ``expire`` is next worth calling; later reads may move it."""
        if self._kept is None:
            return self._limit_ns
        return min(self._settled_ns + LONGEST_KEPT_NS, self._limit_ns)

    @property
    def _limit_ns(self) -> int:
        if self.done_ns is not None:
            return min(self.done_ns + AFTER_DONE_NS, self.limits.deadline_ns)
        if self.headers_ns is None or self.last_read_ns is None:
            return self.limits.deadline_ns
        return min(self.last_read_ns + self.limits.idle_ns, self.limits.deadline_ns)

    def keep(self, at_ns: int, data: bytes) -> bool:
        """Take one network read without a look at what it says, if that has time.

        In the middle of a stream nothing depends on it: reads are looked at a few dozen at a time,
        at a fraction of the cost, or when one may be the last.

        Returns:
            Whether it was taken; ``receive`` has to otherwise.
        """
        kept = self._kept
        if kept is None or len(kept) >= _MOST_KEPT or _BLANK_LINE in data[_TAIL]:
            return False
        if len(data) not in _TOKEN_BYTES and not _has_room(kept, len(data)):
            return False
        kept.append((at_ns, data))
        self.last_read_ns = at_ns
        return True

    def receive(self, at_ns: int, data: bytes) -> None:
        """Take one network read, stamped before anything looked at it."""
        if isinstance(self.http, HttpAnswer):
            self._look(self.http, (*(self._kept or ()), (at_ns, data)), now_ns=at_ns)
            is_midway = self.http.is_open_ended and self.is_success_status and not self.is_over
            self._kept = [] if is_midway and self.done_ns is None else None

    def receive_frames(self, at_ns: int, frames: Frames) -> None:
        """Take what one network read held of this answer, stamped likewise."""
        if isinstance(self.http, FramedAnswer):
            self._take([(at_ns, self.http.feed(frames))])

    def _settle(self, now_ns: int) -> None:
        """Look at what was kept."""
        if self._kept and isinstance(self.http, HttpAnswer):
            kept, self._kept = self._kept, []
            self._look(self.http, kept, now_ns=now_ns)

    def _look(self, http: HttpAnswer, reads: Iterable[tuple[int, bytes]], *, now_ns: int) -> None:
        brought = list[tuple[int, bytes]]()
        for at_ns, data in reads:
            if http.is_complete or http.broken is not None:
                http.feed(data)  # it is for nobody
                continue
            body = http.whole_chunk(data)
            brought.append((at_ns, http.feed(data) if body is None else body))
        self._settled_ns = now_ns
        if brought:
            self._take(brought)

    def _take(self, brought: Sequence[tuple[int, bytes]]) -> None:
        """Take what reads brought of the body, each piece with its stamp."""
        last_ns, _ = brought[-1]
        if self.headers_ns is None and self.http.head is not None:
            self.headers_ns = last_ns  # while there is no head, each read is looked at by itself
        reads = [
            Read(at_ns, number, body)
            for number, (at_ns, body) in enumerate(brought, self.reads)
            if body
        ]
        self.reads += len(brought)
        self.last_read_ns = last_ns
        self.body_bytes += sum([len(read.body) for read in reads])
        if self.is_success_status:
            self.decoder.feed_all(reads)
        else:
            for read in reads:
                self.error_body += read.body[: _ERROR_BODY_BYTES - len(self.error_body)]
        self._end_with_body(last_ns)

    def _end_with_body(self, at_ns: int) -> None:
        if self.http.is_complete:
            self._end(at_ns)
        elif self.http.broken is not None:
            code: EndCode = (
                "response_too_large" if self.http.broken.is_too_large else "invalid_http"
            )
            self._end(at_ns, code, self.http.broken.reason)

    def eof(self, at_ns: int) -> None:
        """Take the end of file from the other side."""
        self._settle(at_ns)
        if self.http.eof():
            self._end(at_ns)
        elif self.http.head is None:
            began = "in the middle of its headers" if self.reads else "before it answered"
            self._end(at_ns, "connect_reset", f"the server closed the connection {began}")
        else:
            message = "the server closed the connection in the middle of the body"
            self._end(at_ns, "stream_incomplete", message)

    def reset(self, at_ns: int, reason: str) -> None:
        """Take the breaking of the connection."""
        self._settle(at_ns)
        self._end(at_ns, "connect_reset", f"the connection broke: {reason}")

    def fail(self, at_ns: int, code: EndCode, message: str) -> None:
        """Take that no connection was made."""
        self._end(at_ns, code, message)

    def expire(self, now_ns: int) -> None:
        """Look at what was kept, and end it if its time is over; before ``due_ns`` do nothing."""
        if now_ns < self.due_ns:
            return
        self._settle(now_ns)
        self._settled_ns = now_ns
        if self.is_over or now_ns < self._limit_ns:
            return
        if self.done_ns is not None:
            self._end(now_ns, "stream_incomplete", "the body did not end after its end mark")
            return
        silent_ns = now_ns - (self.last_read_ns or self.sent_ns or now_ns)
        silent = f"no byte for {silent_ns / 1e9:.1f} s"
        if now_ns >= self.limits.deadline_ns:
            lately = f" ({silent})" if silent_ns >= _SILENCE_NS else ""
            code: EndCode = "header_timeout" if self.headers_ns is None else "total_timeout"
            self._end(now_ns, code, f"the time for the whole request ran out{lately}")
        else:
            self._end(now_ns, "idle_timeout", f"the stream fell silent: {silent}")

    def _end(self, at_ns: int, code: EndCode | None = None, message: str = "") -> None:
        if self.is_over:
            return
        self.ending = Ending(code=code, message=message)
        # A body that was done but never ended is as long as what was read of it.
        is_open = code is not None and self.done_ns is not None
        self._kept = None  # what still comes was not asked for: it is looked at, and noted
        self.ended_ns = self.last_read_ns if is_open else at_ns
        if isinstance(self.http, HttpAnswer):
            self.http.release()


def _has_room(kept: Iterable[tuple[int, bytes]], size: int) -> bool:
    taken = sum([len(data) for _, data in kept])
    return size >= _TOKEN_BYTES.start and taken + size <= _MOST_KEPT_BYTES
