"""Both kinds of connection on a transport that is played: what real sockets do too seldom."""

import asyncio

import h2.config
import h2.connection
import pytest
from hyperframe.frame import RstStreamFrame

from bench.client.endpoint import address_of
from bench.client.exchange import Exchange, Limits
from bench.client.line import Line
from bench.client.multiplexed import MultiplexedLine
from bench.client.request_text import Request
from bench.wire import PROTOCOLS
from tests.fakes import FakeClock

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
REQUEST = Request(address=address_of("http://h/"), headers=(("host", "h"),), body=b"hello")
DEADLINE_NS = 60 * 10**9


class PlayedTransport:
    """Holds what was written; keeps it back while ``is_full``."""

    def __init__(self):
        self.written = b""
        self.is_full = self.is_aborted = self.is_broken = False

    def write(self, data):
        self.is_aborted = self.is_aborted or self.is_broken
        if not self.is_aborted:
            self.written += data

    def abort(self):
        self.is_aborted = True

    def is_closing(self):
        return self.is_aborted

    def get_write_buffer_size(self):
        return len(self.written) if self.is_full else 0

    def set_write_buffer_limits(self, high=None):
        assert high == 0

    def get_extra_info(self, name):
        return None


class Scene:
    """A connection, its transport, and a server that speaks HTTP/2 where that is wanted."""

    def __init__(self, kind):
        self.clock = FakeClock()
        self.line = kind(self.clock.now_ns)
        self.transport = PlayedTransport()
        self.server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))

    def opened(self):
        self.line.connection_made(self.transport)
        return self

    def greet(self):
        self.server.initiate_connection()
        self.serve()

    def serve(self):
        """Let the server see what was written, and the client what it says to that."""
        events = self.server.receive_data(self.transport.written)
        self.transport.written = b""
        self.line.take(self.clock.now_ns(), self.server.data_to_send())
        return events

    def exchange(self, deadline_ns=DEADLINE_NS):
        decoder = PROTOCOLS["chat"].decoder(stream=False)
        limits = Limits(deadline_ns=self.clock.now_ns() + deadline_ns, idle_ns=DEADLINE_NS)
        return Exchange(decoder, limits, is_framed=isinstance(self.line, MultiplexedLine))

    async def begun(self, deadline_ns=DEADLINE_NS):
        """Return an exchange whose request is written, and the task that carries it."""
        exchange = self.exchange(deadline_ns)
        carried = asyncio.ensure_future(self.line.carry(exchange, REQUEST))
        await asyncio.sleep(0)
        return exchange, carried


def played(kind, scene):
    async def play():
        async with asyncio.timeout(30):
            return await scene(Scene(kind))

    return asyncio.run(play())


BOTH = pytest.mark.parametrize("kind", [Line, MultiplexedLine], ids=["http-1", "http-2"])


@BOTH
@pytest.mark.parametrize("is_made", [True, False], ids=["closed", "never-open"])
def test_nothing_is_sent_on_a_connection_that_is_not_open(kind, is_made):
    async def scene(it):
        if is_made:
            it.opened()
        it.line.abort()
        exchange, written = it.exchange(), it.transport.written
        await it.line.carry(exchange, REQUEST)
        return exchange, it.line, it.transport.written == written

    exchange, line, is_silent = played(kind, scene)
    assert exchange.ending.message.endswith("it was closed before the request was sent")
    assert (exchange.ending.code, exchange.sent_ns, is_silent) == ("connect_reset", None, True)
    assert (line.is_open, line.room, line.is_idle) == (False, 0, True)


@BOTH
def test_a_request_is_sent_when_its_last_byte_has_left(kind):
    async def scene(it):
        it.opened()
        it.transport.is_full = True
        exchange, carried = await it.begun()
        it.line.pause_writing()
        before = exchange.sent_ns
        it.clock.advance(5)
        it.line.resume_writing()
        first = exchange.sent_ns
        it.clock.advance(5)
        it.line.resume_writing()
        again, now_ns = exchange.sent_ns, it.clock.now_ns()
        it.line.connection_lost(None)
        await carried
        it.line.resume_writing()
        return before, first, again, now_ns

    before, first, again, now_ns = played(kind, scene)
    assert before is None
    assert first == again < now_ns


