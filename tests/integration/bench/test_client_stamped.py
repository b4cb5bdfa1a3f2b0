"""The transport of our own on real sockets: stamps of the kernel, and every way a connection ends."""

import asyncio
import select
import socket
import struct
import sys
import time

import pytest

from bench.client.arrivals import Arrivals
from bench.client.endpoint import address_of
from bench.client.exchange import Exchange, Limits
from bench.client.gauge import Gauge
from bench.client.line import Line
from bench.client.request_text import Request
from bench.client.stamped import StampedTransport, ask_for_stamps
from bench.clock import SystemClock, WallOffset
from bench.wire import PROTOCOLS
from tests.asking import asking, call, run
from tests.fake_gateway import fake_gateway
from tests.free_port import free_port
from tests.patience import PATIENCE_S

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel stamps reads on Linux only"),
]


@pytest.fixture(scope="module", autouse=True)
def _stamping():
    """Linux switches stamps on some time after the first socket asked: until then reads make them."""
    with (
        socket.socket(type=socket.SOCK_DGRAM) as asked_for,
        socket.socket(type=socket.SOCK_DGRAM) as other,
    ):
        asked_for.bind(("127.0.0.1", 0))
        asked_for.settimeout(PATIENCE_S)
        assert ask_for_stamps(asked_for)
        deadline_ns = time.monotonic_ns() + PATIENCE_S * 10**9
        while time.monotonic_ns() < deadline_ns:
            other.sendto(b"x", asked_for.getsockname())
            time.sleep(0.005)
            read_ns = time.time_ns()
            _, ((_, _, value),), _, _ = asked_for.recvmsg(10, 100)
            seconds, rest = struct.unpack("@qq", value)
            if seconds * 10**9 + rest < read_ns:
                break
        yield  # stamps stay on while somebody wants them


def connected():
    """Both ends of a TCP connection, without waiting."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        mine = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
    for each in (mine, other):
        each.setblocking(False)
        each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return mine, other


class Pair:
    """A line on one end of a socket, and the other end in the test's hand."""

    def __init__(self, *, small=False, wall=None):
        mine, self.other = connected()
        if small:
            mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        assert ask_for_stamps(mine)
        self.now_ns = SystemClock().now_ns
        self.wall = wall or WallOffset()
        self.gauge = Gauge(self.now_ns, self.wall)
        self.line = Line(self.now_ns)
        self.arrivals = Arrivals(self.now_ns)
        self.transport = StampedTransport(
            mine,
            self.line,
            wall=self.wall,
            now_ns=self.now_ns,
            gauge=self.gauge,
            arrivals=self.arrivals,
        )

        self.mine = mine

    @property
    def reads(self):
        """How many there were."""
        return self.gauge.lags.count + self.gauge.unstamped

    def shut(self):
        """Nothing can be written any more."""
        self.mine.shutdown(socket.SHUT_WR)

    def exchange(self):
        decoder = PROTOCOLS["chat"].decoder(stream=True)
        return Exchange(decoder, Limits(deadline_ns=self.now_ns() + 60 * 10**9, idle_ns=10**11))

    async def close(self):
        self.line.abort()
        await self.line.closed
        self.other.close()


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def asked(body):
    return Request(address=address_of("http://h/"), headers=(), body=body)


def played(scene, **options):
    async def play():
        pair = Pair(**options)
        try:
            return await scene(pair)
        finally:
            await pair.close()

    return asyncio.run(play())


