"""Sends requests over kept connections and says what came back: the client that measures.

Connections are kept between requests and never shared by two at once; there is no limit on their
number, so no request waits for one. Redirects are not followed and no proxy is used.
"""

from dataclasses import dataclass, field

from msgspec.structs import replace

from bench.client.dial import Destination, DialFailed, Dialler, LookUp, look_up
from bench.client.endpoint import Endpoint, address_of, tls_context
from bench.client.exchange import Exchange, Limits, Phases
from bench.client.lag import LagProbe
from bench.client.line import Line
from bench.client.masking import Mask
from bench.client.request_text import request_bytes
from bench.client.verdict import Circumstances, is_stale_connection, respond
from bench.clock import SystemClock
from bench.dialects import Intent, Words, merged, request_words
from bench.model.trial import Connection, Response
from bench.ports import Call, Clock

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
        self._dialler = Dialler(destination, clock.now_ns)
        self._mask = Mask(endpoint.headers, endpoint.secrets)
        self._asks_for_stream = endpoint.asks_for_stream
        self._lag = LagProbe(clock.now_ns)
        self._idle: list[Line] = []
        self._lines: set[Line] = set()

    async def send(self, call: Call) -> tuple[int, Response]:
        """Send ``call``; see ``ports.ChatClient.send``.

        A kept connection that turns out to be dead before a byte of the answer came is replaced
        once by a new one; t0 stays, and the answer counts as cold.
        """
        t0_ns = self._now_ns()
        attempt = _Attempt(
            request=self._request(call), deadline_ns=t0_ns + int(call.timeout_ms * 1e6)
        )
        mark = self._lag.begin()
        try:
            exchange = await self._run(attempt)
        finally:
            lag_ns = self._lag.end(mark)
        return t0_ns, respond(
            exchange,
            Circumstances(
                t0_ns=t0_ns,
                phases=attempt.phases,
                lag_ns=lag_ns,
                connection=attempt.connection,
                local_port=attempt.local_port,
                asked_stream=self._asks_for_stream,
                dialect=self._endpoint.dialect,
                mask=self._mask,
                utcnow=self._clock.utcnow(),
            ),
        )

    async def close(self) -> None:
        """Close every connection; returns when they are gone."""
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
        line = self._kept_line()
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
        exchange = self._exchange(attempt)
        await line.carry(exchange, attempt.request)
        if line.is_open:
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
