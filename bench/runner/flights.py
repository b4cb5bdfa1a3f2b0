"""One request under everything that may stop it: gate, note of its start, flight, explanation.

Shared by all workers of a run, so all money and time goes through it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from bench.budget import NS_PER_MS, BusyClock
from bench.errors import JournalUnwritable
from bench.model.blocks import PlannedTrial
from bench.model.journal_record import JournalRecord
from bench.model.steps import Started
from bench.model.surroundings import Incident
from bench.model.trial import Response
from bench.money import Purse, reserve_usd
from bench.ports import Call, ChatClient, Clock, GatewayWatch, JournalSink
from bench.runner.assignment import Assignment
from bench.runner.control import Control
from bench.runner.ending import Fact
from bench.runner.flight import Flight
from bench.runner.proof import cancelled, explained
from bench.wire import PROTOCOLS

if TYPE_CHECKING:
    from bench.agent.workplace import Workbench

KEY_REFUSED = (401, 403)
CLIENT_LIMIT: Final = "client_limit"
"""Error of a request that this machine itself kept from being sent, and reason to end with it."""

OnIncident = Callable[[Incident], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The outside world of a run."""

    client: ChatClient
    sink: JournalSink
    clock: Clock
    watch: GatewayWatch
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits so many seconds."""
    workbench: "Workbench | None" = None
    """Where agentic trials run and judge code; ``None`` = the run has none."""
    arms: Mapping[str, ChatClient] = field(default_factory=dict)
    """Target id → the client of an endpoint and a key of its own; of all others ``client``."""

    def client_of(self, target_id: str) -> ChatClient:
        """Return who asks this target: no other key ever goes to its endpoint."""
        return self.arms.get(target_id, self.client)


@dataclass(slots=True, kw_only=True)
class _UnderWay:
    """A trial between its gate and its record."""

    touched_by: str | None = None
    """Class of the first incident that touched it."""
    since_ms: float | None = None
    """Offset since when nothing of it can be trusted."""


class Flights:
    """Sends the requests of a run.

    Args:
        assignment: What is asked, and what was recorded before.
        ports: The outside world.
        control: Says when to stop.
        on_incident: Called with each recorded incident, for the progress display.
        purse: In place of one with the limit of the run.
    """

    def __init__(
        self,
        assignment: Assignment,
        ports: Ports,
        control: Control,
        *,
        on_incident: OnIncident = lambda _: None,
        purse: Purse | None = None,
    ) -> None:
        self.facts: dict[str, Fact] = dict(assignment.facts)
        self.first_refusal: Response | None = None
        """The first answer, when it refused the key."""
        self.fault: JournalUnwritable | None = None
        self.purse = purse or Purse(
            limit_usd=assignment.config.spend_limit_usd,
            spent_usd=assignment.spent_usd,
            unknown=assignment.unknown_costs,
        )
        self.clocks = {
            target_id: BusyClock(assignment.budget_used_ms.get(target_id, 0.0))
            for target_id in assignment.targets
        }
        self._assignment = assignment
        self._ports = ports
        self._control = control
        self._on_incident = on_incident
        self._proofs: dict[str, str] = {}
        """Target id → a trial that succeeded."""
        self._settled = asyncio.Event()
        self._answered: set[str | None] = set()
        """Arms whose first answer has come; ``None`` = the common endpoint."""
        self._noted: set[tuple[str, int | None]] = set()
        self._under_way: dict[str, _UnderWay] = {}

    def offset_ms(self, at_ns: int) -> float:
        """Return a monotonic reading as an offset of this run."""
        return self._assignment.offset_ms + (at_ns - self._assignment.origin_ns) / NS_PER_MS

    async def admitted(
        self, planned: PlannedTrial, call: Call, *, attempt: int, turn: int | None = None
    ) -> Flight | str | None:
        """Return the flight with its start noted, or why nothing may be sent now.

        Returns:
            ``None`` when the start could not be written down: the run ends, nothing was sent.
        """
        reserve = self._reserve(call)
        waiting_ns = self._ports.clock.now_ns()
        refusal = await self._gate(planned.target_id, reserve)
        if refusal is not None:
            return refusal
        began_ns = self._ports.clock.now_ns()
        is_noted = self.write(
            Started(
                trial_id=planned.id,
                attempt=attempt,
                turn=turn,
                stage=planned.stage,
                offset_ms=self.offset_ms(began_ns),
                reserve_usd=reserve,
            )
        )
        if not is_noted:
            self.purse.settle(reserve, 0.0)
            return None
        self._under_way.setdefault(planned.id, _UnderWay())
        return Flight(
            planned=planned,
            call=call,
            attempt=attempt,
            turn=turn,
            reserve=reserve,
            waited_ns=began_ns - waiting_ns,
            began_ns=began_ns,
            began_at=self._ports.clock.utcnow(),
        )

    async def flown(self, flight: Flight) -> Flight:
        """Send the request, wait for its end, whatever that is, and have a failure explained."""
        trial_id = flight.planned.id
        clock = self.clocks[flight.planned.target_id]
        clock.begin(flight.began_ns)
        client = self._ports.client_of(flight.planned.target_id)
        sending = asyncio.ensure_future(client.send(flight.call))
        self._control.flights[trial_id] = sending
        try:
            await sending
        except asyncio.CancelledError:
            # A cancelled request is a result, a cancelled worker is not.
            task = asyncio.current_task()
            if not sending.cancelled() or (task is not None and task.cancelling()):
                raise
        finally:
            sending.cancel()
            del self._control.flights[trial_id]
            ended_ns = self._ports.clock.now_ns()
            clock.end(ended_ns)
        if sending.cancelled():
            sent_at_ns, response = None, cancelled(self._control.incident)
        else:
            sent_at_ns, response = sending.result()
        flight = replace(flight, ended_ns=ended_ns, sent_at_ns=sent_at_ns, response=response)
        return await self._explained(flight)

    def settle(self, flight: Flight, spent_usd: float | None) -> None:
        """Count what the request cost, once its end is written down."""
        if not flight.is_settled:
            self.purse.settle(flight.reserve, spent_usd)
            self._settled.set()

    def refuse_key(self, response: Response) -> None:
        """Stop the run: its first answer refused the key."""
        if not any(fact.is_success for fact in self.facts.values()):
            self.first_refusal = response
            self._control.stop("key_rejected")

    def look_again(self) -> None:
        """Let who waits for money ask again."""
        self._settled.set()

    def touched(self, trial_id: str) -> str | None:
        """Return the class of the incident that touched a trial under way."""
        found = self._under_way.get(trial_id)
        return None if found is None else found.touched_by

    def untrusted_since_ms(self, trial_id: str) -> float | None:
        """Return the offset since when nothing of a trial under way can be trusted."""
        found = self._under_way.get(trial_id)
        return None if found is None else found.since_ms

    def landed(self, trial_id: str, fact: Fact | None) -> None:
        """Take a trial out of what is under way: its record is written."""
        self._under_way.pop(trial_id, None)
        if fact is not None:
            self.facts[trial_id] = fact

    def forget(self, trial_id: str) -> None:
        """Drop what is known of a trial, unless it alone proves that its target ever answered."""
        fact = self.facts.get(trial_id)
        if fact is None or fact.is_invalidated:
            return
        proof = self._proofs.setdefault(fact.target_id, trial_id) if fact.is_success else None
        if proof != trial_id:
            del self.facts[trial_id]

    def note(self, incident: Incident) -> None:
        """Record an incident once; what it finds in flight is named as touched."""
        key = (incident.incident_class, incident.at_ns)
        if key in self._noted:
            return
        self._noted.add(key)
        since_ns = incident.since_ns
        if since_ns is None and incident is self._control.incident:
            # Between the death and its notice another server may have answered in its place, so a
            # success of that moment counts as little as a failure.
            since_ns = self._ports.clock.now_ns() if incident.at_ns is None else incident.at_ns
        if since_ns is not None:
            incident = self._touching(incident, since_ns)
        self.write(incident)
        self._on_incident(incident)

    def write(self, record: JournalRecord) -> bool:
        """Write; the first refusal of the disk stops the run, and nothing is sent unrecorded."""
        try:
            self._ports.sink.write(record)
        except JournalUnwritable as fault:
            self.fault = self.fault or fault
            self._control.stop("disk_full")
            return False
        return True

    def _touching(self, incident: Incident, since_ns: int) -> Incident:
        """Name what was in flight since then; what still is will be recorded as touched."""
        since_ms = self.offset_ms(since_ns)
        for trial in self._under_way.values():
            trial.touched_by = trial.touched_by or incident.incident_class
            trial.since_ms = since_ms if trial.since_ms is None else min(since_ms, trial.since_ms)
        ended = [i for i, fact in self.facts.items() if fact.finished_offset_ms > since_ms]
        touched = dict.fromkeys((*incident.touched_trials, *ended, *self._under_way))
        return replace(incident, touched_trials=tuple(touched))

    async def _gate(self, target_id: str, reserve: float | None) -> str | None:
        """Return why nothing may be sent now, or ``None`` with the reserve taken."""
        while True:
            if (incident := self._ports.watch.fatal()) is not None:
                self._control.lose_gateway(incident)
                self.note(incident)
            if self._control.reason is not None:
                return self._control.reason
            budget_ms = self._assignment.config.budget_ms
            if self.clocks[target_id].is_spent(self._ports.clock.now_ns(), budget_ms):
                return "budget"
            match self.purse.admit(reserve):
                case "admitted":
                    return None
                case "refused":
                    self._control.stop("max_cost")
                case "wait":
                    self._settled.clear()
                    await self._settled.wait()

    def _reserve(self, call: Call) -> float | None:
        if call.target.metadata.prices is None:
            return None
        return reserve_usd(
            target=call.target,
            request_bytes=self._ports.client_of(call.target.id).encoded_size(call),
            max_tokens=PROTOCOLS[self._assignment.config.api].output_limit(call.request),
        )

    async def _explained(self, flight: Flight) -> Flight:
        """Say of a request that failed or was cancelled what happened to it."""
        response = flight.response
        invalidated: str | None = None
        if flight.sent_at_ns is None:
            incident = self._control.incident
            invalidated = incident.incident_class if incident else "cancelled"
        elif response.error is not None:
            incident = await self._ports.watch.explain(flight.planned.id, response)
            if incident is not None:
                response = replace(response, error=explained(response, incident))
                invalidated = incident.incident_class
                self._noted_for(flight, incident)
        if response.error is not None and response.error.code == CLIENT_LIMIT:
            invalidated = CLIENT_LIMIT  # it says nothing of the target
        if invalidated is None and self._refuses_key(flight.planned.target_id, response):
            invalidated = "key_rejected"
        return replace(flight, response=response, invalidated=invalidated)

    def _noted_for(self, flight: Flight, incident: Incident) -> None:
        """Record what explained a failure; a dead gateway ends the run with it."""
        touched = replace(incident, touched_trials=(flight.planned.id,))
        fatal = self._ports.watch.fatal()
        if fatal is not None and fatal.incident_class == incident.incident_class:
            self._control.lose_gateway(touched)
        self.note(self._control.incident or touched)

    def has_answered(self, target_id: str) -> bool:
        """Return whether anything came from a target's endpoint since this process began."""
        return self._arm(target_id) in self._answered

    def _arm(self, target_id: str) -> str | None:
        return target_id if target_id in self._ports.arms else None

    def _refuses_key(self, target_id: str, response: Response) -> bool:
        """Say whether this is an endpoint's first answer and it refuses the key; then stop."""
        arm = self._arm(target_id)
        if arm in self._answered or response.status is None:
            return False
        self._answered.add(arm)
        if response.status not in KEY_REFUSED:
            return False
        self.first_refusal = response
        self._control.stop("key_rejected")
        return True
