"""One HTTP/2 connection: many exchanges at a time, each read stamped once (RFC 9113; needs `h2`).

``h2`` knows frames, compression and states; here are bytes in and out, stamps and time limits. A
read belongs to every stream that has a frame in it, and all of them share its stamp: none waits
for the turn of another.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from h2.connection import ConnectionState
from h2.errors import ErrorCodes
from h2.settings import SettingCodes, Settings
from hyperframe.frame import Frame, GoAwayFrame

from bench.client.carrier import ByteTransport
from bench.client.exchange import Exchange
from bench.client.request_text import Request
from bench.stream.framed_answer import Frames

_WINDOW = 16 * 1024 * 1024
"""Bytes that a server may send unasked: no stream ever waits for this client."""
_MOST_STREAMS = 100
"""On one connection, where the server names no limit of its own (RFC 9113, 6.5.2 asks for 100)."""

_FIRST = b"HTTP/"
_OURS = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW}


class _Connection(h2.connection.H2Connection):
    """Goes on with streams that were under way when the server said GOAWAY (RFC 9113, 6.8).

    ``h2`` takes that frame for the end of the connection; servers send it after so many requests
    and answer what they have taken.
    """

    def _receive_goaway_frame(  # type: ignore[explicit-override]  # Python 3.11 has no `override`
        self, frame: GoAwayFrame
    ) -> tuple[list[Frame], list[h2.events.Event]]:
        found = super()._receive_goaway_frame(frame)
        self.state_machine.state = ConnectionState.CLIENT_OPEN
        return found


@dataclass(slots=True, kw_only=True)
class _Carried:
    """One stream."""

    exchange: Exchange
    over: "asyncio.Future[None]"
    unsent: memoryview
    """Of the body; the server's window keeps it back."""
    is_queued: bool = False
    """The last byte is with the transport."""
    is_ended: bool = False
    """Nothing more comes from the server."""
    timer: asyncio.TimerHandle | None = None
    armed_for_ns: int = 0


@dataclass(slots=True)
class _Seen:
    """What one read held."""

    frames: dict[int, Frames] = field(default_factory=lambda: defaultdict(Frames))
    resets: dict[int, int] = field(default_factory=dict)
    """Stream → error code."""


