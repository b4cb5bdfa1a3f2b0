"""Agentic trials: the loop under the run's gate, each turn in the journal, the files judged last."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from bench.agent.loop import TURN_LIMIT, Asked, Worked, figures, work
from bench.agent.session import NS_PER_MS, Session, opening
from bench.agent.task import Task
from bench.agent.tools import TOOL_SCHEMAS
from bench.agent.workplace import TestRun, Workbench
from bench.errors import BenchError
from bench.model.agent import CUT_STOPS, JUDGED_STOPS, AgentRun, AgentStop
from bench.model.blocks import PlannedTrial
from bench.model.case import Message
from bench.model.steps import TrialDone, TurnDone
from bench.model.trial import Evaluation, Outcome, Response, Timing, Trial, Usage
from bench.model.turn import TurnTrace
from bench.money import cost_of, spent_for
from bench.ports import Call
from bench.prompt import prompt_hash
from bench.runner.assignment import Assignment, parameters
from bench.runner.ending import Fact
from bench.runner.flight import Flight
from bench.runner.flights import Flights, Ports
from bench.runner.proof import pin_violated
from bench.runner.retrying import Retries

_Number = TypeVar("_Number", int, float)

_STOPS: dict[str, AgentStop] = {
    "budget": "budget",
    "max_cost": "max_cost",
    "interrupted": "interrupted",
    "gateway": "incident",
}
"""What the gate says → the name of the trial's end; any other reason is ``stopped``."""


class AgentTrials:
    """Runs agentic trials.

    Args:
        assignment: What is asked, and which turns were recorded before.
        ports: The outside world.
        flights: Sends the requests of the run.
        retries: Sends them again where they were refused.
    """

    def __init__(
        self, assignment: Assignment, ports: Ports, flights: Flights, retries: Retries
    ) -> None:
        self._assignment = assignment
        self._ports = ports
        self._flights = flights
        self._retries = retries

    async def run(self, planned: PlannedTrial, call: Call, *, attempt: int) -> Trial | str | None:
        """Run one trial to its record; return it, or why no request of it was sent.

        Args:
            planned: Which trial.
            call: Its request as the case has it, without tools.
            attempt: Its number.
        """
        bench = self._ports.workbench
        if bench is None:
            message = f"`{planned.case_id}` needs the sandbox, and the run has none"
            raise BenchError(message)
        task = bench.task(planned.case_id)
        prompt = call.request.messages
        request = replace(call.request, messages=opening(prompt), tools=TOOL_SCHEMAS)
        call = replace(call, request=request)
        desk = _Desk(self._flights, self._retries, self._assignment, planned, call)
        desk.attempt = attempt

        async def run_tests(files: Mapping[str, str]) -> TestRun:
            return await bench.run_tests(task, files)

        session = Session(task, prompt, run_tests=run_tests, clock=self._ports.clock)
        recorded = self._assignment.recorded_turns.get(planned.id, ())
        worked = await work(
            session,
            desk,
            self._ports.clock,
            recorded=recorded,
            turn_limit=self._assignment.config.max_turns or TURN_LIMIT,
        )
        if desk.refusal is not None and len(worked.turns) == worked.replayed:
            self._flights.landed(planned.id, None)
            return desk.refusal
        if not worked.turns:
            return None
        trial = await self._judged(desk, worked, session, (task, bench))
        self._flights.landed(trial.id, Fact.of(trial))
        self._flights.write(TrialDone(attempt=attempt, trial=trial))
        return trial

    async def _judged(
        self, desk: "_Desk", worked: Worked, session: Session, judge: tuple[Task, Workbench]
    ) -> Trial:
        task, bench = judge
        invalidated = worked.turns[-1].invalidated or self._flights.touched(desk.planned.id)
        if invalidated is None and worked.stop in CUT_STOPS:
            invalidated = worked.stop
        reusable = self._reusable(desk.planned.id, worked.turns) if invalidated else 0
        run = figures(worked, session, reusable_turns=reusable)
        run = replace(run, sandbox_level=bench.level)
        ended_ns = self._ports.clock.now_ns()
        evaluation = None
        if invalidated is None and worked.stop in JUDGED_STOPS:
            found = await bench.judge(task, session.workspace.files)
            grading_ms = (self._ports.clock.now_ns() - ended_ns) / NS_PER_MS
            run = replace(run, grading_ms=grading_ms, tree_passed=found.passed)
            evaluation = _verdict(found, worked.stop)
        return self._trial(desk, worked.turns, run, evaluation, invalidated)

    def _reusable(self, trial_id: str, turns: Iterable[TurnTrace]) -> int:
        """Return after how many turns the trial can be gone on with."""
        if not self._assignment.config.save_responses:
            return 0  # what was said is not kept
        since_ms = self._flights.untrusted_since_ms(trial_id)
        count = 0
        for turn in turns:
            if not turn.is_whole or (since_ms is not None and turn.answered_offset_ms > since_ms):
                break
            count += 1
        return count

    def _trial(
        self,
        desk: "_Desk",
        turns: Sequence[TurnTrace],
        run: AgentRun,
        evaluation: Evaluation | None,
        invalidated: str | None,
    ) -> Trial:
        planned, request = desk.planned, desk.call.request
        last = turns[-1]
        return Trial(
            id=planned.id,
            target_id=planned.target_id,
            case_id=planned.case_id,
            run=planned.run,
            warmup=planned.warmup,
            seed=planned.seed,
            parameters=parameters(request),
            prompt_hash=prompt_hash(message.content or "" for message in request.messages),
            started_offset_ms=turns[0].started_offset_ms,
            finished_offset_ms=last.answered_offset_ms + last.tool_ms,
            sent_at_ns=turns[0].sent_at_ns,
            outcome=_outcome(run.stop_reason, last.response),
            response=_whole_response(turns, run.wall_ms),
            evaluation=evaluation,
            estimated_cost_usd=_sum(_cost_of(turn) for turn in turns),
            cost_source=_one_of(turn.cost_source for turn in turns),
            computed_cost_usd=_sum(turn.computed_cost_usd for turn in turns),
            pin_violated=_any(turn.pin_violated for turn in turns),
            refusals=tuple(refusal for turn in turns for refusal in turn.refusals),
            invalidated=invalidated,
            agent=run,
        )


