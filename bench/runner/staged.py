"""Runs one load stage: connections, warm-up, measured requests, the wait for the last answer.

The schedule is computed before the first request. A stage returns when nothing of it is in flight,
so that no request of one stage can slow the next.
"""

import asyncio
import math
from array import array

import msgspec

from bench.load.pacing import arrivals, starts
from bench.load.saturation import Point
from bench.load.shapes import level_of
from bench.load.sharing import ALONE, number_of, share_of, turns_of
from bench.load.slo import Slo
from bench.model.blocks import PlannedTrial
from bench.model.case import Case, Instance, Message
from bench.model.fleet import Share
from bench.model.load import ClientReading, Stage, StageBegun, StageDone, StageEnd
from bench.model.record import Value
from bench.model.target import Target
from bench.plan import stage_group, staged_trial
from bench.runner.control import Control
from bench.runner.flights import Ports
from bench.runner.flow import LATE_NS, Due, Flow
from bench.runner.sizing import answered, continued, sized
from bench.runner.trial import Landed, Place, TrialRunner
from bench.seeds import derive_seed

_NAP_S = 0.1
_NAP_NS = 100_000_000
"""Longest sleep without a look at whether the stage is still to go on."""
_LEAD_NS = 5_000_000
_NS_PER_S = 1_000_000_000
_MOST_OPENED = 1_024
"""Connections of an open loop that are opened before it: how many it needs is not known."""
_CUT: dict[str, StageEnd] = {"budget": "budget", "max_cost": "max_cost"}


class Job(Value, frozen=True, kw_only=True):
    """One stage of one target and case."""

    target: Target
    case: Case
    stage: Stage
    attempt: int
    seed: int
    """Of the run."""
    slos: tuple[Slo, ...]
    share: Share = ALONE
    """Of several processes that send the stage together."""

    def planned(self, number: int, *, warmup: bool) -> PlannedTrial:
        """Return the trial of that number."""
        return staged_trial(
            self.target.id, self.case.info, self.stage.number, number, seed=self.seed, warmup=warmup
        )

    def instance(self, planned: PlannedTrial) -> Instance:
        """Return what the trial asks, of the size that a trace says."""
        instance = self.case.build(planned.seed)
        if planned.warmup:
            return instance
        return sized(instance, self.stage, number=planned.run, seed=planned.seed)


class Prepared(Value, frozen=True, kw_only=True):
    """A stage that is ready to begin: connections are open, warm-ups are over."""

    job: Job
    stage: Stage
    """Of this process: its share, within the connections that it may have."""
    schedule: "array[int]"
    """When its senders begin, or its requests are due; nanoseconds since the stage's beginning."""


