"""One stage sent by several load processes: shares, a common beginning, the sums, one end.

The leading process sends nothing itself. Per request nothing is said; once a second each share is
summed up, held against the rules of the stage, the time budget and the money.
"""

from dataclasses import dataclass, field

from bench.budget import Union
from bench.errors import LoadProcessLost
from bench.load.saturation import Point
from bench.load.shapes import level_of
from bench.load.sharing import most_shares, part_of
from bench.model.fleet import (
    AskMoney,
    Begin,
    Ended,
    Failed,
    Finish,
    Grant,
    Prepare,
    Prepared,
    Progress,
    Report,
    Share,
    Stop,
)
from bench.model.footer import StopReason
from bench.model.load import ClientReading, SenderReading, StageBegun, StageDone
from bench.runner.control import Control
from bench.runner.crew import Crew, Hand
from bench.runner.ending import Fact
from bench.runner.flights import Ports
from bench.runner.gathering import Dealer, Gathering, worst_reading
from bench.runner.staged import Job, ended_by
from bench.runner.trial import TrialRunner

_LEAD_NS = 50_000_000
"""The beginning is so far ahead, and ten round trips more, when it is told."""
_ROUND_TRIPS = 10


class SharedStages:
    """Runs stages through load processes; ``StageRunner`` by shape.

    Args:
        trials: Holds the run's money, time and facts; writes the leading journal.
        ports: The outside world.
        control: Says when to stop.
        crew: The load processes.
    """

    def __init__(
        self,
        trials: TrialRunner,
        ports: Ports,
        control: Control,
        *,
        crew: Crew,
    ) -> None:
        self._trials = trials
        self._now_ns = ports.clock.now_ns
        self._control = control
        self._crew = crew
        self._said: tuple[StopReason, bool, bool] | None = None
        """What was passed on of the control."""
        control.on_change = lambda: crew.inbox.put_nowait(None)

    async def run(self, job: Job) -> tuple[Point, StageDone]:
        """Run a stage until the last answer of all shares; its end is returned, not yet written."""
        self._trials.write(
            StageBegun(
                target_id=job.target.id,
                case_id=job.case.info.id,
                stage=job.stage,
                attempt=job.attempt,
                offset_ms=self._trials.offset_ms(self._now_ns()),
            )
        )
        stage = await self._prepared(job)
        await self._begun(stage)
        while stage.open:
            await self._heard(stage)
        stage.gathering.conclude()
        if stage.gathering.flow.reason == "max_cost":
            self._control.stop("max_cost")
        return stage.gathering.flow.point(level_of(job.stage)), self._done(stage)

    # ---- its beginning ----------------------------------------------------------------

    async def _prepared(self, job: Job) -> "_Stage":
        """Share the stage out and wait until everyone is ready for it, or one is lost."""
        await self._crew.read_clocks()
        live = self._crew.live
        hands = live[: most_shares(job.stage, len(live))] if live else []
        now_ns = self._now_ns()
        stage = _Stage(
            job=job,
            hands=hands,
            gathering=Gathering.of(job.stage, job.slos, began_ns=now_ns),
            dealer=Dealer(left_usd=self._trials.purse.left_usd),
            spent_before_usd=self._trials.purse.spent_usd,
            unknown_before=self._trials.purse.unknown,
            used_before_ms=self._trials.clocks[job.target.id].used_before_ms,
        )
        slices = stage.dealer.first(hand.number for hand in hands) if hands else None
        used_ms = {key: clock.used_before_ms for key, clock in self._trials.clocks.items()}
        for index, hand in enumerate(hands):
            order = Prepare(
                target_id=job.target.id,
                case_id=job.case.info.id,
                stage=job.stage,
                attempt=job.attempt,
                share=Share(index=index, count=len(hands)),
                origin_ns=now_ns + hand.anchor.offset_ns,
                offset_ms=self._trials.offset_ms(now_ns),
                budget_used_ms=used_ms,
                slice_usd=None if slices is None else slices[hand.number],
            )
            stage.open.add(hand.number)
            await self._crew.tell(hand, order)
        if not hands:
            stage.gathering.flow.end("worker_lost", "no load process is left")
        while stage.open - stage.ready and not stage.gathering.flow.is_over:
            await self._heard(stage)
        return stage

    async def _begun(self, stage: "_Stage") -> None:
        """Tell all the same moment, still to come."""
        slowest_ns = max((hand.round_trip_ns for hand in stage.hands), default=0)
        flow = stage.gathering.flow
        flow.began_ns = self._now_ns() + _LEAD_NS + _ROUND_TRIPS * slowest_ns
        for hand in stage.hands:
            await self._crew.tell(hand, Begin(at_ns=flow.began_ns + hand.anchor.offset_ns))
        if flow.is_over:
            await self._finish(stage)

    # ---- while it runs ----------------------------------------------------------------

    async def _heard(self, stage: "_Stage") -> None:
        """Take the next word of anybody."""
        heard = await self._crew.inbox.get()
        if heard is None:
            await self._heed_control(stage)
            return
        hand, report = heard
        if hand.number not in stage.open:
            return
        was_over = stage.gathering.flow.is_over
        await self._take(stage, hand, report)
        if stage.gathering.flow.is_over and not was_over:
            await self._finish(stage)

    async def _take(self, stage: "_Stage", hand: Hand, report: Report | LoadProcessLost) -> None:
        match report:
            case Prepared():
                stage.ready.add(hand.number)
            case Progress():
                stage.gathering.progressed(hand.number, report)
                self._count(stage, report)
                if report.has_limit:  # as in one process: for all, and at once
                    self._control.stop("client_limit")
            case AskMoney():
                slice_usd, is_last = stage.dealer.more(hand.number, report.least_usd)
                await self._crew.tell(hand, Grant(slice_usd=slice_usd, is_last=is_last))
            case Ended():
                stage.open.discard(hand.number)
                stage.gathering.finished(hand.number, report)
                self._conclude(report)
                self._settle(stage)
            case Failed() | LoadProcessLost():
                stage.open.discard(hand.number)
                self._lost(stage, hand, report)
            case _:
                pass  # answered by the crew

    def _count(self, stage: "_Stage", progress: Progress) -> None:
        """Keep money, time and the display up to date."""
        self._settle(stage)
        self._crew.on_counted(progress.done, progress.failed, self._trials.purse)
        for busy in progress.busy:
            if busy.target_id == stage.job.target.id:
                stage.busy.add(busy.from_ms, busy.to_ms)
        clock = self._trials.clocks[stage.job.target.id]
        clock.used_before_ms = stage.used_before_ms + stage.busy.ms()
        if clock.is_spent(self._now_ns(), self._trials.budget_ms):
            stage.gathering.flow.end("budget", "budget")

    def _settle(self, stage: "_Stage") -> None:
        purse, gathering = self._trials.purse, stage.gathering
        purse.spent_usd = stage.spent_before_usd + gathering.spent_usd
        purse.unknown = stage.unknown_before + gathering.unknown_costs

    def _lost(self, stage: "_Stage", hand: Hand, loss: Failed | LoadProcessLost) -> None:
        """End the stage: what is sent from now on is not the load that was asked for.

        Nobody knows what the lost one spent beyond its last report: its slice counts as spent.
        """
        how = loss.how if isinstance(loss, LoadProcessLost) else loss.message
        stage.lost[hand.number] = how
        granted = stage.dealer.slices.get(hand.number)
        if granted is not None:
            stage.spent_before_usd += granted - stage.gathering.spent_by(hand.number)
            self._settle(stage)
        if isinstance(loss, Failed) and loss.is_disk_full:
            self._control.stop("disk_full")
        stage.gathering.flow.end("worker_lost", f"load process {hand.number} is gone: {how}")

    async def _finish(self, stage: "_Stage") -> None:
        flow = stage.gathering.flow
        for hand in stage.hands:
            if hand.number in stage.open:
                await self._crew.tell(
                    hand, Finish(reason=flow.reason or "stopped", detail=flow.detail)
                )

    async def _heed_control(self, stage: "_Stage") -> None:
        """Pass on why the run stops, once for each thing that is new in it."""
        control = self._control
        if control.reason is None:
            return
        incident = control.incident
        said = (control.reason, control.is_cancelled, incident is not None)
        if said == self._said:
            return
        self._said = said
        stage.gathering.flow.end("stopped", control.reason)
        for hand in self._crew.live:
            told = None if incident is None else self._crew.in_clock_of(hand, incident)
            order = Stop(reason=control.reason, cancels=control.is_cancelled, incident=told)
            await self._crew.tell(hand, order)

    # ---- its end ----------------------------------------------------------------------

    def _conclude(self, ended: Ended) -> None:
        """Take what decides the end of the run."""
        for fact in ended.facts:
            self._trials.facts[fact.trial_id] = Fact(
                target_id=fact.target_id,
                warmup=fact.warmup,
                finished_offset_ms=fact.finished_offset_ms,
                error_code=fact.error_code,
                is_invalidated=fact.is_invalidated,
            )
        self._crew.saw(ended.vantage)
        if ended.refusal is not None:
            self._trials.refuse_key(ended.refusal)

    def _short_of(self, stage: "_Stage") -> str:
        """Say that processes lost in an earlier stage were missing from the beginning of this one.

        It is the load that was asked for, from another load generator than the stages before.
        """
        began, asked = len(stage.hands), most_shares(stage.job.stage, self._crew.size)
        if began in {0, asked}:
            return ""
        return f"sent by {began} of {asked} load processes, the rest was lost before"

    def _done(self, stage: "_Stage") -> StageDone:
        job, gathering = stage.job, stage.gathering
        flow, ended = gathering.flow, gathering.ended
        point, connections = flow.point(level_of(job.stage)), stage.connections()
        began_ms, now_ms = map(self._trials.offset_ms, (flow.began_ns, self._now_ns()))
        sent_ms = [one.sending_ended_offset_ms for one in ended.values()]
        scheduled = [one.scheduled for one in ended.values() if one.scheduled is not None]
        return StageDone(
            target_id=job.target.id,
            case_id=job.case.info.id,
            number=job.stage.number,
            attempt=job.attempt,
            reason=flow.reason or "stopped",
            detail=ended_by(flow, connections, self._short_of(stage)),
            scheduled=sum(scheduled) if scheduled else None,
            sent=flow.sent,
            dropped=flow.dropped,
            late=flow.late,
            unreached=flow.unreached,
            unreached_by=flow.unreached_by,
            connections=connections,
            began_offset_ms=began_ms,
            sending_ended_offset_ms=max((ms for ms in sent_ms if ms is not None), default=now_ms),
            ended_offset_ms=max((one.ended_offset_ms for one in ended.values()), default=now_ms),
            total_p50_ms=point.total_p50_ms,
            success_rate=point.success_rate,
            attainment=point.attainment,
            client=worst_reading(one.client for one in ended.values()),
            senders=tuple(stage.sender(hand) for hand in stage.hands),
        )


