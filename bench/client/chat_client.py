"""Sends requests over kept connections and says what came back: the client that measures.

Connections are kept between requests; in HTTP/1.1 they are never shared by two at once, in HTTP/2 as
the server allows. There is no limit on their number, so no request waits for one. Redirects are not
followed: they could hand the key to another server.
"""

import asyncio
import sys
from dataclasses import dataclass, field

from msgspec.structs import replace

from bench.client.arrivals import Arrivals
from bench.client.carrier import Carrier
from bench.client.descriptors import most_connections
from bench.client.dial import Destination, Dialler, LookUp, Watching, look_up
from bench.client.dial_failure import DialFailed
from bench.client.endpoint import Endpoint, address_of
from bench.client.exchange import Exchange, Limits, Phases
from bench.client.gauge import Gauge
from bench.client.lag import LagProbe
from bench.client.masking import Mask
from bench.client.outlook import Outlook
from bench.client.pool import Pool
from bench.client.request_text import Request, make_request
from bench.client.verdict import Circumstances, is_stale_connection, respond
from bench.clock import SystemClock, WallOffset
from bench.dialects import Intent, Words, merged, request_words
from bench.model.load import ClientReading
from bench.model.record import Value
from bench.model.surroundings import Vantage
from bench.model.trial import Connection, Response
from bench.ports import Call, Clock

_MOST_DIALLING = 32
"""Connections opened at a time: a listener's queue holds 128 and more."""