class StageSender:
    """Sends the requests of stages, one stage after another.

    Args:
        trials: Sends and records one request.
        ports: The outside world.
        control: Says when to stop.
    """

    def __init__(self, trials: TrialRunner, ports: Ports, control: Control) -> None:
        self._trials = trials
        self._ports = ports
        self._control = control
        self._now_ns = ports.clock.now_ns

    async def run(self, job: Job) -> tuple[Point, StageDone]:
        """Run a stage until its last answer; its end is returned and not yet written."""
        self.begin(job)
        prepared = await self.prepare(job)
        flow = Flow(stage=prepared.stage, slos=job.slos, began_ns=self._now_ns() + _LEAD_NS)
        reading = await self.carry_out(prepared, flow)
        done = self.done(prepared, flow, reading)
        return flow.point(level_of(job.stage)), done

    def begin(self, job: Job) -> None:
        """Write down that the stage begins."""
        self._trials.write(
            StageBegun(
                target_id=job.target.id,
                case_id=job.case.info.id,
                stage=job.stage,
                attempt=job.attempt,
                offset_ms=self._offset_ms(),
            )
        )

    async def prepare(self, job: Job) -> Prepared:
        """Compute the schedule, warm up, open connections."""
        client = self._ports.client_of(job.target.id)
        whole = _within(job.stage, client.capacity() * job.share.count)
        stage = share_of(whole, job.share)
        closed = stage.kind == "closed"
        row = starts(whole) if closed else arrivals(whole, seed=_schedule_seed(job))
        await self._warm_up(job, stage)
        if not stage.fresh_connections:
            # Last: one that idles through a long warm-up would be replaced by the first request.
            await client.open_connections(_connections(stage, job.share))
        return Prepared(job=job, stage=stage, schedule=turns_of(row, job.share))

    async def carry_out(self, prepared: Prepared, flow: Flow) -> ClientReading:
        """Send from ``flow.began_ns`` on until the last answer; return how well that went."""
        client = self._ports.client_of(prepared.job.target.id)
        client.begin_reading()
        if flow.stage.kind == "closed":
            await self._closed(prepared.job, flow, prepared.schedule)
        else:
            await self._open(prepared.job, flow, prepared.schedule)
        reading = client.end_reading()
        if self._control.reason is not None:
            flow.end("stopped", self._control.reason)
        flow.end("requests")
        return reading

    # ---- phases -----------------------------------------------------------------

    async def _warm_up(self, job: Job, stage: Stage) -> None:
        at_once = min(stage.concurrency or 1, stage.warmups) if stage.kind == "closed" else 1
        if stage.warmups:
            phase = Stage(number=stage.number, concurrency=at_once, requests=stage.warmups)
            flow = Flow(stage=phase, slos=(), began_ns=self._now_ns())
            begins = starts(phase, is_warmup=True)
            await self._closed(job, flow, begins, is_warmup=True)

    async def _closed(
        self, job: Job, flow: Flow, begins: "array[int]", *, is_warmup: bool = False
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for start_ns in begins:
                if not await self._is_due(flow, flow.began_ns + start_ns):
                    break
                group.create_task(self._sender(job, flow, is_warmup=is_warmup))

    async def _sender(self, job: Job, flow: Flow, *, is_warmup: bool) -> None:
        while not flow.is_over:
            flow.conversations += 1
            number = number_of(flow.conversations, job.share)
            await self._conversation(job, flow, number, is_warmup=is_warmup)

    async def _open(self, job: Job, flow: Flow, schedule: "array[int]") -> None:
        async with asyncio.TaskGroup() as group:
            for index, offset_ns in enumerate(schedule):
                number = number_of(index + 1, job.share)
                due = Due(number=number, at_ns=flow.began_ns + offset_ns)
                if not await self._is_due(flow, due.at_ns):
                    break
                if flow.has_room():
                    flow.in_flight += 1
                    group.create_task(self._placed(job, flow, due))
                else:
                    flow.waiting.append(due)
            while flow.waiting and await self._is_due(flow, self._now_ns() + _NAP_NS):
                flow.check_time(self._now_ns())
        # Conversations that had begun have ended by now, and nobody waits for a place any more.
        by_schedule: StageEnd = "requests" if flow.stage.duration_ms is None else "duration"
        flow.end("trace" if flow.stage.kind == "trace" else by_schedule)

    async def _placed(self, job: Job, flow: Flow, due: Due) -> None:
        """Send what is due, then whatever waits for the place that this one leaves."""
        following: Due | None = due
        while following is not None:
            await self._conversation(job, flow, following.number, due_ns=following.at_ns)
            following = flow.waiting.popleft() if flow.waiting else None
        flow.in_flight -= 1

    # ---- one conversation --------------------------------------------------------

    async def _conversation(
        self,
        job: Job,
        flow: Flow,
        number: int,
        *,
        is_warmup: bool = False,
        due_ns: int | None = None,
    ) -> None:
        """Send a request and, where the stage has turns, what follows its answers."""
        said: tuple[Message, ...] = ()
        turns = 1 if is_warmup else job.stage.turns
        for turn in range(1, turns + 1):
            planned = job.planned((number - 1) * turns + turn, warmup=is_warmup)
            instance = continued(job.instance(planned), said)
            is_due = due_ns is not None and turn == 1
            if not is_due and not flow.may_send(self._now_ns()):
                return
            flow.sent += is_due
            place = Place(
                attempt=job.attempt,
                due_ns=due_ns if turn == 1 else None,
                turn=turn if turns > 1 else None,
                has_fresh_connection=job.stage.fresh_connections,
                keeps_chunks=planned.run <= job.stage.chunks_kept,
            )
            landed = await self._sent(flow, planned, instance, place)
            if landed is None or landed.response.error is not None:
                return
            said = (*instance.request.messages, answered(landed.response))

    async def _sent(
        self, flow: Flow, planned: PlannedTrial, instance: Instance, place: Place
    ) -> Landed | None:
        is_closed = flow.stage.kind == "closed"
        if place.due_ns is not None and self._now_ns() - place.due_ns > LATE_NS:
            flow.late += 1
        flow.in_flight += is_closed
        flow.last_sent_ns = self._now_ns()
        landed = await self._trials.run_staged(planned, instance, place)
        if isinstance(landed, Landed):
            flow.landed(landed.trial)
        else:
            refusal = landed or "disk_full"
            flow.refused()
            flow.end(_CUT.get(refusal, "stopped"), refusal)
        flow.in_flight -= is_closed
        return landed if isinstance(landed, Landed) else None

    async def _is_due(self, flow: Flow, at_ns: int) -> bool:
        """Wait until ``at_ns``; return whether the stage still goes on then.

        Timers come up to a millisecond late and, on some loops, early: the clock is asked again.
        """
        while not flow.is_over:
            if self._control.reason is not None:
                flow.end("stopped", self._control.reason)
                break
            left_s = (at_ns - self._now_ns()) / _NS_PER_S
            await self._ports.sleep(max(0.0, min(left_s, _NAP_S)))
            if left_s <= 0:
                return not flow.is_over
            if flow.stage.kind == "closed":
                flow.check_time(self._now_ns())
        return False

    # ---- its end ------------------------------------------------------------------

    def _offset_ms(self, at_ns: int | None = None) -> float:
        return self._trials.offset_ms(self._now_ns() if at_ns is None else at_ns)

    def done(self, prepared: Prepared, flow: Flow, reading: ClientReading) -> StageDone:
        """Return how a stage, or this process's share of it, ended."""
        job = prepared.job
        point = flow.point(level_of(job.stage))
        asked, room = share_of(job.stage, job.share).concurrency, flow.stage.concurrency
        connections = room if asked and asked != room else None
        return StageDone(
            target_id=job.target.id,
            case_id=job.case.info.id,
            number=job.stage.number,
            attempt=job.attempt,
            reason=flow.reason or "stopped",
            detail=ended_by(flow, connections),
            scheduled=None if flow.stage.kind == "closed" else len(prepared.schedule),
            sent=flow.sent,
            dropped=flow.dropped,
            late=flow.late,
            unreached=flow.unreached,
            unreached_by=flow.unreached_by,
            connections=connections,
            began_offset_ms=self._offset_ms(flow.began_ns),
            sending_ended_offset_ms=self._offset_ms(flow.last_sent_ns),
            ended_offset_ms=self._offset_ms(),
            total_p50_ms=point.total_p50_ms,
            success_rate=point.success_rate,
            attainment=point.attainment,
            client=reading,
        )


def ended_by(flow: Flow, connections: int | None, *more: str) -> str:
    """Return what ended a stage and, where it had less than was asked for, how much it had.

    Args:
        flow: Of the stage.
        connections: So many could be open; ``None`` = as many as were asked for.
        more: What else it lacked; empty ones are left out.
    """
    limit = "" if connections is None else f"this machine limits connections to {connections}"
    return "; ".join(part for part in (flow.detail, limit, *more) if part)


def _within(stage: Stage, room: int) -> Stage:
    """Limit what is in flight to the connections that the system lets this process have.

    Beyond it connecting fails for a reason that is none of the gateway's.
    """
    wanted = stage.concurrency
    if (wanted is None and stage.kind == "closed") or (wanted is not None and wanted <= room):
        return stage
    return msgspec.structs.replace(stage, concurrency=room)


def _connections(stage: Stage, share: Share) -> int:
    if stage.kind == "closed":
        return stage.concurrency or 1
    rate = level_of(stage) / share.count
    return min(stage.concurrency or 1, _MOST_OPENED, max(1, math.ceil(rate)))


def _schedule_seed(job: Job) -> int:
    """Return the seed of the arrivals: the same for every target, so that all meet the same load."""
    number, group = job.stage.number, stage_group(job.case.info, job.stage.number)
    return derive_seed(job.seed, f"arrivals of {group}", number, False)  # noqa: FBT003 - as there
