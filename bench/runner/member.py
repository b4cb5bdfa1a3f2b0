"""A load process from within: takes orders, sends its shares of stages, tells once a second how far.

It knows neither a pipe nor a cluster: orders are handed in, reports handed out.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

import msgspec

from bench.load.slo import read_slo
from bench.model.case import Case
from bench.model.fleet import (
    Arrived,
    AskMoney,
    Begin,
    Busy,
    Dismiss,
    Echo,
    Ended,
    Failed,
    Finish,
    Grant,
    LastFact,
    Noted,
    Order,
    Prepare,
    Prepared,
    Probe,
    Progress,
    Report,
    Setup,
    Stop,
    Sums,
    Why,
)
from bench.model.load import StageDone, StopRules
from bench.model.trial import Trial
from bench.money import Purse
from bench.runner.assignment import Assignment
from bench.runner.control import Control
from bench.runner.ending import DOWN_AFTER
from bench.runner.flights import Ports
from bench.runner.flow import Flow
from bench.runner.informant import Informant
from bench.runner.staged import Job, StageSender
from bench.runner.trial import TrialRunner

REPORT_EVERY_S = 1.0
_MOST_TOLD = 50
"""Answers a report in which a rising queue is looked for."""
Tell = Callable[[Report], None]


@dataclass(slots=True, kw_only=True)
class _Counted:
    """What of a share is still to be told."""

    flow: Flow | None = None
    finish: Finish | None = None
    """It came before there was a flow."""
    done: int = 0
    failed: int = 0
    arrived: deque[Arrived] = field(default_factory=lambda: deque(maxlen=_MOST_TOLD))

    def landed(self, trial: Trial, _: Purse) -> None:
        """Count a recorded trial."""
        self.done += 1
        self.failed += trial.response.error is not None
        first_ms = trial.response.timing.first_token_ms
        if self.flow is not None and first_ms is not None and not trial.warmup:
            in_flight = self.flow.in_flight
            arrived = Arrived(
                started_ms=trial.started_offset_ms, in_flight=in_flight, first_token_ms=first_ms
            )
            self.arrived.append(arrived)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """A share under way."""

    order: Prepare
    begins: "asyncio.Future[int]"
    trials: TrialRunner
    counted: _Counted


class Member:
    """One load process.

    Args:
        setup: What the run is.
        cases: Those of the plan, by id.
        ports: The outside world; its sink is the shard.
        informant: The watch of those ports.
        tell: Hands a report to the leading process, in order.
    """

    def __init__(
        self,
        setup: Setup,
        cases: Mapping[str, Case],
        ports: Ports,
        *,
        informant: Informant,
        tell: Tell,
    ) -> None:
        self.is_dismissed = False
        """Nothing more is to be done."""
        self._setup = setup
        self._cases = cases
        self._ports = ports
        self._informant = informant
        self._tell = tell
        self._now_ns = ports.clock.now_ns
        self._control = Control()
        self._watched: _Watched | None = None
        self._task: asyncio.Task[None] | None = None

    def take(self, order: Order) -> None:
        """Take one order; what it starts goes on by itself."""
        match order:
            case Probe():
                self._tell(Echo(number=order.number, now_ns=self._now_ns()))
            case Prepare():
                self._task = asyncio.get_running_loop().create_task(self._share(order))
            case Begin() | Grant() | Finish():
                self._steer(order)
            case Stop() | Noted():
                self._heed(order)
            case Why():
                self._informant.told(order)
            case Dismiss():
                self.is_dismissed = True
            case Setup():
                pass  # said once, before there was a member
            case _:
                assert_never(order)

    async def abandon(self) -> None:
        """Give up what is in flight, for nobody leads any more; returns when its end is written."""
        self._heed(Stop(reason="killed", cancels=True))
        self._informant.release()
        if self._task is not None:
            await asyncio.wait({self._task})

    # ---- orders -------------------------------------------------------------------

    def _steer(self, order: Begin | Grant | Finish) -> None:
        watched = self._watched
        if watched is None:
            return  # the share has ended meanwhile
        match order:
            case Begin():
                if not watched.begins.done():
                    watched.begins.set_result(order.at_ns)
            case Grant():
                watched.trials.purse.grant(order.slice_usd, is_last=order.is_last)
                watched.trials.look_again()
            case Finish():
                watched.counted.finish = order
                if watched.counted.flow is not None:
                    watched.counted.flow.end(order.reason, order.detail)

    def _heed(self, order: Stop | Noted) -> None:
        watched = self._watched
        incident = order.incident
        if isinstance(order, Stop):
            if incident is not None:
                self._informant.ended_by = incident
                self._control.lose_gateway(incident)
            self._control.stop(order.reason)
            if order.cancels:
                self._control.cancel_flights()
        if watched is None:
            return
        if incident is not None:
            watched.trials.note(incident)
        if self._control.reason is not None:
            watched.trials.look_again()
            if not watched.begins.done():
                watched.begins.set_result(self._now_ns())

    # ---- one share ------------------------------------------------------------------

    async def _share(self, order: Prepare) -> None:
        try:
            await self._sent(order)
        except Exception as fault:  # noqa: BLE001 - the process border: the leader must hear of it
            self._tell(Failed(message=f"{type(fault).__name__}: {fault}"))
        finally:
            self._watched = None

    async def _sent(self, order: Prepare) -> None:
        watched = self._watched = self._begun(order)
        sender = StageSender(watched.trials, self._ports, self._control)
        job = self._job(order)
        sender.begin(job)
        prepared = await sender.prepare(job)
        self._tell(Prepared())
        began_ns = await watched.begins
        # The rules of the whole stage are the leader's to apply: it sees all shares.
        stage = msgspec.structs.replace(prepared.stage, stops=StopRules())
        watched.counted.flow = flow = Flow(stage=stage, slos=job.slos, began_ns=began_ns)
        if (finish := watched.counted.finish) is not None:
            flow.end(finish.reason, finish.detail)
        telling = asyncio.ensure_future(self._keep_telling(watched, flow))
        try:
            reading = await sender.carry_out(prepared, flow)
        finally:
            telling.cancel()
        done = sender.done(prepared, flow, reading)
        watched.trials.write(done)
        self._tell(self._progress(watched, flow))
        fault = watched.trials.fault
        if fault is not None:
            self._tell(Failed(message=fault.message, is_disk_full=True))
        else:
            self._tell(self._ended(watched, flow, done))

    def _begun(self, order: Prepare) -> _Watched:
        """Return a runner of its own for each share: the clock's place and the money are new."""
        header = self._setup.header
        assignment = Assignment(
            run_id=header.run_id,
            config=header.config,
            targets={target.id: target for target in header.targets},
            cases=self._cases,
            blocks=(),
            attempts={},
            facts={},
            origin_ns=order.origin_ns,
            offset_ms=order.offset_ms,
            budget_used_ms=order.budget_used_ms,
            spent_usd=0.0,
            unknown_costs=0,
            has_tags=self._setup.has_tags,
        )
        purse, counted = Purse(limit_usd=order.slice_usd), _Counted()
        if order.slice_usd is not None:
            purse.ask = lambda lacks: self._tell(
                AskMoney(slice_usd=purse.limit_usd or 0.0, least_usd=lacks)
            )
        trials = TrialRunner(
            assignment, self._ports, self._control, on_trial=counted.landed, purse=purse
        )
        for clock in trials.clocks.values():
            clock.closed_ns = []
        begins = asyncio.get_running_loop().create_future()
        return _Watched(order=order, begins=begins, trials=trials, counted=counted)

    def _job(self, order: Prepare) -> Job:
        header = self._setup.header
        return Job(
            target=next(one for one in header.targets if one.id == order.target_id),
            case=self._cases[order.case_id],
            stage=order.stage,
            attempt=order.attempt,
            seed=header.config.seed,
            slos=tuple(map(read_slo, header.config.slos)),
            share=order.share,
        )

    # ---- reports ----------------------------------------------------------------------

    async def _keep_telling(self, watched: _Watched, flow: Flow) -> None:
        while True:
            await self._ports.sleep(REPORT_EVERY_S)
            self._tell(self._progress(watched, flow))

    def _progress(self, watched: _Watched, flow: Flow) -> Progress:
        counted = watched.counted
        told = Progress(
            sums=_sums(watched.trials.purse, flow),
            done=counted.done,
            failed=counted.failed,
            busy=tuple(self._busy(watched.trials)),
            arrived=tuple(counted.arrived),
            has_limit=self._control.reason == "client_limit",
        )
        counted.done = counted.failed = 0
        counted.arrived.clear()
        return told

    def _busy(self, trials: TrialRunner) -> Iterator[Busy]:
        now_ns = self._now_ns()
        for target_id, clock in trials.clocks.items():
            for from_ns, to_ns in clock.taken_spans(now_ns):
                yield Busy(
                    target_id=target_id,
                    from_ms=trials.offset_ms(from_ns),
                    to_ms=trials.offset_ms(to_ns),
                )

    def _ended(self, watched: _Watched, flow: Flow, done: StageDone) -> Ended:
        trials = watched.trials
        return Ended(
            sums=_sums(trials.purse, flow),
            reason=done.reason,
            detail=flow.detail,
            scheduled=done.scheduled,
            connections=done.connections,
            sending_ended_offset_ms=None
            if flow.last_sent_ns is None
            else done.sending_ended_offset_ms,
            ended_offset_ms=done.ended_offset_ms,
            totals=flow.totals.buckets(),
            client=done.client,
            facts=tuple(_last_facts(trials)),
            vantage=self._ports.client_of(watched.order.target_id).vantage(),
            refusal=trials.first_refusal,
        )


