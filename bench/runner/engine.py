"""The order of a run: blocks, warm-ups, workers; and how it ended.

Blocks run one after another; up to ``parallel_groups`` neighbouring blocks that need not be alone
run side by side, shared evenly between targets. Inside a block as many workers as its concurrency take trials in order.
"""

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.budget import NS_PER_MS
from bench.errors import JournalUnwritable
from bench.garbage import rarely_collected
from bench.load.blocks import is_load
from bench.model.blocks import Block, PlannedTrial
from bench.model.case import Instance
from bench.model.footer import NotRun, StopReason
from bench.model.surroundings import Incident, Sample
from bench.model.trial import Response
from bench.runner.assignment import Assignment
from bench.runner.control import Control
from bench.runner.ending import concluded, exit_code
from bench.runner.flights import OnIncident, Ports
from bench.runner.series import Series, StageRunner
from bench.runner.staged import StageSender
from bench.runner.trial import OnTrial, TrialRunner

if TYPE_CHECKING:
    from bench.runner.crew import Crew

_NAP_S = 0.5
_STAGGER_S = 0.004


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How the measuring ended: what the footer says, and what broke it."""

    reason: StopReason
    exit_code: int
    not_run: tuple[NotRun, ...]
    budget_used_ms: dict[str, float]
    spent_usd: float | None
    refusal: Response | None = None
    """The first answer, when it refused the key."""
    fault: JournalUnwritable | None = None
    """The record that could not be written."""


class Runner:
    """Runs an assignment to its end.

    Args:
        assignment: What is asked.
        ports: The outside world.
        control: Says when to stop; signals and the watcher reach the run through it.
        on_trial: Called with each recorded trial, for the progress display.
        on_incident: Called with each recorded incident, for the same.
        crew: Load processes that send the stages; ``None`` = this process does.
    """

    def __init__(
        self,
        assignment: Assignment,
        ports: Ports,
        control: Control,
        *,
        on_trial: OnTrial,
        on_incident: OnIncident = lambda _: None,
        crew: "Crew | None" = None,
    ) -> None:
        self._assignment = assignment
        self._ports = ports
        self._control = control
        self._crew = crew
        self._trials = TrialRunner(
            assignment, ports, control, on_trial=on_trial, on_incident=on_incident
        )
        sender: StageRunner = StageSender(self._trials, ports, control)
        if crew is not None:
            from bench.runner.shared import SharedStages  # most runs send by themselves

            sender = SharedStages(self._trials, ports, control, crew=crew)
        self._series = Series(
            assignment, control, self._trials, sender=sender, now_ns=ports.clock.now_ns
        )

    async def run(self) -> RunEnd:
        """Ask everything that may be asked; every trial is in the journal when this returns."""
        with rarely_collected():
            blocks, is_spread = self._assignment.blocks, self._assignment.config.spread_ms
            # Over hours blocks have room enough: side by side they would fall into one moment.
            stretches = [[block] for block in blocks] if is_spread else list(_stretches(blocks))
            began_ns = self._ports.clock.now_ns()
            for number, stretch in enumerate(stretches):
                share = number / len(stretches)
                await self._spread(began_ns, share)
                await self._side_by_side(stretch)
        return self._end()

    def offset_ms(self, at_ns: int) -> float:
        """Return a monotonic reading as an offset of this run."""
        return self._trials.offset_ms(at_ns)

    def take_incident(self, incident: Incident) -> None:
        """Record an incident at once; one that the watcher calls fatal ends the run."""
        if self._ports.watch.fatal() is incident:
            self._control.lose_gateway(incident)
        self._trials.note(incident)
        if self._crew is not None:
            self._crew.note(incident)

    def take_sample(self, sample: Sample) -> None:
        """Record a sample of the gateway's resource use."""
        self._trials.write(sample)

    async def _spread(self, began_ns: int, share: float) -> None:
        """Wait until so much of the time has passed over which the plan is spread.

        What a resumed run has left, it spreads over what is left of the time.
        """
        spread_ms = self._assignment.config.spread_ms or 0.0
        left_ms = max(0.0, spread_ms - self._assignment.offset_ms)
        due_ns = began_ns + left_ms * share * NS_PER_MS
        while self._control.reason is None and (now_ns := self._ports.clock.now_ns()) < due_ns:
            await self._ports.sleep(min(_NAP_S, (due_ns - now_ns) / 1e9))

    async def _side_by_side(self, stretch: list[Block]) -> None:
        waiting = list(stretch)
        groups = 1 if stretch[0].alone else self._assignment.config.parallel_groups
        under_way: Counter[str] = Counter()

        async def work() -> None:
            while waiting:
                # The first in plan order of the target that has least under way: a target that
                # answers slowly, or not at all, never holds all the places.
                block = min(waiting, key=lambda each: under_way[each.target_id])
                waiting.remove(block)
                under_way[block.target_id] += 1
                await self._block(block)
                under_way[block.target_id] -= 1

        async with asyncio.TaskGroup() as group:
            for _ in range(min(groups, len(stretch))):
                group.create_task(work())

    async def _block(self, block: Block) -> None:
        if is_load(block):
            await self._series.run(block)
            return
        case = self._assignment.cases[block.case_id]
        instances = {trial.seed: case.build(trial.seed) for trial in block.trials}
        for is_warmup in (True, False):
            trials = deque(trial for trial in block.trials if trial.warmup is is_warmup)
            workers = min(block.concurrency, len(trials))
            is_loaded = block.alone and workers > 1
            if is_loaded:
                await self._ports.client_of(block.target_id).open_connections(workers)
            async with asyncio.TaskGroup() as group:
                for worker in range(workers):
                    if is_loaded and worker and not is_warmup:
                        # Sent in one tick, the last would wait for all the others to be sent.
                        await self._ports.sleep(_STAGGER_S)
                    group.create_task(self._work(trials, instances))

    async def _work(self, trials: deque[PlannedTrial], instances: dict[int, Instance]) -> None:
        while trials:
            planned = trials.popleft()
            await self._trials.run(planned, instances[planned.seed])

    def _end(self) -> RunEnd:
        left = self._trials.left
        facts = self._trials.facts
        targets = [
            target_id
            for target_id in self._assignment.targets
            if any(block.target_id == target_id for block in self._assignment.blocks)
            or any(fact.target_id == target_id for fact in facts.values())
        ]
        reason = self._control.reason or concluded(targets, facts.values(), is_cut=bool(left))
        if reason == "budget" and self._series.has_lost:
            reason = "worker_lost"
        now_ns = self._ports.clock.now_ns()
        purse = self._trials.purse
        return RunEnd(
            reason=reason,
            exit_code=exit_code(
                reason,
                signal_number=self._control.signal_number,
                require_complete=self._assignment.require_complete,
            ),
            not_run=tuple(NotRun(trial_id=i, reason=why) for i, why in left.items()),
            budget_used_ms={t: clock.used_ms(now_ns) for t, clock in self._trials.clocks.items()},
            spent_usd=None if purse.unknown else purse.spent_usd,
            refusal=self._trials.first_refusal,
            fault=self._trials.fault,
        )


def _stretches(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Return runs of neighbouring blocks that may share the line; a lone block is its own."""
    for alone, neighbours in itertools.groupby(blocks, key=lambda block: block.alone):
        if alone:
            yield from ([block] for block in neighbours)
        else:
            yield list(neighbours)
