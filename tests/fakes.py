"""Fakes for the benchmark's ports; each passes the contract test of the real adapter."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bench.errors import JournalUnwritable
from bench.model.journal_record import JournalRecord
from bench.model.load import ClientReading
from bench.model.surroundings import Gateway, Incident, Vantage
from bench.model.trial import Response, Usage
from bench.ports import Call

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """``Clock`` that moves only when it is told to; wall and monotonic time move together."""

    def __init__(self, *, start_ms: float = 1000.0) -> None:
        self.ms = start_ms

    def now_ns(self) -> int:
        return round(self.ms * 1_000_000)

    def utcnow(self) -> datetime:
        return EPOCH + timedelta(milliseconds=self.ms)

    def advance(self, ms: float) -> None:
        self.ms += ms


GOOD = Response(
    status=200,
    content="FINAL: 42",
    finish_reason="stop",
    usage=Usage(prompt_tokens=10, completion_tokens=5),
)


@dataclass(kw_only=True)
class Reply:
    """What a scripted client does with one call."""

    response: Response = GOOD
    takes_ms: float = 10.0
    until: asyncio.Event | None = None
    """Hold the answer back until this is set."""
    then: Callable[[], None] | None = None
    """Called just before the answer is returned."""


@dataclass
class ScriptedClient:
    """``ChatClient`` that answers as ``script`` says and remembers what it was asked."""

    clock: FakeClock
    script: Callable[[Call], Reply] = lambda _: Reply()
    request_bytes: int = 100
    calls: list[Call] = field(default_factory=list)
    sent_ns: list[int] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    cancelled: int = 0
    is_closed: bool = False
    opened: list[int] = field(default_factory=list)
    readings: int = 0
    room: int = 1000
    reading: ClientReading = field(default_factory=ClientReading)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def asked(self) -> list[str]:
        """Trial ids in the order in which they were sent."""
        return [call.tags["trial"] for call in self.calls]

    async def send(self, call: Call) -> tuple[int, Response]:
        self.calls.append(call)
        t0 = self.clock.now_ns()
        self.sent_ns.append(t0)
        reply = self.script(call)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self._moved.set()
        try:
            if reply.until is not None:
                await reply.until.wait()
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.in_flight -= 1
        self.clock.advance(reply.takes_ms)
        if reply.then is not None:
            reply.then()
        return t0, reply.response

    async def until_in_flight(self, count: int) -> None:
        """Wait until ``count`` requests are on their way at once."""
        while self.in_flight < count:
            self._moved.clear()
            await self._moved.wait()

    async def close(self) -> None:
        self.is_closed = True

    async def open_connections(self, count: int) -> int:
        self.opened.append(count)
        return count

    def capacity(self) -> int:
        return self.room

    def begin_reading(self) -> None:
        self.readings += 1

    def end_reading(self) -> ClientReading:
        return self.reading

    def vantage(self) -> Vantage:
        return Vantage(address="127.0.0.1", connections=1, round_trip_ms=0.1)

    def encoded_size(self, call: Call) -> int:
        return self.request_bytes


class MemoryJournal:
    """``JournalSink`` in memory; refuses everything after ``room`` records."""

    def __init__(self, *, room: int | None = None) -> None:
        self.records: list[JournalRecord] = []
        self.room = room

    def write(self, record: JournalRecord) -> None:
        if self.room is not None and len(self.records) >= self.room:
            message = "`memory` can't be written: no space left on device"
            raise JournalUnwritable(message)
        self.records.append(record)


@dataclass
class ScriptedWatch:
    """``GatewayWatch`` that knows what it was told."""

    explanations: dict[str, Incident] = field(default_factory=dict)
    """Trial id → what happened to the gateway while it failed."""
    gateway: Gateway | None = None
    asked: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    ending: Incident | None = None

    def fatal(self) -> Incident | None:
        return self.ending

    async def explain(self, trial_id: str, response: Response) -> Incident | None:
        self.asked.append(trial_id)
        return self.explanations.get(trial_id) or self.ending

    async def measured(self, reason: str) -> tuple[Gateway, ...]:
        self.ended.append(reason)
        return () if self.gateway is None else (self.gateway,)
