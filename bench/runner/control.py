"""Why a run stops before its plan ends; one value that signals, the watcher and the gate share."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.model.footer import StopReason
from bench.model.surroundings import Incident
from bench.model.trial import Response


@dataclass(slots=True)
class Control:
    """The first reason wins, except that a dead gateway overrules a polite stop."""

    reason: StopReason | None = None
    """``None`` = go on."""
    signal_number: int | None = None
    """The first signal that asked for the end."""
    incident: Incident | None = None
    """What ended the gateway."""
    is_cancelled: bool = False
    """What is in flight is given up."""
    flights: dict[str, asyncio.Task[tuple[int, Response]]] = field(default_factory=dict)
    """Trial id → the request that is on its way."""
    waits: Counter[str] = field(default_factory=Counter)
    """What requests wait for before they are sent again → how many do so now."""
    farewell: asyncio.Future[Any] | None = None
    """The wait for the gateway's end, once measuring is over."""
    on_change: Callable[[], None] = lambda: None
    """Called when any of this has changed: who leads other processes tells them."""
    _signals: int = 0

    def interrupt(self, signal_number: int) -> None:
        """Take a signal: the first lets what is in flight finish, the second cancels it."""
        self._signals += 1
        if self._signals == 1:
            self.signal_number = signal_number
            self.stop("interrupted")
        else:
            self.cancel_flights()

    def lose_gateway(self, incident: Incident) -> None:
        """End at once: nothing that is in flight can be measured any more."""
        if self.incident is None:
            self.incident = incident
            self.reason = "gateway"
            self.cancel_flights()

    def stop(self, reason: StopReason) -> None:
        """Send nothing further; what is in flight finishes."""
        if self.reason is None:
            self.reason = reason
            self.on_change()

    def cancel_flights(self) -> None:
        """Close the connections of all requests on their way, and wait for nobody's end."""
        self.is_cancelled = True
        self.on_change()
        for flight in self.flights.values():
            flight.cancel()
        if self.farewell is not None:
            self.farewell.cancel()
