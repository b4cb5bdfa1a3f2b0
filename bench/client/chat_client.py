"""Sends requests over kept connections and says what came back: the client that measures.

Connections are kept between requests and never shared by two at once; there is no limit on their
number, so no request waits for one. Redirects are not followed and no proxy is used.
"""

import asyncio
import sys
from dataclasses import dataclass, field
from typing import Literal

from msgspec.structs import replace

from bench.client.descriptors import most_connections
from bench.client.dial import Destination, DialFailed, Dialler, LookUp, Watching, look_up
from bench.client.endpoint import Endpoint, address_of, tls_context
from bench.client.exchange import Exchange, Limits, Phases
from bench.client.gauge import Gauge
from bench.client.lag import LagProbe
from bench.client.line import Line
from bench.client.masking import Mask
from bench.client.outlook import Outlook
from bench.client.request_text import request_bytes
from bench.client.verdict import Circumstances, is_stale_connection, respond
from bench.clock import SystemClock, WallOffset
from bench.dialects import Intent, Words, merged, request_words
from bench.model.load import ClientReading
from bench.model.run import Vantage
from bench.model.trial import Connection, Response
from bench.ports import Call, Clock

_MOST_DIALLING = 32
"""Connections opened at a time: a listener's queue holds 128 and more."""
_KEPT_IDLE_NS = 4_000_000_000
"""Servers close idle connections from 5 s on (uvicorn, Node); an older one is not trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Limits beside the one for the whole request, which comes with each call."""

    connect_ms: float = 10_000.0
    """Name look-up, TCP and TLS together."""
    idle_ms: float = 60_000.0
    """Silence between two reads after the headers; models that think in silence need most of it."""


@dataclass(slots=True, kw_only=True)
class _Attempt:
    """One request on its way: what is known of it besides the exchange."""

    request: bytes
    deadline_ns: int
    phases: Phases = field(default_factory=Phases)
    connection: Connection | None = None
    local_port: int | None = None
    is_fresh: bool = False
    """Over a connection of its own."""
    stamped_by: Literal["kernel", "loop"] | None = None