class _Desk:
    """One trial's requests under the gate of the run."""

    def __init__(
        self,
        flights: Flights,
        retries: Retries,
        assignment: Assignment,
        planned: PlannedTrial,
        call: Call,
    ) -> None:
        self.planned = planned
        self.call = call
        self.attempt = 1
        self.refusal: str | None = None
        """What the gate said at the last request that was not sent."""
        self._flights = flights
        self._retries = retries
        self._keeps_answers = assignment.config.save_responses

    async def ask(self, number: int, messages: tuple[Message, ...]) -> Asked | AgentStop:
        """Send one turn; see ``bench.agent.loop.Desk``."""
        request = replace(self.call.request, messages=messages)
        flight = await self._flights.admitted(
            self.planned,
            replace(self.call, request=request),
            attempt=self.attempt,
            turn=number,
        )
        if not isinstance(flight, Flight):
            self.refusal = flight
            return _STOPS.get(flight or "", "stopped")
        flight = await self._retries.answered(flight)
        turn = self._turn(number, flight)
        self._flights.settle(flight, turn.spent_usd)
        return Asked(turn=turn, waited_ms=flight.waited_ns / NS_PER_MS, stop=_stop(flight))

    def note(self, turn: TurnTrace) -> None:
        """Write a finished turn down."""
        if not self._keeps_answers:
            turn = _without_texts(turn)
        record = TurnDone(trial_id=self.planned.id, attempt=self.attempt, turn=turn)
        self._flights.write(record)

    def _turn(self, number: int, flight: Flight) -> TurnTrace:
        target, response = flight.call.target, flight.response
        violated = pin_violated(target, response)
        cost = cost_of(response, target.metadata.prices, at=flight.began_at, is_other=violated)
        return TurnTrace(
            number=number,
            response=response,
            started_offset_ms=self._flights.offset_ms(flight.began_ns),
            answered_offset_ms=self._flights.offset_ms(flight.ended_ns),
            sent_at_ns=flight.sent_at_ns,
            model_ms=(flight.ended_ns - flight.began_ns) / NS_PER_MS,
            tool_ms=0.0,
            own_ms=0.0,
            cost_usd=cost.usd,
            cost_source=cost.source,
            computed_cost_usd=cost.computed_usd,
            spent_usd=spent_for(cost.usd, response.error, flight.reserve),
            refusals=flight.refusals,
            pin_violated=violated,
            invalidated=flight.invalidated,
        )


