"""One trial from its gate to its record: admit, note the start, send, explain, judge, write."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bench.budget import BusyClock
from bench.errors import JournalUnwritable
from bench.evaluators import evaluate
from bench.model.blocks import PlannedTrial
from bench.model.case import Instance
from bench.model.journal_record import JournalRecord
from bench.model.record import Value
from bench.model.steps import TrialDone
from bench.model.surroundings import Incident
from bench.model.trial import Evaluation, Outcome, Response, Trial
from bench.money import Purse, cost_of, spent_on
from bench.ports import Call
from bench.prompt import prompt_hash
from bench.runner.assignment import Assignment, asked, parameters
from bench.runner.control import Control
from bench.runner.ending import Fact
from bench.runner.flight import Flight
from bench.runner.flights import Flights, OnIncident, Ports
from bench.runner.proof import Replays, pin_violated
from bench.runner.retrying import Retries

if TYPE_CHECKING:
    from bench.runner.agentic import AgentTrials


class Place(Value, frozen=True, kw_only=True):
    """Where a trial stands in the load stage that it belongs to."""

    attempt: int
    """Of the stage."""
    due_ns: int | None = None
    """When it was to be sent; ``None`` where the answer before it decides."""
    turn: int | None = None
    """Of a conversation, from 1."""
    has_fresh_connection: bool = False
    keeps_chunks: bool = False
    """Its record says how its stream was cut."""


class Landed(Value, frozen=True, kw_only=True):
    """A recorded trial, and its answer, which the record may not hold."""

    trial: Trial
    response: Response


MOST_RECENT = 4_096
"""Ended trials of load stages whose facts are kept: an incident is noticed within a second or so."""

OnTrial = Callable[[Trial, Purse], None]


class TrialRunner:
    """Runs trials; shared by all workers of a run, so all money and time goes through it.

    Args:
        assignment: What is asked, and what was recorded before.
        ports: The outside world.
        control: Says when to stop.
        on_trial: Called with each recorded trial, for the progress display.
        on_incident: Called with each recorded incident, for the same.
        purse: In place of one with the limit of the run.
    """

    def __init__(
        self,
        assignment: Assignment,
        ports: Ports,
        control: Control,
        *,
        on_trial: OnTrial,
        on_incident: OnIncident = lambda _: None,
        purse: Purse | None = None,
    ) -> None:
        self.left: dict[str, str] = {}
        """Trial id → why it was not sent."""
        self._assignment = assignment
        self._control = control
        self._on_trial = on_trial
        self._attempts = dict(assignment.attempts)
        self._replays = Replays()
        self._recent: deque[str] = deque()
        """Trials of load stages that an incident may still touch."""
        self._flights = Flights(assignment, ports, control, on_incident=on_incident, purse=purse)
        self._retries = Retries(self._flights, assignment.config, ports, control)
        self._ports = ports
        has_tasks = any(case.info.kind == "agentic" for case in assignment.cases.values())
        self._agents = self._make_agents() if has_tasks else None

    @property
    def facts(self) -> dict[str, Fact]:
        """Return what decides how the run ended, by trial id."""
        return self._flights.facts

    @property
    def purse(self) -> Purse:
        """Return the run's money."""
        return self._flights.purse

    @property
    def clocks(self) -> dict[str, BusyClock]:
        """Return the time budgets by target id."""
        return self._flights.clocks

    @property
    def first_refusal(self) -> Response | None:
        """Return the first answer, when it refused the key."""
        return self._flights.first_refusal

    @property
    def fault(self) -> JournalUnwritable | None:
        """Return the first refusal of the disk."""
        return self._flights.fault

    @property
    def budget_ms(self) -> float | None:
        """Return the time budget of each target; ``None`` = no limit."""
        return self._assignment.config.budget_ms

    def refuse_key(self, response: Response) -> None:
        """Take from elsewhere that the run's first answer refused the key; the run stops."""
        self._flights.refuse_key(response)

    def look_again(self) -> None:
        """Let who waits for money ask again."""
        self._flights.look_again()

    def offset_ms(self, at_ns: int) -> float:
        """Return a monotonic reading as an offset of this run."""
        return self._flights.offset_ms(at_ns)

    def note(self, incident: Incident) -> None:
        """Record an incident once; what it finds in flight is named as touched."""
        self._flights.note(incident)

    def write(self, record: JournalRecord) -> None:
        """Write a record that belongs to no trial; a full disk stops the run."""
        self._flights.write(record)

    def _make_agents(self) -> "AgentTrials":
        """Load what works on coding tasks: most runs need nothing of it, none while it measures."""
        from bench.runner.agentic import AgentTrials

        return AgentTrials(self._assignment, self._ports, self._flights, self._retries)

    async def run(self, planned: PlannedTrial, instance: Instance) -> None:
        """Run one trial to its record, or note why it was not sent."""
        attempt = self._attempts.get(planned.id, 0) + 1
        call = self._call(planned, instance)
        done: Trial | str | None
        if self._agents is not None and self._assignment.is_agentic(planned):
            done = await self._agents.run(planned, call, attempt=attempt)
        else:
            landed = await self._asked_once(planned, instance, call, attempt=attempt)
            done = landed.trial if isinstance(landed, Landed) else landed
        if isinstance(done, str):
            self.left[planned.id] = done
        elif done is not None:
            self._attempts[planned.id] = attempt
            self._on_trial(done, self.purse)

    async def run_staged(
        self, planned: PlannedTrial, instance: Instance, place: Place
    ) -> Landed | str | None:
        """Run one trial of a load stage to its record.

        Returns:
            Why nothing may be sent now; ``None`` when its start could not be written down.
        """
        call = self._call(planned, instance, place)
        landed = await self._asked_once(planned, instance, call, attempt=place.attempt, place=place)
        if isinstance(landed, Landed):
            self._recent.append(planned.id)
            if len(self._recent) > MOST_RECENT:
                self._flights.forget(self._recent.popleft())
            self._on_trial(landed.trial, self.purse)
        return landed

    async def _asked_once(
        self,
        planned: PlannedTrial,
        instance: Instance,
        call: Call,
        *,
        attempt: int,
        place: Place | None = None,
    ) -> Landed | str | None:
        admitted = await self._flights.admitted(planned, call, attempt=attempt)
        if not isinstance(admitted, Flight):
            return admitted
        if refusals := self._assignment.refusals.get(planned.id):
            admitted = replace(admitted, refusals=refusals)
        flight = await self._retries.answered(admitted)
        is_judged = flight.response.error is None and instance.evaluate is not None
        evaluation = await self._judged(flight, instance) if is_judged else None
        trial = self._trial(flight, evaluation)
        if place is not None:
            trial = self._staged(trial, place)
        self._flights.landed(trial.id, Fact.of(trial))
        self._flights.write(TrialDone(attempt=flight.attempt, trial=trial))
        self._flights.settle(flight, spent_on(trial, flight.reserve))
        return Landed(trial=trial, response=flight.response)

    def _staged(self, trial: Trial, place: Place) -> Trial:
        due_ns = place.due_ns
        return replace(
            trial,
            response=lean(trial.response, keeps_chunks=place.keeps_chunks),
            planned_offset_ms=None if due_ns is None else self.offset_ms(due_ns),
            conversation_turn=place.turn,
        )

    def _call(self, planned: PlannedTrial, instance: Instance, place: Place | None = None) -> Call:
        tags = {"run": self._assignment.run_id, "trial": planned.id}
        return Call(
            target=self._assignment.targets[planned.target_id],
            request=asked(instance.request, self._assignment.config),
            timeout_ms=self._assignment.config.timeout_ms,
            tags=tags if self._assignment.has_tags else {},
            keeps_chunks=place is None or place.keeps_chunks,
            fresh_connection=place is not None and place.has_fresh_connection,
        )

    async def _judged(self, flight: Flight, instance: Instance) -> Evaluation | None:
        answer = flight.response.answer()
        if self._control.flights:
            # Judges are bounded, but a stamp of another stream must not wait for one.
            return await asyncio.to_thread(evaluate, instance, answer)
        return evaluate(instance, answer)

    def _trial(self, flight: Flight, evaluation: Evaluation | None) -> Trial:
        planned, request, response = flight.planned, flight.call.request, flight.response
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
            response = replace(
                response, texts_kept=False, content="", reasoning="", tool_calls=(), opaque=()
            )
        began_ns = flight.began_ns if flight.sent_at_ns is None else flight.sent_at_ns
        return Trial(
            id=planned.id,
            target_id=planned.target_id,
            case_id=planned.case_id,
            run=planned.run,
            warmup=planned.warmup,
            seed=planned.seed,
            stage=planned.stage,
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
            refusals=flight.refusals,
            invalidated=flight.invalidated or self._flights.touched(planned.id),
        )


def lean(response: Response, *, keeps_chunks: bool = False) -> Response:
    """Return what a load stage keeps of a response: every gap, but neither texts nor chunks.

    A million answers of 100 tokens would be 10 GB of chunks that the gaps say already.
    """
    timing = response.timing
    if timing.content_itl_ms == timing.itl_ms:
        timing = replace(timing, content_itl_ms=None)
    return replace(
        response,
        texts_kept=False,
        content="",
        reasoning="",
        tool_calls=(),
        opaque=(),
        stream_chunks=response.stream_chunks if keeps_chunks else (),
        timing=timing,
        usage=response.usage and replace(response.usage, raw={}),
    )


def _outcome(flight: Flight) -> Outcome:
    if flight.sent_at_ns is None:
        return "cancelled"
    return "failed" if flight.response.error else "completed"
