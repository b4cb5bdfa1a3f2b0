"""A plain TCP transport whose reads carry the time at which the kernel received them (Linux).

What the event loop does between a segment's arrival and its turn is then no part of any figure.
An ``asyncio.Transport`` by shape, as far as a ``Carrier`` uses one. Source: socket(7), SO_TIMESTAMPNS.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Callable

from bench.client.arrivals import Arrivals
from bench.client.carrier import Carrier
from bench.client.gauge import Gauge
from bench.clock import WallOffset

_SO_TIMESTAMPNS = 35
"""Of Linux on all machines but alpha, parisc and sparc; Python's `socket` doesn't name it."""
_READ_BYTES = 65_536
_SECONDS_AND_NS = struct.Struct("@qq")
_ANCILLARY_BYTES = socket.CMSG_SPACE(_SECONDS_AND_NS.size)
_NS_PER_S = 1_000_000_000
_MOST_WAITING = 8
"""Reads of one line that wait to be looked at; what comes then stays with the system."""
# Globals: what is looked up for each token.
_SOL_SOCKET = socket.SOL_SOCKET
_stamp = _SECONDS_AND_NS.unpack


def ask_for_stamps(sock: socket.socket) -> bool:
    """Have the kernel stamp what arrives on ``sock``; return whether it will."""
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


class StampedTransport:
    """Carries the bytes of one line.

    Args:
        sock: Connected and non-blocking, with stamps asked for; it is closed with the transport.
        line: Whose bytes they are.
        wall: Turns stamps into the clock of all other figures.
        now_ns: That clock.
        gauge: Counts how late each read came to its turn.
        arrivals: Calls for the reads.
    """

    def __init__(
        self,
        sock: socket.socket,
        line: Carrier,
        *,
        wall: WallOffset,
        now_ns: Callable[[], int],
        gauge: Gauge,
        arrivals: Arrivals,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._sock = sock
        self._line = line
        self._receive = sock.recvmsg
        self._wall = wall
        self._now_ns = now_ns
        self._gauge = gauge
        self._arrivals = arrivals
        self._unsent = bytearray()
        self._is_closing = False
        self._last_ns = 0
        self._waiting = 0
        self._keep = line.keep
        line.stamped_by = "kernel"
        arrivals.add(sock.fileno(), self._read)
        line.connection_made(self)  # last: a line that greets a dead socket closes it here

    def write(self, data: bytes) -> None:
        """Send now what the socket takes; the rest follows when it takes more."""
        if self._is_closing:
            return
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError as error:
            self._end(error)
            return
        if sent < len(data):
            self._unsent += memoryview(data)[sent:]
            self._loop.add_writer(self._sock.fileno(), self._flush)

    def get_write_buffer_size(self) -> int:
        """Return how many bytes the socket has not taken yet."""
        return len(self._unsent)

    def set_write_buffer_limits(self, high: int | None = None) -> None:
        """Take that no slack is wanted: ``resume_writing`` always means an empty buffer here."""

    def get_extra_info(self, name: str) -> tuple[str, int] | None:
        """Return this end's address under ``sockname``."""
        return self._sock.getsockname() if name == "sockname" else None

    def is_closing(self) -> bool:
        """Whether no more can be sent."""
        return self._is_closing

    def abort(self) -> None:
        """Close at once."""
        self._end(None)

    def _read(self) -> None:
        if self._waiting >= _MOST_WAITING:
            return
        try:
            data, ancillary, _, _ = self._receive(_READ_BYTES, _ANCILLARY_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._read_last(error)
            return
        if not data:
            self._read_last(data)
            return
        at_ns = self._arrived_ns(ancillary)
        if self._waiting or not self._keep(at_ns, data):
            self._waiting += 1
            self._arrivals.wait(self._hand_over, at_ns, data)

    def _arrived_ns(self, ancillary: list[tuple[int, int, bytes]]) -> int:
        now_ns = self._now_ns()
        at_ns = None
        for level, kind, value in ancillary:
            if kind == _SO_TIMESTAMPNS and level == _SOL_SOCKET:
                seconds, rest = _stamp(value)
                at_ns = self._wall.monotonic_ns(seconds * _NS_PER_S + rest, now_ns)
        if at_ns is None:
            self._gauge.unstamped += 1
            at_ns = now_ns
        else:
            self._gauge.received(now_ns - at_ns)
            # The two clocks are compared anew now and then: no read is before the last.
            at_ns = max(at_ns, self._last_ns)
        self._last_ns = at_ns
        return at_ns

    def _read_last(self, end: bytes | OSError) -> None:
        self._arrivals.remove(self._sock.fileno())
        self._waiting += 1
        self._arrivals.wait(self._hand_over, self._now_ns(), end)

    def _hand_over(self, at_ns: int, data: bytes | OSError) -> None:
        self._waiting -= 1
        if self._is_closing:
            return  # it was read for nobody
        if isinstance(data, OSError):
            self._end(data)
        elif data:
            self._line.take(at_ns, data)
        else:
            self._line.end(at_ns)
            self._end(None)

    def _flush(self) -> None:
        try:
            sent = self._sock.send(self._unsent)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)
            return
        del self._unsent[:sent]
        if not self._unsent:
            self._loop.remove_writer(self._sock.fileno())
            self._line.resume_writing()

    def _end(self, error: OSError | None) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        self._unsent.clear()
        self._arrivals.remove(self._sock.fileno())
        self._loop.remove_writer(self._sock.fileno())
        # Not at once: whoever closes is in the middle of something that the line also knows of.
        self._loop.call_soon(self._closed, error)

    def _closed(self, error: OSError | None) -> None:
        self._sock.close()
        self._line.connection_lost(error)
