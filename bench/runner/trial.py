"""One trial from its gate to its record: admit, note the start, send, explain, judge, write."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from bench.budget import NS_PER_MS, BusyClock
from bench.errors import JournalUnwritable
from bench.evaluators import evaluate
from bench.model.case import Instance
from bench.model.run import Incident, JournalRecord, PlannedTrial, Started, TrialDone
from bench.model.trial import Evaluation, Outcome, Response, Trial
from bench.money import Purse, cost_of, reserve_usd, spent_on
from bench.ports import Call, ChatClient, Clock, GatewayWatch, JournalSink
from bench.prompt import prompt_hash
from bench.runner.assignment import Assignment, asked, parameters
from bench.runner.control import Control
from bench.runner.ending import Fact
from bench.runner.proof import Replays, cancelled, explained, pin_violated

KEY_REFUSED = (401, 403)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The outside world of a run."""

    client: ChatClient
    sink: JournalSink
    clock: Clock
    watch: GatewayWatch


OnTrial = Callable[[Trial, Purse], None]
OnIncident = Callable[[Incident], None]

_NOTHING_YET = Response()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flight:
    """A trial that was admitted, and what came of its request."""

    planned: PlannedTrial
    instance: Instance
    call: Call
    attempt: int
    reserve: float | None
    began_ns: int
    began_at: datetime
    """The same moment in UTC: some prices depend on the hour."""
    ended_ns: int = 0
    sent_at_ns: int | None = None
    """``None`` when it was cancelled: nobody can say when or whether it was sent."""
    response: Response = _NOTHING_YET