class Timeouts(Value, frozen=True, kw_only=True):
    """Limits beside the one for the whole request, which comes with each call."""

    connect_ms: float = 10_000.0
    """Name look-up, TCP, proxy and TLS together."""
    idle_ms: float = 60_000.0
    """Silence between two reads after the headers; models that think in silence need most of it."""


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One request on its way: what is known of it besides the exchange."""

    request: Request
    t0_ns: int
    deadline_ns: int
    phases: Phases = field(default_factory=Phases)
    connection: Connection | None = None
    line: Carrier | None = None
    """That carried it last."""
    is_fresh: bool = False
    """Over a connection of its own."""


class HttpChatClient:
    """``ports.ChatClient`` over HTTP/1.1 and HTTP/2, straight or through a proxy."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        clock: Clock | None = None,
        timeouts: Timeouts | None = None,
        look_up: LookUp = look_up,
    ) -> None:
        self._endpoint = endpoint
        self._clock = clock = clock or SystemClock()
        self._now_ns = clock.now_ns
        self._timeouts = timeouts or Timeouts()
        self._address = address_of(endpoint.url)
        proxy = endpoint.proxy
        is_tls, is_tls_proxy = self._address.scheme == "https", proxy and proxy.scheme == "https"
        destination = Destination(
            address=self._address,
            tls=endpoint.authorities.context() if is_tls else None,
            http_version=endpoint.http_version,
            proxy=proxy,
            proxy_tls=endpoint.authorities.context() if is_tls_proxy else None,
            reach=endpoint.reach,
            look_up=look_up,
        )
        # Kernel stamps are readings of this machine's clock: of no use beside another one.
        wall = WallOffset() if isinstance(clock, SystemClock) and sys.platform == "linux" else None
        self._gauge = Gauge(clock.now_ns, wall)
        self._mask = Mask(endpoint.headers, (*endpoint.secrets, *(proxy.secrets if proxy else ())))
        self._outlook = Outlook(proxy.shown if proxy else None, mask=self._mask.text)
        self._arrivals = Arrivals(clock.now_ns)
        watching = Watching(
            now_ns=clock.now_ns,
            gauge=self._gauge,
            outlook=self._outlook,
            arrivals=self._arrivals,
            wall=wall,
        )
        self._dialler = Dialler(destination, watching)
        self._asks_for_stream = endpoint.asks_for_stream
        self._lag = LagProbe(clock.now_ns, on_lag=self._gauge.ticked)
        self._pool = Pool(clock.now_ns)
        self._shares: bool | None = None if endpoint.http_version != "1.1" else False
        """Connections are HTTP/2; ``None`` = it will be seen at the first one."""
        self._dialling = asyncio.Lock()

    async def send(self, call: Call) -> tuple[int, Response]:
        """Send ``call``; see ``ports.ChatClient.send``.

        A kept connection that turns out to be dead before a byte of the answer came is replaced
        once by a new one; t0 stays, and the answer counts as cold.
        """
        self._arrivals.go_first()
        t0_ns = self._now_ns()
        attempt = _Attempt(
            request=self._request(call),
            t0_ns=t0_ns,
            deadline_ns=t0_ns + int(call.timeout_ms * 1e6),
            is_fresh=call.fresh_connection,
        )
        self._gauge.requests += 1
        mark = self._lag.begin()
        try:
            exchange = await self._run(attempt)
        finally:
            lag_ns = self._lag.end(mark)
        # What follows takes as long as dozens of reads: those that are due go first.
        self._arrivals.go_first()
        line = attempt.line
        if line is not None:
            self._outlook.spoke(line.http_version)
        if exchange.http.head is not None:
            self._outlook.answered(exchange.http.head.headers)
        return t0_ns, respond(
            exchange,
            Circumstances(
                t0_ns=t0_ns,
                phases=attempt.phases,
                lag_ns=lag_ns,
                connection=attempt.connection,
                http_version=None if line is None else line.http_version,
                local_port=None if line is None else line.local_port,
                stamped_by=None if line is None else line.stamped_by,
                asked_stream=self._asks_for_stream,
                dialect=self._endpoint.dialect,
                mask=self._mask,
                utcnow=self._clock.utcnow(),
                keeps_chunks=call.keeps_chunks,
            ),
        )

    async def open_connections(self, count: int) -> int:
        """Open connections until ``count`` requests find room; return how many do.

        Several at a time; the first that fails ends it, for requests say better why.
        """
        self._pool.close_stale()
        missing = count - self._pool.room
        while missing > 0:
            batch, before = (
                1 if self._shares is not False else min(missing, _MOST_DIALLING),
                missing,
            )
            if not await self._dialled(batch):
                break
            missing = min(before - batch, count - self._pool.room)
        return self._pool.room

    async def _dialled(self, count: int) -> bool:
        tries = [asyncio.ensure_future(self._opened()) for _ in range(count)]
        await asyncio.wait(tries)
        lines = [line for line in (one.result() for one in tries) if line is not None]
        now_ns = self._now_ns()
        for line in lines:
            line.idle_since_ns = now_ns
            self._pool.keep(line)
        await self._pool.settle(self._timeouts.connect_ms / 1e3)
        return len(lines) == count

    async def _opened(self) -> Carrier | None:
        deadline_ns = self._now_ns() + int(self._timeouts.connect_ms * 1e6)
        try:
            return await self._dial(Phases(), deadline_ns)
        except DialFailed:
            return None

    def capacity(self) -> int:
        """Return how many connections may be open; asks the system for as many as it allows."""
        return most_connections()

    def begin_reading(self) -> None:
        """Start to watch how well this client works."""
        self._gauge.begin()

    def end_reading(self) -> ClientReading:
        """Return how well it worked since ``begin_reading``."""
        return self._gauge.reading()

    def vantage(self) -> Vantage:
        """Return from where the endpoint was seen by now."""
        return self._outlook.vantage()

    async def close(self) -> None:
        """Close every connection; returns when they are gone."""
        self._gauge.stop()
        await self._pool.close()

    def encoded_size(self, call: Call) -> int:
        """Return the bytes of the request body."""
        return len(self._body(call, self._words(call)))

    # ---- asking ---------------------------------------------------------------

    def _words(self, call: Call) -> Words:
        endpoint = self._endpoint
        intent = Intent(
            target=call.target,
            allow_cache=endpoint.allow_cache,
            allow_fallback=endpoint.allow_fallback,
            tags=call.tags,
        )
        return request_words(endpoint.dialect, intent)

    def _body(self, call: Call, words: Words) -> bytes:
        endpoint = self._endpoint
        if endpoint.raw_body is not None:
            return endpoint.raw_body
        request = call.request
        if words.fields:
            request = replace(request, extra=merged(words.fields, request.extra))
        return endpoint.wire.encode(request, model=call.target.model, stream=endpoint.stream)

    def _request(self, call: Call) -> Request:
        words = self._words(call)
        return make_request(
            self._address,
            self._body(call, words),
            dialect_headers=words.headers,
            own_headers=self._endpoint.headers,
        )

    async def _run(self, attempt: _Attempt) -> Exchange:
        """Carry the request over a kept connection, else a new one; return what came of it."""
        line = None if attempt.is_fresh else self._pool.take()
        if line is not None:
            exchange = await self._carry(attempt, line)
            if not is_stale_connection(exchange):
                return exchange
            attempt.connection = attempt.line = None
        try:
            line = await self._new_line(attempt)
        except DialFailed as failed:
            exchange = self._exchange(attempt)
            exchange.fail(self._now_ns(), failed.code, failed.message)
            return exchange
        return await self._carry(attempt, line)

    async def _new_line(self, attempt: _Attempt) -> Carrier:
        """Return a new connection, or one with room that was opened while this one waited."""
        if attempt.is_fresh or self._shares is False:
            return await self._dial(attempt.phases, attempt.deadline_ns)
        async with self._dialling:
            await self._pool.settle(self._patience_s(attempt.deadline_ns))
            line = self._pool.take()
            if line is None:
                line = await self._dial(attempt.phases, attempt.deadline_ns)
                if line.http_version == "2":
                    self._pool.keep(line)
            return line

    async def _carry(self, attempt: _Attempt, line: Carrier) -> Exchange:
        attempt.line = line
        # Who waited until a shared connection was open has its opening inside, too.
        attempt.connection = "warm" if line.opened_ns <= attempt.t0_ns else "cold"
        exchange = self._exchange(attempt, is_framed=line.http_version == "2")
        await line.carry(exchange, attempt.request)
        if attempt.is_fresh:
            line.abort()
        else:
            self._pool.keep(line)
        return exchange

    def _exchange(self, attempt: _Attempt, *, is_framed: bool = False) -> Exchange:
        decoder = self._endpoint.wire.decoder(stream=self._asks_for_stream)
        idle_ns = int(self._timeouts.idle_ms * 1e6)
        limits = Limits(deadline_ns=attempt.deadline_ns, idle_ns=idle_ns)
        return Exchange(decoder, limits, is_framed=is_framed)

    async def _dial(self, phases: Phases, deadline_ns: int) -> Carrier:
        line = await self._dialler.dial(phases, timeout_s=self._patience_s(deadline_ns))
        self._shares = line.http_version == "2"
        self._pool.add(line)
        return line

    def _patience_s(self, deadline_ns: int) -> float:
        """Return how long a connection may take to open for a request with that deadline."""
        left_ms = (deadline_ns - self._now_ns()) / 1e6
        return max(0.0, min(self._timeouts.connect_ms, left_ms)) / 1e3
