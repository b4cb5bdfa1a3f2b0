"""Sends again what HTTP 429 refused, where the run was told to (`--retry-429 N`).

And what this machine itself refused to let go for the moment: local ports come back a minute after
their connections have ended (docs/decisions/0426).

The refused attempt is in the journal, in spend and in the time budget before the wait begins; its
wait is in none of them, for nothing is in flight. A stage under load never retries: what it measures
is how much is refused.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from bench.budget import NS_PER_MS
from bench.model.run_config import RunConfig
from bench.model.steps import AttemptRefused
from bench.model.trial import Refusal, ResponseError
from bench.money import reported_cost_usd, spent_for
from bench.runner.control import Control
from bench.runner.flight import Flight
from bench.runner.flights import CLIENT_LIMIT, Flights, Ports

LONGEST_WAIT_MS = 120_000.0
"""Who asks for more gets no second request: the refusal is the result, and says for how long."""
_FIRST_WAIT_MS, _MOST_WAIT_MS = 1_000.0, 30_000.0
_OWN_WAITS_MS = (1_000.0, 2_000.0, 4_000.0, 8_000.0, 15_000.0, 15_000.0, 15_000.0, 15_000.0)
"""In all 75 s: systems keep the port of a closed connection for 60 s (Linux) or 30 s (macOS)."""
_NAP_S = 0.5
"""Longest sleep without a look at whether the run is still to go on."""


class Retries:
    """Waits and asks again, as often as the run allows.

    Args:
        flights: Sends the requests of the run.
        config: Of the run.
        ports: The outside world.
        control: Says when to stop.
    """

    def __init__(self, flights: Flights, config: RunConfig, ports: Ports, control: Control) -> None:
        self._flights = flights
        self._most = config.retry_429
        self._ports = ports
        self._control = control

    async def answered(self, flight: Flight) -> Flight:
        """Send an admitted request, and again while it is refused; return the last attempt.

        Args:
            flight: With the refusals that an earlier process recorded.
        """
        earlier = len(flight.refusals)
        while True:
            flight = await self._flights.flown(flight)
            error = flight.response.error
            wait_ms = self._wait_ms(flight, error, earlier)
            if error is None or wait_ms is None:
                if error is not None and error.code == CLIENT_LIMIT:
                    self._control.stop(CLIENT_LIMIT)  # it would come again
                return flight
            refusal = self._refusal(flight, error, wait_ms)
            is_noted = self._flights.write(
                AttemptRefused(trial_id=flight.planned.id, turn=flight.turn, refusal=refusal)
            )
            self._flights.settle(flight, refusal.spent_usd)
            flight = replace(flight, is_settled=True)
            if not is_noted or not await self._has_waited(wait_ms, _waited_for(error)):
                return flight
            again = await self._flights.admitted(
                flight.planned,
                flight.call,
                # The number of an agentic trial's attempt is that of all its turns.
                attempt=flight.attempt + (flight.turn is None),
                turn=flight.turn,
            )
            if not isinstance(again, Flight):
                return flight
            flight = replace(again, refusals=(*flight.refusals, refusal))

    def _wait_ms(self, flight: Flight, error: ResponseError | None, earlier: int) -> float | None:
        """Return how long to wait for the next attempt; ``None`` = the answer stands."""
        if error is not None and error.code == CLIENT_LIMIT:
            return self._own_wait_ms(flight, flight.refusals[earlier:])
        count = sum(one.error.code != CLIENT_LIMIT for one in flight.refusals)
        if error is None or error.code != "rate_limited" or count >= self._most:
            return None
        is_cut = flight.invalidated is not None or self._control.reason is not None
        if is_cut or flight.planned.stage is not None:
            return None
        asked_ms = error.retry_after_ms
        if asked_ms is None:
            return min(_FIRST_WAIT_MS * 2.0**count, _MOST_WAIT_MS)
        return asked_ms if asked_ms <= LONGEST_WAIT_MS else None

    def _own_wait_ms(self, flight: Flight, since: Sequence[Refusal]) -> float | None:
        """Return how long to wait for what this machine refused; ``None`` = it is the run's end.

        Not under load, where when a request is sent is what was asked for; nor where nobody ever
        answered: an address that this machine can't reach at all is refused with the same word.

        Args:
            flight: The attempt that was refused.
            since: Refusals since this process began: what another met is no reason to wait less.
        """
        planned, count = flight.planned, 0
        for refusal in reversed(since):
            if refusal.error.code != CLIENT_LIMIT:
                break
            count += 1
        is_cut = self._control.reason is not None or planned.stage is not None
        if is_cut or not self._flights.has_answered(planned.target_id):
            return None
        return _OWN_WAITS_MS[count] if count < len(_OWN_WAITS_MS) else None

    def _refusal(self, flight: Flight, error: ResponseError, wait_ms: float) -> Refusal:
        reported = reported_cost_usd(flight.response)
        return Refusal(
            attempt=flight.attempt,
            error=error,
            started_offset_ms=self._flights.offset_ms(flight.sent_at_ns or flight.began_ns),
            finished_offset_ms=self._flights.offset_ms(flight.ended_ns),
            wait_ms=wait_ms,
            spent_usd=spent_for(reported, error, flight.reserve),
        )

    async def _has_waited(self, wait_ms: float, what_for: str) -> bool:
        """Wait; return whether the run still goes on then. The progress display is told."""
        due_ns = self._ports.clock.now_ns() + int(wait_ms * NS_PER_MS)
        self._control.waits[what_for] += 1
        try:
            while self._control.reason is None:
                left_s = (due_ns - self._ports.clock.now_ns()) / (1000 * NS_PER_MS)
                if left_s <= 0:
                    return True
                await self._ports.sleep(min(_NAP_S, left_s))
            return False
        finally:
            self._control.waits[what_for] -= 1


def _waited_for(error: ResponseError) -> str:
    """Return what a request waits for, in the words of the progress display."""
    if error.code != CLIENT_LIMIT:
        return "for another try (HTTP 429)"
    # Of this machine's limits it is by far the most frequent one, and said in our own words.
    return "for a local port" if "local port" in error.message else "for a limit of this machine"