def test_a_read_is_stamped_when_it_came_and_not_when_it_was_read():
    async def scene(pair):
        exchange = pair.exchange()
        carried = asyncio.ensure_future(pair.line.carry(exchange, asked(b"hello")))
        await asyncio.sleep(0)
        loop = asyncio.get_running_loop()
        assert await loop.sock_recv(pair.other, 100) == asked(b"hello").http1()
        before = pair.now_ns()
        pair.other.send(ANSWER)
        sent = pair.now_ns()
        while (free := pair.now_ns()) - sent < 200_000_000:
            pass  # the loop is busy and can't read
        await carried
        return before, free, exchange, pair

    before, free, exchange, pair = played(scene)
    # What the loop did meanwhile is in the lag, and in no stamp.
    assert before - 1_000_000 <= exchange.ended_ns < free
    assert pair.gauge.lags.largest >= free - exchange.ended_ns - 1_000_000
    assert pair.line.stamped_by == "kernel"
    assert pair.line.is_open is False


def test_a_request_larger_than_the_socket_leaves_piece_by_piece():
    async def scene(pair):
        request = b"x" * 3_000_000
        exchange = pair.exchange()
        carried = asyncio.ensure_future(pair.line.carry(exchange, asked(request)))
        await asyncio.sleep(0)
        assert exchange.sent_ns is None
        assert pair.transport.get_write_buffer_size() > 0
        pair.transport.write(b"y")
        got = b""
        while len(got) < len(asked(request).http1()) + 1:
            got += await asyncio.get_running_loop().sock_recv(pair.other, 1 << 20)
        pair.other.send(ANSWER)
        await carried
        return got, exchange

    got, exchange = played(scene, small=True)
    assert got == asked(b"x" * 3_000_000).http1() + b"y"
    assert exchange.sent_ns is not None


def test_an_end_of_file_and_a_reset_are_told_apart():
    async def gone(pair, *, how):
        exchange = pair.exchange()
        carried = asyncio.ensure_future(pair.line.carry(exchange, asked(b"hello")))
        await asyncio.sleep(0)
        if how == "reset":
            linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
            pair.other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        else:
            await asyncio.get_running_loop().sock_recv(pair.other, 100)
        pair.other.close()
        await carried
        return exchange.ending

    closed = played(lambda pair: gone(pair, how="close"))
    reset = played(lambda pair: gone(pair, how="reset"))
    assert (closed.code, "closed the connection" in closed.message) == ("connect_reset", True)
    assert (reset.code, "the connection broke" in reset.message) == ("connect_reset", True)


def test_bytes_that_nobody_asked_for_close_the_line():
    async def scene(pair):
        pair.other.send(b"surprise")
        await pair.line.closed
        pair.transport.write(b"late")
        return pair.line.is_open, pair.transport.get_extra_info("peername")

    assert played(scene) == (False, None)


def test_a_socket_that_is_gone_is_not_stamped():
    with socket.socket() as gone:
        pass
    assert ask_for_stamps(gone) is False


@pytest.mark.parametrize("is_full", [False, True], ids=["at-once", "while-bytes-wait"])
def test_what_can_not_be_sent_any_more_ends_the_line(is_full):
    async def scene(pair):
        exchange = pair.exchange()
        body = b"x" * (3_000_000 if is_full else 1)
        if is_full:
            carried = asyncio.ensure_future(pair.line.carry(exchange, asked(body)))
            await asyncio.sleep(0)
            before = None
            while (left := pair.transport.get_write_buffer_size()) != before:
                before = left
                pair.transport._flush()  # in the end a wake-up for nothing: no more is taken
            assert left > 0
            pair.shut()
        else:
            pair.shut()
            carried = asyncio.ensure_future(pair.line.carry(exchange, asked(body)))
        await carried
        return exchange, pair

    exchange, pair = played(scene, small=True)
    assert (exchange.ending.code, exchange.sent_ns) == ("connect_reset", None)
    assert pair.transport.is_closing()
    assert pair.transport.get_write_buffer_size() == 0


def test_a_wake_up_without_bytes_changes_nothing():
    async def scene(pair):
        pair.transport._read()
        return pair.line.is_open, pair.gauge.unstamped

    assert played(scene) == (True, 0)