class HttpChatClient:
    """``ports.ChatClient`` over HTTP/1.1."""

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
        destination = Destination(
            address=self._address,
            tls=tls_context(endpoint),
            reach=endpoint.reach,
            look_up=look_up,
        )
        # Kernel stamps are readings of this machine's clock: of no use beside another one.
        wall = WallOffset() if isinstance(clock, SystemClock) and sys.platform == "linux" else None
        self._gauge = Gauge(clock.now_ns, wall)
        self._outlook = Outlook()
        watching = Watching(
            now_ns=clock.now_ns, gauge=self._gauge, outlook=self._outlook, wall=wall
        )
        self._dialler = Dialler(destination, watching)
        self._mask = Mask(endpoint.headers, endpoint.secrets)
        self._asks_for_stream = endpoint.asks_for_stream
        self._lag = LagProbe(clock.now_ns, on_lag=self._gauge.ticked)
        self._idle: list[Line] = []
        self._lines: set[Line] = set()

    async def send(self, call: Call) -> tuple[int, Response]:
        """Send ``call``; see ``ports.ChatClient.send``.

        A kept connection that turns out to be dead before a byte of the answer came is replaced
        once by a new one; t0 stays, and the answer counts as cold.
        """
        t0_ns = self._now_ns()
        attempt = _Attempt(
            request=self._request(call),
            deadline_ns=t0_ns + int(call.timeout_ms * 1e6),
            is_fresh=call.fresh_connection,
        )
        self._gauge.requests += 1
        mark = self._lag.begin()
        try:
            exchange = await self._run(attempt)
        finally:
            lag_ns = self._lag.end(mark)
        if exchange.http.head is not None:
            self._outlook.answered(exchange.http.head.headers)
        return t0_ns, respond(
            exchange,
            Circumstances(
                t0_ns=t0_ns,
                phases=attempt.phases,
                lag_ns=lag_ns,
                connection=attempt.connection,
                local_port=attempt.local_port,
                stamped_by=attempt.stamped_by,
                asked_stream=self._asks_for_stream,
                dialect=self._endpoint.dialect,
                mask=self._mask,
                utcnow=self._clock.utcnow(),
            ),
        )

    async def open_connections(self, count: int) -> int:
        """Open connections until ``count`` are idle and fresh; return how many are.

        Several at a time; the first that fails ends it, for requests say better why.
        """
        self._close_stale()
        missing = count - len(self._idle)
        while missing > 0:
            batch = min(missing, _MOST_DIALLING)
            if not await self._dialled(batch):
                break
            missing -= batch
        return len(self._idle)

    async def _dialled(self, count: int) -> bool:
        tries = [asyncio.ensure_future(self._opened()) for _ in range(count)]
        await asyncio.wait(tries)
        lines = [line for line in (one.result() for one in tries) if line is not None]
        now_ns = self._now_ns()
        for line in lines:
            line.idle_since_ns = now_ns
        self._idle += lines
        return len(lines) == count

    async def _opened(self) -> Line | None:
        timeout_ns = int(self._timeouts.connect_ms * 1e6)
        attempt = _Attempt(request=b"", deadline_ns=self._now_ns() + timeout_ns)
        try:
            return await self._dial(attempt)
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
        self._idle.clear()
        for line in tuple(self._lines):
            line.abort()
            await line.closed

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
        request = replace(call.request, extra=merged(words.fields, call.request.extra))
        return endpoint.wire.encode(request, model=call.target.model, stream=endpoint.stream)

    def _request(self, call: Call) -> bytes:
        words = self._words(call)
        return request_bytes(
            self._address,
            self._body(call, words),
            dialect_headers=words.headers,
            own_headers=self._endpoint.headers,
        )

    async def _run(self, attempt: _Attempt) -> Exchange:
        """Carry the request over a kept connection, else a new one; return what came of it."""
        line = None if attempt.is_fresh else self._kept_line()
        if line is not None:
            attempt.connection = "warm"
            exchange = await self._carry(attempt, line)
            if not is_stale_connection(exchange):
                return exchange
            attempt.connection = attempt.local_port = None
        try:
            line = await self._dial(attempt)
        except DialFailed as failed:
            exchange = self._exchange(attempt)
            exchange.fail(self._now_ns(), failed.code, failed.message)
            return exchange
        attempt.connection = "cold"
        return await self._carry(attempt, line)

    async def _carry(self, attempt: _Attempt, line: Line) -> Exchange:
        attempt.local_port = line.local_port
        attempt.stamped_by = line.stamped_by
        exchange = self._exchange(attempt)
        await line.carry(exchange, attempt.request)
        if line.is_open and attempt.is_fresh:
            line.abort()
        elif line.is_open:
            self._idle.append(line)
        return exchange

    def _exchange(self, attempt: _Attempt) -> Exchange:
        decoder = self._endpoint.wire.decoder(stream=self._asks_for_stream)
        idle_ns = int(self._timeouts.idle_ms * 1e6)
        return Exchange(decoder, Limits(deadline_ns=attempt.deadline_ns, idle_ns=idle_ns))

    async def _dial(self, attempt: _Attempt) -> Line:
        left_ms = (attempt.deadline_ns - self._now_ns()) / 1e6
        timeout_ms = max(0.0, min(self._timeouts.connect_ms, left_ms))
        line = await self._dialler.dial(attempt.phases, timeout_s=timeout_ms / 1e3)
        self._lines.add(line)
        line.closed.add_done_callback(lambda _: self._lines.discard(line))
        return line

    def _kept_line(self) -> Line | None:
        """Return the connection that was used last, if one is open and not too long idle."""
        oldest_ns = self._now_ns() - _KEPT_IDLE_NS
        while self._idle:
            line = self._idle.pop()
            if line.is_open and line.idle_since_ns >= oldest_ns:
                return line
            line.abort()
        return None

    def _close_stale(self) -> None:
        oldest_ns = self._now_ns() - _KEPT_IDLE_NS
        fresh = [line for line in self._idle if line.is_open and line.idle_since_ns >= oldest_ns]
        for line in set(self._idle) - set(fresh):
            line.abort()
        self._idle = fresh
