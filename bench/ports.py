"""What the runner needs from the outside world; each has a real adapter and a fake."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from bench.model.case import ChatRequest
from bench.model.journal_record import JournalRecord
from bench.model.load import ClientReading
from bench.model.record import Value
from bench.model.surroundings import Gateway, Incident, Vantage
from bench.model.target import Target
from bench.model.trial import Response


class Clock(Protocol):
    """Time: durations from ``now_ns`` only, dates from ``utcnow`` only."""

    def now_ns(self) -> int:
        """Return the monotonic clock in nanoseconds (``time.perf_counter_ns``)."""
        ...

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        ...


class Call(Value, frozen=True, kw_only=True):
    """One request to send: everything but address, key and wire protocol, which the client holds."""

    target: Target
    request: ChatRequest
    timeout_ms: float
    tags: Mapping[str, str]
    """``run`` and ``trial`` id, for the dialect's tag field."""
    keeps_chunks: bool = True
    """The response lists every chunk; its gaps are told in any case."""
    fresh_connection: bool = False
    """Open a connection for this request alone, and close it after."""


class ChatClient(Protocol):
    """Sends one request and says what came back. Never raises for what a server or network does."""

    async def send(self, call: Call) -> tuple[int, Response]:
        """Send ``call``; return t0 (monotonic ns) and the response, errors told apart inside it.

        Cancelling the task closes the connection and raises ``CancelledError``.
        """
        ...

    async def close(self) -> None:
        """Close idle connections."""
        ...

    async def open_connections(self, count: int) -> int:
        """Open connections until ``count`` are idle and fresh; return how many are."""
        ...

    def capacity(self) -> int:
        """Return how many connections this process may have open at a time."""
        ...

    def begin_reading(self) -> None:
        """Start to watch how well this client itself works."""
        ...

    def end_reading(self) -> ClientReading:
        """Return how well it worked since ``begin_reading``."""
        ...

    def vantage(self) -> Vantage:
        """Return from where the endpoint was seen by now."""
        ...

    def encoded_size(self, call: Call) -> int:
        """Return the UTF-8 bytes of the request body: an upper bound of its tokens."""
        ...


class JournalSink(Protocol):
    """Where records go. ``write`` returns when the record has left this process (``os.write``)."""

    def write(self, record: JournalRecord) -> None:
        """Append one record.

        Raises:
            JournalUnwritable: The disk is full or the file went away.
        """
        ...


class GatewayWatch(Protocol):
    """The job around a local gateway; a null object where there is none."""

    def fatal(self) -> Incident | None:
        """Return the incident that ends the run, once one has been noticed. Costs nothing."""
        ...

    async def explain(self, trial_id: str, response: Response) -> Incident | None:
        """Ask what happened to the gateway while this failed response was on its way.

        Returns ``None`` when the gateway is fine (the failure is the provider's) or nobody knows.
        """
        ...

    async def measured(self, reason: str) -> tuple[Gateway, ...]:
        """Say that measuring ended; return what the job knows once the gateway is stopped."""
        ...