class MultiplexedLine:
    """Carries as many exchanges as the server takes. A ``bench.client.carrier.Carrier``."""

    http_version: Literal["1.1", "2"] = "2"

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = self._loop.create_future()
        self.stamped_by: Literal["kernel", "loop"] = "loop"
        self.opened_ns = self.idle_since_ns = now_ns()
        self.local_port: int | None = None
        self._now_ns = now_ns
        self._transport: ByteTransport | None = None
        self.settled = asyncio.Event()
        """The server has said how many streams it takes, or is gone."""
        self._streams: dict[int, _Carried] = {}
        self._is_leaving = False
        """The server takes no more streams (GOAWAY), or broke the protocol."""
        self._broken: str | None = None
        """How it broke it."""
        self._h2 = _Connection(h2.config.H2Configuration(header_encoding=None))

    @property
    def is_open(self) -> bool:
        """Another exchange can be started, now or later."""
        transport = self._transport
        return transport is not None and not transport.is_closing() and not self._is_leaving

    @property
    def is_idle(self) -> bool:
        """No stream is under way."""
        return not self._streams

    @property
    def room(self) -> int:
        """How many more streams the server takes now; one until it has said how many."""
        if not self.settled.is_set():
            return int(self.is_open and not self._streams)
        most = min(self._h2.remote_settings.max_concurrent_streams, _MOST_STREAMS)
        return max(0, most - len(self._streams)) if self.is_open else 0

    async def carry(self, exchange: Exchange, request: Request) -> None:
        """Send ``request`` on a stream of its own and return when ``exchange`` is over.

        Cancelling, and every end before the server's, resets that stream alone.
        """
        if self._broken is not None:
            exchange.fail(self._now_ns(), "invalid_http", self._broken)
            return
        if not self.room:
            exchange.reset(self._now_ns(), "it was closed before the request was sent")
            return
        number = self._h2.get_next_available_stream_id()
        carried = _Carried(
            exchange=exchange, over=self._loop.create_future(), unsent=memoryview(request.body)
        )
        self._streams[number] = carried
        try:
            self._h2.send_headers(number, request.http2(), end_stream=not request.body)
            self._push(number, carried)
            self._write()
            self._arm(number, carried)
            await carried.over
        finally:
            del self._streams[number]
            self._stop_timer(carried)
            self.idle_since_ns = self._now_ns()
            if not carried.is_ended and self.is_open:
                self._h2.reset_stream(number, ErrorCodes.CANCEL)
                self._write()
            if self._is_leaving and not self._streams:
                self.abort()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    # ---- called by the transport ---------------------------------------------

    def connection_made(self, transport: ByteTransport) -> None:
        """Take the open connection and greet."""
        transport.set_write_buffer_limits(high=0)
        self._transport = transport
        name = transport.get_extra_info("sockname")
        self.local_port = name[1] if name else None
        # Values that are set one by one go out only after the server has confirmed the defaults.
        self._h2.local_settings = Settings(client=True, initial_values=_OURS)
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(_WINDOW)
        self._write()

    def data_received(self, data: bytes) -> None:
        """Stamp and take what arrived."""
        self.take(self._now_ns(), data)

    def keep(self, at_ns: int, data: bytes) -> bool:  # noqa: ARG002 - as of a `Carrier`
        """Keep nothing: one read can hold frames of many answers."""
        return False

    def take(self, at_ns: int, data: bytes) -> None:
        """Hand what arrived at ``at_ns`` to the streams that it is for."""
        if not self.settled.is_set() and data.startswith(_FIRST):
            # Taken for a frame it is one of 4 MB, which `h2` would wait for.
            self._break(at_ns, "not HTTP/2: the server answered in HTTP/1.1")
            return
        seen = _Seen()
        try:
            for event in self._h2.receive_data(data):
                self._note(event, seen)
        except h2.exceptions.ProtocolError as error:
            self._break(at_ns, f"not HTTP/2: {str(error) or type(error).__name__}")
            return
        self._hand_on(at_ns, seen)
        for number, carried in self._streams.items():
            self._push(number, carried)
            if carried.exchange.is_over:
                _finish(carried)
            elif carried.exchange.due_ns < carried.armed_for_ns:
                self._arm(number, carried)
        self._write()

    def eof_received(self) -> bool:
        """Take the end of file; the transport then closes itself."""
        self.end(self._now_ns())
        return False

    def end(self, at_ns: int) -> None:
        """Take that the last byte came before ``at_ns``."""
        self._is_leaving = True
        for carried in self._streams.values():
            carried.exchange.eof(at_ns)
            _finish(carried)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take that the connection is gone."""
        self._is_leaving = True
        self.settled.set()
        for carried in self._streams.values():
            carried.exchange.reset(self._now_ns(), str(exc) if exc else "closed")
            _finish(carried)
        if not self.closed.done():
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        """Part of a request waits for the socket; `sent` is then said later."""

    def resume_writing(self) -> None:
        """Note that the last byte of what was queued has left."""
        now_ns = self._now_ns()
        for carried in self._streams.values():
            if carried.is_queued and carried.exchange.sent_ns is None:
                carried.exchange.sent_ns = now_ns

    # ---- frames ----------------------------------------------------------------

    def _note(self, event: h2.events.Event, seen: _Seen) -> None:
        match event:
            case h2.events.ResponseReceived(stream_id=number, headers=headers):
                seen.frames[number].fields = [(bytes(n), bytes(v)) for n, v in headers]
            case h2.events.DataReceived(stream_id=number, data=data):
                seen.frames[number].body += data
                self._h2.acknowledge_received_data(event.flow_controlled_length, number)
            case h2.events.RemoteSettingsChanged():
                self.settled.set()
            case h2.events.StreamEnded(stream_id=number):
                seen.frames[number].is_end = True
            case h2.events.StreamReset(stream_id=number, error_code=code):
                seen.resets[number] = int(code or 0)
            case h2.events.ConnectionTerminated():
                self._is_leaving = True
                last = event.last_stream_id or 0
                left_out = [number for number in self._streams if number > last]
                seen.resets |= dict.fromkeys(left_out, int(event.error_code or 0))
            case _:
                pass  # windows are h2's business; what they allow is sent below

    def _hand_on(self, at_ns: int, seen: _Seen) -> None:
        for number, frames in seen.frames.items():
            carried = self._streams.get(number)
            if carried is not None:
                carried.is_ended = carried.is_ended or frames.is_end
                carried.exchange.receive_frames(at_ns, frames)
        for number, code in seen.resets.items():
            self._was_reset(at_ns, number, code)

    def _was_reset(self, at_ns: int, number: int, code: int) -> None:
        carried = self._streams.get(number)
        if carried is None or carried.exchange.is_over:
            return
        carried.is_ended = True
        named = ErrorCodes(code).name if code in set(ErrorCodes) else f"error {code}"
        if carried.exchange.http.head is None:
            message = f"the server reset the stream before it answered: {named}"
            carried.exchange.fail(at_ns, "connect_reset", message)
        else:
            message = f"the server reset the stream in the middle of the body: {named}"
            carried.exchange.fail(at_ns, "stream_incomplete", message)

    def _push(self, number: int, carried: _Carried) -> None:
        """Queue as much of the body as the server's windows take."""
        if carried.is_queued or carried.is_ended:
            return
        while carried.unsent:
            window = self._h2.local_flow_control_window(number)
            size = min(window, self._h2.max_outbound_frame_size, len(carried.unsent))
            if size <= 0:
                return
            is_last = size == len(carried.unsent)
            self._h2.send_data(number, bytes(carried.unsent[:size]), end_stream=is_last)
            carried.unsent = carried.unsent[size:]
        carried.is_queued = True

    def _write(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if data := self._h2.data_to_send():
            transport.write(data)
        # A write that fails closes the transport and empties its buffer: nothing left.
        if not transport.get_write_buffer_size() and not transport.is_closing():
            self.resume_writing()

    def _break(self, at_ns: int, message: str) -> None:
        self._is_leaving, self._broken = True, message
        for carried in self._streams.values():
            carried.exchange.fail(at_ns, "invalid_http", message)
            _finish(carried)
        self._write()  # says to the server what it did
        self.abort()

    # ---- time limits -------------------------------------------------------------

    def _arm(self, number: int, carried: _Carried) -> None:
        self._stop_timer(carried)
        carried.armed_for_ns = carried.exchange.due_ns
        wait_ns = max(0, carried.armed_for_ns - self._now_ns())
        carried.timer = self._loop.call_later(wait_ns / 1e9, self._expire, number, carried)

    def _expire(self, number: int, carried: _Carried) -> None:
        carried.exchange.expire(self._now_ns())
        if carried.exchange.is_over:
            _finish(carried)
        else:
            self._arm(number, carried)  # reads have moved the limit

    def _stop_timer(self, carried: _Carried) -> None:
        if carried.timer is not None:
            carried.timer.cancel()
            carried.timer = None


def _finish(carried: _Carried) -> None:
    if not carried.over.done():
        carried.over.set_result(None)