def test_a_read_whose_stamp_is_missing_or_out_of_place_is_stamped_by_the_loop_and_counted():
    """The wall clock was set, or the kernel left the stamp out."""

    class Lost(WallOffset):
        def monotonic_ns(self, wall_ns, now_ns):  # type: ignore[explicit-override]
            return None

    async def scene(pair):
        exchange = pair.exchange()
        carried = asyncio.ensure_future(pair.line.carry(exchange, asked(b"hello")))
        await asyncio.sleep(0)
        await asyncio.get_running_loop().sock_recv(pair.other, 100)
        before = pair.now_ns()
        pair.other.send(ANSWER)
        await carried
        return before, exchange, pair.gauge

    before, exchange, gauge = played(scene, wall=Lost())
    assert exchange.ended_ns >= before
    assert gauge.unstamped == 1


def test_who_computes_for_long_takes_in_first_what_has_arrived():
    async def scene(pair):
        while pair.now_ns() - pair.line.opened_ns < 3_000_000:
            pass
        pair.arrivals.go_first()  # nothing yet, and nobody is called
        exchange = pair.exchange()
        carried = asyncio.ensure_future(pair.line.carry(exchange, asked(b"hello")))
        await asyncio.sleep(0)
        await asyncio.get_running_loop().sock_recv(pair.other, 100)
        pair.other.send(ANSWER)
        while not pair.reads:
            pair.arrivals.go_first()  # read and stamped without a turn of the loop
        assert not exchange.is_over  # and looked at in the next one
        await carried
        return exchange

    assert played(scene).ending.code is None


class Slow(Line):
    """Takes so long over a read that others must go first; what it took is in ``taken``."""

    def __init__(self, now_ns, meanwhile=lambda: None):
        super().__init__(now_ns)
        self.taken = []
        self.meanwhile = meanwhile

    def take(self, at_ns, data):  # type: ignore[explicit-override]  # Python 3.11 has no `override`
        self.taken.append(data)
        self.meanwhile()
        began = self._now_ns()
        while self._now_ns() - began < 2_500_000:
            pass

    def end(self, at_ns):  # type: ignore[explicit-override]
        self.taken.append(b"")


class Ends:
    """Three slow lines that share their arrivals, and their other ends."""

    def __init__(self, pair):
        self.lines, self.others, self.mine = [], [], []
        for _ in range(3):
            mine, other = connected()
            assert ask_for_stamps(mine)
            line = Slow(pair.now_ns)
            StampedTransport(
                mine,
                line,
                wall=pair.wall,
                now_ns=pair.now_ns,
                gauge=pair.gauge,
                arrivals=pair.arrivals,
            )
            self.lines.append(line)
            self.others.append(other)
            self.mine.append(mine)

    def send(self, number, data):
        """Send to a line, and return when it is there: under load the system delivers later."""
        self.others[number].send(data)
        readable, _, _ = select.select([self.mine[number]], (), (), PATIENCE_S)
        assert readable

    async def close(self):
        for line in self.lines:
            line.abort()
            await line.closed
        for other in self.others:
            other.close()


def with_ends(scene):
    async def play(pair):
        ends = Ends(pair)
        try:
            return await scene(pair, ends)
        finally:
            await ends.close()

    return played(play)


async def until(fact):
    deadline = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < deadline
        await asyncio.sleep(0)


def test_what_is_due_is_read_before_any_of_it_is_looked_at():
    async def scene(_, ends):
        first, second, _ = ends.lines
        first.meanwhile = lambda: ends.send(1, b"later")
        ends.send(0, b"x")
        ends.send(1, b"sooner")
        await until(lambda: len(b"".join(second.taken)) == len(b"soonerlater"))
        return second.taken

    # Read only after the first line's look, both would be one read with the stamp of the later.
    assert with_ends(scene) == [b"sooner", b"later"]


def test_between_two_looks_that_take_long_what_has_arrived_is_read():
    async def scene(_, ends):
        first, second, third = ends.lines
        first.meanwhile = lambda: ends.send(2, b"sooner")
        second.meanwhile = lambda: ends.send(2, b"later")
        ends.send(0, b"x")
        ends.send(1, b"y")
        await until(lambda: len(b"".join(third.taken)) == len(b"soonerlater"))
        return third.taken

    assert with_ends(scene) == [b"sooner", b"later"]