@BOTH
def test_what_could_not_be_written_was_not_sent(kind):
    async def scene(it):
        it.opened()
        it.transport.is_broken = True
        exchange, carried = await it.begun()
        it.line.connection_lost(BrokenPipeError("broken pipe"))
        await carried
        return exchange

    exchange = played(kind, scene)
    assert (exchange.ending.code, exchange.sent_ns) == ("connect_reset", None)


@BOTH
@pytest.mark.parametrize("why", [None, ConnectionResetError("reset by peer")])
def test_a_loss_is_told_once_and_ends_what_is_under_way(kind, why):
    async def scene(it):
        it.opened()
        exchange, carried = await it.begun()
        it.line.connection_lost(why)
        ending = exchange.ending
        it.line.connection_lost(why)
        it.line.eof_received()
        await carried
        return ending, exchange.ending, it.line.closed.done()

    ending, last, is_closed = played(kind, scene)
    assert (ending.code, is_closed) == ("connect_reset", True)
    assert last == ending


@BOTH
def test_an_end_of_file_ends_what_is_under_way(kind):
    async def scene(it):
        it.opened()
        exchange, carried = await it.begun()
        it.line.eof_received()
        it.line.connection_lost(None)
        await carried
        return exchange.ending

    ending = played(kind, scene)
    assert (ending.code, "closed the connection" in ending.message) == ("connect_reset", True)


@BOTH
def test_a_connection_that_idles_ends_without_a_word(kind):
    async def scene(it):
        it.opened()
        assert it.line.eof_received() is False
        it.line.connection_lost(None)
        return it.line.closed.done()

    assert played(kind, scene)


@BOTH
def test_a_timer_that_comes_early_is_set_again(kind):
    """The loop's timer goes by the real clock, the limit by one that stands still meanwhile."""

    async def scene(it):
        it.opened()
        exchange, carried = await it.begun(deadline_ns=1)
        for _ in range(5):
            await asyncio.sleep(0)
        before = exchange.is_over
        it.clock.advance(1)
        await carried
        return before, exchange.ending.code

    assert played(kind, scene) == (False, "header_timeout")


def test_an_http_1_line_takes_one_request_and_then_the_next():
    async def scene(it):
        it.opened()
        assert it.line.room == 1
        exchange, carried = await it.begun()
        assert (it.line.room, it.line.is_idle) == (0, False)
        it.line.take(it.clock.now_ns(), ANSWER)
        await carried
        return exchange.ending.code, it.line.room

    assert played(Line, scene) == (None, 1)


def test_who_breaks_http_2_is_asked_nothing_more_and_told_why():
    async def scene(it):
        it.opened()
        first, carried = await it.begun()
        it.line.take(it.clock.now_ns(), b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await carried
        second = it.exchange()
        await it.line.carry(second, REQUEST)
        return first.ending, second.ending, it.transport.is_aborted

    first, second, is_aborted = played(MultiplexedLine, scene)
    assert first == second
    assert (first.code, is_aborted) == ("invalid_http", True)
    assert "the server answered in HTTP/1.1" in first.message


def test_until_the_server_has_said_how_many_streams_it_takes_there_is_room_for_one():
    async def scene(it):
        rooms = [it.opened().line.room]
        _, carried = await it.begun()
        rooms.append(it.line.room)
        it.greet()
        rooms.append(it.line.room)
        it.line.connection_lost(None)
        await carried
        return rooms

    assert played(MultiplexedLine, scene) == [1, 0, 99]


def test_frames_of_streams_that_are_over_are_nobody_s():
    async def scene(it):
        it.opened().greet()
        exchange, carried = await it.begun()
        it.serve()
        carried.cancel()
        await asyncio.wait({carried})
        it.server.send_headers(1, [(":status", "200")])
        it.server.send_data(1, b"{}", end_stream=True)
        it.line.take(it.clock.now_ns(), it.server.data_to_send())
        return exchange.headers_ns, it.line.is_idle, it.line.room

    assert played(MultiplexedLine, scene) == (None, True, 100)


def test_a_reset_after_the_end_changes_nothing():
    async def scene(it):
        it.opened().greet()
        exchange, carried = await it.begun()
        it.serve()
        it.server.send_headers(1, [(":status", "200")])
        it.server.send_data(1, b"{}", end_stream=True)
        reset = RstStreamFrame(1, error_code=8).serialize()
        it.line.take(it.clock.now_ns(), it.server.data_to_send() + reset)
        await carried
        return exchange.ending.code

    assert played(MultiplexedLine, scene) is None