@dataclass(slots=True, kw_only=True)
class _Stage:
    """One stage under way."""

    job: Job
    hands: list[Hand]
    gathering: Gathering
    dealer: Dealer
    spent_before_usd: float
    unknown_before: int
    used_before_ms: float
    busy: Union = field(default_factory=Union)
    open: set[int] = field(default_factory=set)
    """Load processes whose share is not over."""
    ready: set[int] = field(default_factory=set)
    lost: dict[int, str] = field(default_factory=dict)

    def connections(self) -> int | None:
        """Return how many could be open in all; ``None`` = as many as were asked for."""
        ended = [self.gathering.ended.get(hand.number) for hand in self.hands]
        if all(one is None or one.connections is None for one in ended):
            return None
        asked = self.job.stage.concurrency or 0
        return sum(
            part_of(asked, Share(index=index, count=len(ended)))
            if one is None or one.connections is None
            else one.connections
            for index, one in enumerate(ended)
        )

    def sender(self, hand: Hand) -> SenderReading:
        """Return what came of one share."""
        ended = self.gathering.ended.get(hand.number)
        return SenderReading(
            number=hand.number,
            sent=self.gathering.sent_by(hand.number),
            clock=hand.anchor,
            client=ClientReading() if ended is None else ended.client,
            lost=self.lost.get(hand.number),
        )