def _sums(purse: Purse, flow: Flow) -> Sums:
    return Sums(
        sent=flow.sent,
        finished=flow.finished,
        succeeded=flow.succeeded,
        inside=flow.inside,
        unreached=flow.unreached,
        unreached_by=flow.unreached_by,
        tokens=flow.tokens,
        in_flight=flow.in_flight,
        late=flow.late,
        dropped=flow.dropped,
        spent_usd=purse.spent_usd,
        unknown_costs=purse.unknown,
    )


def _last_facts(trials: TrialRunner) -> Iterator[LastFact]:
    """Yield the last facts, one success and all that count nowhere: they decide the run's end."""
    ordered = sorted(trials.facts.items(), key=lambda item: item[1].finished_offset_ms)
    proof = next((trial_id for trial_id, fact in ordered if fact.is_success), None)
    last = {trial_id for trial_id, _ in ordered[-DOWN_AFTER:]}
    for trial_id, fact in ordered:
        if trial_id in last or trial_id == proof or fact.is_invalidated:
            yield LastFact(
                trial_id=trial_id,
                target_id=fact.target_id,
                warmup=fact.warmup,
                finished_offset_ms=fact.finished_offset_ms,
                error_code=fact.error_code,
                is_invalidated=fact.is_invalidated,
            )