def test_an_end_is_told_after_all_that_came_before_it():
    async def scene(pair, ends):
        one = ends.others[0]
        one.send(b"first")
        while not pair.reads:
            pair.arrivals.go_first()
        one.send(b"last")
        one.shutdown(socket.SHUT_WR)
        await until(ends.lines[0].closed.done)
        return ends.lines[0].taken

    *data, end = with_ends(scene)
    assert (b"".join(data), end) == (b"firstlast", b"")


def test_what_waits_for_a_line_that_is_closed_is_for_nobody():
    async def scene(pair, ends):
        one = ends.others[0]
        one.send(b"unread")
        while not pair.reads:
            pair.arrivals.go_first()
        ends.lines[0].abort()
        await ends.lines[0].closed
        await asyncio.sleep(0)
        return ends.lines[0].taken

    assert with_ends(scene) == []


def test_of_a_line_that_is_not_looked_at_only_so_many_reads_wait():
    async def scene(pair, ends):
        one = ends.others[0]
        for _ in range(20):
            one.send(b"x")
            began = pair.reads
            while pair.reads == began < 8:
                pair.arrivals.go_first()  # reads, and nobody looks
        began = pair.now_ns()
        while pair.now_ns() - began < 10_000_000:
            pair.arrivals.go_first()
        read = pair.reads
        await until(lambda: len(b"".join(ends.lines[0].taken)) == 20)
        return read, len(ends.lines[0].taken)

    read, taken = with_ends(scene)
    assert read == 8
    assert taken > 8


def test_a_line_that_closes_at_once_leaves_no_socket_behind():
    class Hasty(Line):
        def connection_made(self, transport):  # type: ignore[explicit-override]  # Python 3.11 has no `override`
            super().connection_made(transport)
            transport.abort()

    async def scene(pair):
        mine, other = socket.socketpair()
        with other:
            line = Hasty(pair.now_ns)
            StampedTransport(
                mine,
                line,
                wall=pair.wall,
                now_ns=pair.now_ns,
                gauge=pair.gauge,
                arrivals=pair.arrivals,
            )
            await line.closed
        return list(pair.arrivals._readers), pair.mine.fileno()

    watched, of_the_pair = played(scene)
    assert watched == [of_the_pair]


def test_when_the_last_socket_is_gone_nothing_is_watched_any_more():
    async def scene(pair):
        pair.line.abort()
        await pair.line.closed
        pair.arrivals.go_first()
        pair.arrivals.remove(pair.other.fileno())  # never was one of its sockets
        with socket.create_server(("127.0.0.1", 0)) as listener:
            heard = asyncio.Event()
            pair.arrivals.add(listener.fileno(), heard.set)
            with socket.create_connection(listener.getsockname()):
                await asyncio.wait_for(heard.wait(), PATIENCE_S)
            pair.arrivals.remove(listener.fileno())
        return pair.arrivals

    assert not played(scene)._readers


def test_connections_are_opened_ahead_and_used_by_the_first_requests():
    async def scene():
        steps = ()
        async with fake_gateway(steps) as gateway, asking(gateway.url) as client:
            opened = await client.open_connections(5)
            again = await client.open_connections(3)
            return opened, again, client.vantage(), client.capacity()

    opened, again, vantage, capacity = run(scene())
    assert (opened, again, vantage.connections) == (5, 5, 5)
    assert vantage.address == "127.0.0.1"
    assert capacity > 5


def test_nothing_is_opened_where_nobody_listens():
    async def scene():
        async with asking(f"http://127.0.0.1:{free_port()}/v1") as client:
            _, response = await client.send(call())
            return await client.open_connections(3), response

    opened, response = run(scene())
    assert opened == 0
    assert response.error is not None
