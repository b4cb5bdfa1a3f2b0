"""The law of reads: whatever comes when, each line is told all of its bytes in order, and its end last."""

import asyncio
import socket
import struct
import sys
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.client.arrivals import Arrivals
from bench.client.gauge import Gauge
from bench.client.stamped import StampedTransport, ask_for_stamps
from bench.clock import SystemClock, WallOffset
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel stamps reads on Linux only"),
]

LINES = 2
LINE = st.integers(0, LINES - 1)
SIZE = st.one_of(st.integers(1, 300), st.just(40_000))
STEP = st.one_of(
    st.tuples(st.sampled_from(["plain", "weighty"]), LINE, SIZE),
    st.tuples(st.sampled_from(["plain", "weighty"]), LINE, SIZE),
    st.tuples(st.sampled_from(["compute", "compute", "turn"]), st.just(0), st.just(0)),
    st.tuples(st.sampled_from(["eof", "reset", "abort"]), LINE, st.just(0)),
)
KEPT, LOOKED_AT = 255, 254
"""First bytes that ask for the one and the other."""


class Told:
    """A carrier that writes down what it is told; ``closes`` = it gives up at its n-th look."""

    def __init__(self, now_ns, *, closes, computes):
        self.now_ns, self.closes, self.computes = now_ns, closes, computes
        self.stamped_by = "loop"
        self.reads, self.ends, self.losses, self.looks = [], [], 0, 0
        self.lost = asyncio.Event()
        self.transport: Any = None
        self.unwanted = []
        """What was told once it had closed."""

    def connection_made(self, transport):
        self.transport = transport

    def keep(self, at_ns, data):
        if data[0] != KEPT:
            return False
        self._note(at_ns, data)
        return True

    def take(self, at_ns, data):
        self._note(at_ns, data)
        self.looks += 1
        began = self.now_ns()
        while self.computes and self.now_ns() - began < 2_100_000:
            pass  # longer than reads may wait
        if self.looks == self.closes:
            self.transport.abort()

    def end(self, at_ns):
        assert not self.losses
        self.ends.append(at_ns)

    def connection_lost(self, _):
        self.losses += 1
        self.lost.set()

    def resume_writing(self):
        pass

    def _note(self, at_ns, data):
        is_over = self.losses or self.ends or self.transport.is_closing()
        (self.unwanted if is_over else self.reads).append((at_ns, data))


class Scene:
    """Lines, their other ends, and what was sent on each."""

    def __init__(self, closes, computes):
        self.now_ns = SystemClock().now_ns
        self.arrivals = Arrivals(self.now_ns)
        wall = WallOffset()
        self.gauge = Gauge(self.now_ns, wall)
        self.lines, self.others, self.sent = [], [], [bytearray() for _ in range(LINES)]
        self.is_cut = [False] * LINES
        self.finished = [False] * LINES
        for _ in range(LINES):
            with socket.create_server(("127.0.0.1", 0)) as listener:
                mine = socket.create_connection(listener.getsockname())
                other, _ = listener.accept()
            mine.setblocking(False)
            other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            assert ask_for_stamps(mine)
            line = Told(self.now_ns, closes=closes, computes=computes)
            StampedTransport(
                mine,
                cast(Any, line),
                wall=wall,
                now_ns=self.now_ns,
                gauge=self.gauge,
                arrivals=self.arrivals,
            )
            self.lines.append(line)
            self.others.append(other)

    async def play(self, step):
        what, at, size = step
        if what == "turn":
            await asyncio.sleep(0)
        elif what == "compute":
            self.compute()
        elif what == "abort" or not (self.finished[at] or self.lines[at].lost.is_set()):
            getattr(self, what)(at, size)

    def compute(self):
        began = self.now_ns()
        while self.now_ns() - began < 2_100_000:
            pass
        self.arrivals.go_first()

    def abort(self, at, _):
        self.is_cut[at] = True
        self.lines[at].transport.abort()

    def eof(self, at, _):
        self.finished[at] = True
        self.others[at].shutdown(socket.SHUT_WR)

    def reset(self, at, _):
        self.finished[at] = self.is_cut[at] = True
        self.others[at].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.others[at].close()

    def plain(self, at, size):
        self.send(at, KEPT, size)

    def weighty(self, at, size):
        self.send(at, LOOKED_AT, size)

    def send(self, at, first, size):
        # The other bytes say how many came before them, so that no mix-up goes unseen.
        begin = len(self.sent[at])
        data = bytes([first, *((begin + n) % 251 for n in range(1, size))])
        try:
            self.others[at].sendall(data)
        except OSError:  # this side has closed
            self.finished[at] = self.is_cut[at] = True
        else:
            self.sent[at] += data

    async def to_the_end(self):
        """Let all lines come to their ends."""
        for at, other in enumerate(self.others):
            if not self.finished[at]:
                self.finished[at] = True
                try:
                    other.shutdown(socket.SHUT_WR)
                except OSError:
                    self.is_cut[at] = True
        async with asyncio.timeout(PATIENCE_S):
            for line in self.lines:
                await line.lost.wait()
        await asyncio.sleep(0)
        for other in self.others:
            other.close()


@settings(max_examples=100)
@given(
    steps=st.lists(STEP, min_size=10, max_size=40),
    closes=st.sampled_from([None, 1, 3]),
    computes=st.booleans(),
)
def test_each_line_is_told_all_of_its_bytes_in_order_and_its_end_last(steps, closes, computes):
    async def play():
        scene = Scene(closes, computes)
        for step in steps:
            await scene.play(step)
        await scene.to_the_end()
        return scene

    scene = asyncio.run(play())
    for at, line in enumerate(scene.lines):
        told = b"".join(data for _, data in line.reads)
        stamps = [at_ns for at_ns, _ in line.reads]
        has_closed = closes is not None and line.looks >= closes
        assert scene.sent[at].startswith(told)
        if not scene.is_cut[at] and not has_closed:
            assert told == scene.sent[at]
            assert len(line.ends) == 1
        assert stamps == sorted(stamps)
        assert line.losses == 1
        assert line.unwanted == []
        assert len(line.ends) <= 1
        assert not any(at_ns > line.ends[0] for at_ns in stamps if line.ends)
    assert not scene.arrivals._readers
    assert scene.arrivals._epoll is None