class TrialRunner:
    """Runs trials; shared by all workers of a run, so all money and time goes through it.

    Args:
        assignment: What is asked, and what was recorded before.
        ports: The outside world.
        control: Says when to stop.
        on_trial: Called with each recorded trial, for the progress display.
        on_incident: Called with each recorded incident, for the same.
    """

    def __init__(
        self,
        assignment: Assignment,
        ports: Ports,
        control: Control,
        *,
        on_trial: OnTrial,
        on_incident: OnIncident = lambda _: None,
    ) -> None:
        self.left: dict[str, str] = {}
        """Trial id → why it was not sent."""
        self.facts: dict[str, Fact] = dict(assignment.facts)
        self.first_refusal: Response | None = None
        """The first answer, when it refused the key."""
        self.fault: JournalUnwritable | None = None
        self.purse = Purse(
            limit_usd=assignment.config.max_cost_usd,
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
        self._on_trial = on_trial
        self._on_incident = on_incident
        self._attempts = dict(assignment.attempts)
        self._settled = asyncio.Event()
        self._replays = Replays()
        self._has_answer = False
        self._noted: set[tuple[str, int | None]] = set()
        self._under_way: dict[str, str | None] = {}
        """Trial id, from its gate to its record → class of the incident that touched it."""

    def offset_ms(self, at_ns: int) -> float:
        """Return a monotonic reading as an offset of this run."""
        return self._assignment.offset_ms + (at_ns - self._assignment.origin_ns) / NS_PER_MS

    async def run(self, planned: PlannedTrial, instance: Instance) -> None:
        """Run one trial to its record, or note why it was not sent."""
        call = self._call(planned, instance)
        reserve = self._reserve(call)
        refusal = await self._gate(planned.target_id, reserve)
        if refusal is not None:
            self.left[planned.id] = refusal
            return
        attempt = self._attempts.get(planned.id, 0) + 1
        began_ns = self._ports.clock.now_ns()
        is_noted = self._write(
            Started(
                trial_id=planned.id,
                attempt=attempt,
                offset_ms=self.offset_ms(began_ns),
                reserve_usd=reserve,
            )
        )
        if not is_noted:
            self.purse.settle(reserve, 0.0)
            return
        self._attempts[planned.id] = attempt
        self._under_way[planned.id] = None
        flight = _Flight(
            planned=planned,
            instance=instance,
            call=call,
            attempt=attempt,
            reserve=reserve,
            began_ns=began_ns,
            began_at=self._ports.clock.utcnow(),
        )
        self._record(flight, await self._finished(await self._flown(flight)))

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
        self._write(incident)
        self._on_incident(incident)

    def _touching(self, incident: Incident, since_ns: int) -> Incident:
        """Name what was in flight since then; what still is will be recorded as touched."""
        since_ms = self.offset_ms(since_ns)
        for trial_id in self._under_way:
            self._under_way[trial_id] = self._under_way[trial_id] or incident.incident_class
        ended = [i for i, fact in self.facts.items() if fact.finished_offset_ms > since_ms]
        touched = dict.fromkeys((*incident.touched_trials, *ended, *self._under_way))
        return msgspec.structs.replace(incident, touched_trials=tuple(touched))

    def write(self, record: JournalRecord) -> None:
        """Write a record that belongs to no trial; a full disk stops the run."""
        self._write(record)

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

    def _call(self, planned: PlannedTrial, instance: Instance) -> Call:
        tags = {"run": self._assignment.run_id, "trial": planned.id}
        return Call(
            target=self._assignment.targets[planned.target_id],
            request=asked(instance.request, self._assignment.config),
            timeout_ms=self._assignment.config.timeout_ms,
            tags=tags if self._assignment.has_tags else {},
        )

    def _reserve(self, call: Call) -> float | None:
        if call.target.metadata.prices is None:
            return None
        return reserve_usd(
            target=call.target,
            request_bytes=self._ports.client.encoded_size(call),
            max_tokens=call.request.max_tokens,
        )

    async def _flown(self, flight: _Flight) -> _Flight:
        """Send the request and wait for its end, whatever that is."""
        clock = self.clocks[flight.planned.target_id]
        clock.begin(flight.began_ns)
        sending = asyncio.ensure_future(self._ports.client.send(flight.call))
        self._control.flights[flight.planned.id] = sending
        try:
            # Not awaited directly: a cancelled request is a result, a cancelled worker is not.
            await asyncio.wait({sending})
        finally:
            sending.cancel()
            del self._control.flights[flight.planned.id]
            ended_ns = self._ports.clock.now_ns()
            clock.end(ended_ns)
        if sending.cancelled():
            sent_at_ns, response = None, cancelled(self._control.incident)
        else:
            sent_at_ns, response = sending.result()
        return replace(flight, ended_ns=ended_ns, sent_at_ns=sent_at_ns, response=response)

    async def _finished(self, flight: _Flight) -> Trial:
        """Return the trial: explained where it failed, judged where it answered."""
        response = flight.response
        invalidated: str | None = None
        if flight.sent_at_ns is None:
            incident = self._control.incident
            invalidated = incident.incident_class if incident else "cancelled"
        elif response.error is not None:
            incident = await self._ports.watch.explain(flight.planned.id, response)
            if incident is not None:
                response = msgspec.structs.replace(response, error=explained(response, incident))
                invalidated = incident.incident_class
                self._noted_for(flight, incident)
        if invalidated is None and self._refuses_key(response):
            invalidated = "key_rejected"
        evaluation = None if response.error else await self._judged(flight)
        return self._trial(flight, response, evaluation, invalidated)

    def _noted_for(self, flight: _Flight, incident: Incident) -> None:
        """Record what explained a failure; a dead gateway ends the run with it."""
        touched = msgspec.structs.replace(incident, touched_trials=(flight.planned.id,))
        fatal = self._ports.watch.fatal()
        if fatal is not None and fatal.incident_class == incident.incident_class:
            self._control.lose_gateway(touched)
        self.note(self._control.incident or touched)

    def _refuses_key(self, response: Response) -> bool:
        """Say whether this is the run's first answer and it refuses the key; then stop."""
        if self._has_answer or response.status is None:
            return False
        self._has_answer = True
        if response.status not in KEY_REFUSED:
            return False
        self.first_refusal = response
        self._control.stop("key_rejected")
        return True

    async def _judged(self, flight: _Flight) -> Evaluation | None:
        answer = flight.response.answer()
        if self._control.flights:
            # Judges are bounded, but a stamp of another stream must not wait for one.
            return await asyncio.to_thread(evaluate, flight.instance, answer)
        return evaluate(flight.instance, answer)

    def _trial(
        self,
        flight: _Flight,
        response: Response,
        evaluation: Evaluation | None,
        invalidated: str | None,
    ) -> Trial:
        planned, request = flight.planned, flight.call.request
        prompt = prompt_hash(message.content or "" for message in request.messages)
        response = self._replays.marked(response, prompt_hash=prompt, trial_id=planned.id)
        violated = pin_violated(flight.call.target, response)
        cost = cost_of(
            response,
            flight.call.target.metadata.prices,
            at=flight.began_at,
            is_other=violated,
        )
        if not self._assignment.config.save_responses:
            response = msgspec.structs.replace(response, content="", reasoning="", tool_calls=())
        began_ns = flight.began_ns if flight.sent_at_ns is None else flight.sent_at_ns
        return Trial(
            id=planned.id,
            target_id=planned.target_id,
            case_id=planned.case_id,
            run=planned.run,
            warmup=planned.warmup,
            seed=planned.seed,
            parameters=parameters(request),
            prompt_hash=prompt,
            started_offset_ms=self.offset_ms(began_ns),
            finished_offset_ms=self.offset_ms(flight.ended_ns),
            sent_at_ns=flight.sent_at_ns,
            outcome=_outcome(flight),
            response=response,
            evaluation=evaluation,
            estimated_cost_usd=cost.usd,
            cost_source=cost.source,
            computed_cost_usd=cost.computed_usd,
            pin_violated=violated,
            invalidated=invalidated or self._under_way[planned.id],
        )

    def _record(self, flight: _Flight, trial: Trial) -> None:
        del self._under_way[trial.id]
        self._write(TrialDone(attempt=flight.attempt, trial=trial))
        self.purse.settle(flight.reserve, spent_on(trial, flight.reserve))
        self._settled.set()
        self.facts[trial.id] = Fact.of(trial)
        self._on_trial(trial, self.purse)

    def _write(self, record: JournalRecord) -> bool:
        """Write; the first refusal of the disk stops the run, and nothing is sent unrecorded."""
        try:
            self._ports.sink.write(record)
        except JournalUnwritable as fault:
            self.fault = self.fault or fault
            self._control.stop("disk_full")
            return False
        return True


def _outcome(flight: _Flight) -> Outcome:
    if flight.sent_at_ns is None:
        return "cancelled"
    return "failed" if flight.response.error else "completed"