def _stop(flight: Flight) -> AgentStop | None:
    """Return why nothing can follow on a request."""
    match flight.invalidated:
        case None:
            return "upstream_error" if flight.response.error else None
        case "cancelled":
            return "cancelled"
        case "key_rejected":
            return "upstream_error"
        case _:
            return "incident"


def _outcome(stop: AgentStop, last: Response) -> Outcome:
    if stop in CUT_STOPS or stop == "cancelled":
        return "cancelled"
    return "failed" if last.error else "completed"


def _verdict(found: Evaluation, stop: AgentStop) -> Evaluation:
    """Return the verdict: right files do not help a model that never said it was done."""
    if not found.passed or stop not in {"turn_limit", "task_timeout"}:
        return found
    detail = f"ended by {stop.replace('_', ' ')}, though {found.detail}"
    return replace(found, passed=False, detail=detail)


def _whole_response(turns: Sequence[TurnTrace], wall_ms: float) -> Response:
    """Return the last answer with the first turn's start and the tokens of all turns."""
    first, last = turns[0].response, turns[-1].response
    timing = Timing(
        headers_ms=first.timing.headers_ms,
        first_event_ms=first.timing.first_event_ms,
        first_reasoning_ms=first.timing.first_reasoning_ms,
        first_content_ms=first.timing.first_content_ms,
        first_tool_call_ms=first.timing.first_tool_call_ms,
        first_token_ms=first.timing.first_token_ms,
        total_ms=wall_ms,
    )
    return replace(
        last,
        tool_calls=(),
        opaque=(),
        stream_chunks=(),
        usage=_whole_usage([turn.response.usage for turn in turns]),
        timing=timing,
        connection=first.connection,
        gateway_cost_usd=_sum(turn.response.gateway_cost_usd for turn in turns),
        gateway_overhead_ms=None,
        fallback=_any(turn.response.fallback for turn in turns),
        cache_hit=_any(turn.response.cache_hit for turn in turns),
        simulated=any(turn.response.simulated for turn in turns),
    )


def _whole_usage(usages: Sequence[Usage | None]) -> Usage | None:
    """Return the sum of all turns; a count that one turn lacks is unknown."""
    known = [usage for usage in usages if usage is not None]
    if len(known) < len(usages):
        return None
    return Usage(
        prompt_tokens=_sum(usage.prompt_tokens for usage in known),
        completion_tokens=_sum(usage.completion_tokens for usage in known),
        reasoning_tokens=_sum(usage.reasoning_tokens for usage in known),
        visible_completion_tokens=_sum(usage.visible_completion_tokens for usage in known),
        cached_prompt_tokens=_sum(usage.cached_prompt_tokens for usage in known),
        cache_write_tokens=_sum(usage.cache_write_tokens for usage in known),
        cache_write_1h_tokens=_sum(usage.cache_write_1h_tokens for usage in known),
        cost_usd=_sum(usage.cost_usd for usage in known),
    )


def _cost_of(turn: TurnTrace) -> float | None:
    """Return what a turn cost; one that nobody bills cost nothing."""
    return 0.0 if turn.cost_usd is None and turn.spent_usd == 0.0 else turn.cost_usd


def _sum(values: Iterable[_Number | None]) -> _Number | None:
    """Return the sum; ``None`` when a part is unknown."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(listed) else None


def _any(values: Iterable[bool | None]) -> bool | None:
    """Return whether it holds of one turn; ``None`` = no turn tells."""
    known = [value for value in values if value is not None]
    return any(known) if known else None


def _one_of(sources: Iterable[str | None]) -> str | None:
    named = [source for source in dict.fromkeys(sources) if source is not None]
    return " and ".join(named) or None


def _without_texts(turn: TurnTrace) -> TurnTrace:
    response = replace(turn.response, texts_kept=False, content="", reasoning="", opaque=())
    calls = tuple(replace(c, arguments="", result="") for c in turn.calls)
    return replace(turn, response=response, calls=calls)
