"""The stages of a load block: those of the plan, or those that a sweep chooses one by one."""

from collections import defaultdict
from collections.abc import Callable
from typing import Protocol

import msgspec

from bench.load.blocks import UNFINISHED, following
from bench.load.saturation import Point, saturated
from bench.load.shapes import at_level, level_of
from bench.load.slo import read_slo
from bench.model.blocks import Block
from bench.model.load import Stage, StageDone
from bench.runner.assignment import Assignment
from bench.runner.control import Control
from bench.runner.flow import FEWEST_UNREACHED, unreached_words
from bench.runner.staged import Job
from bench.runner.trial import TrialRunner

_GIVEN_UP = {
    "errors": "too many errors",
    "saturated": "saturation",
    "skipped": "being skipped",
}
"""Ends of a stage behind which no heavier one is tried, in words."""


class Reach:
    """Which targets were there at all, over all stages of a run."""

    def __init__(self) -> None:
        self._missed: dict[str, tuple[int, str]] = {}
        self._found: set[str] = set()
        self._lost: dict[str, int] = {}
        self._answered: set[str] = set()
        self._failed: dict[str, int] = {}

    def saw(self, done: StageDone) -> None:
        """Take the end of a stage."""
        if done.unreached < done.sent:
            self._found.add(done.target_id)
        count, _ = self._missed.get(done.target_id, (0, ""))
        self._missed[done.target_id] = (count + done.unreached, done.unreached_by)
        is_lost = 0 < done.sent == done.unreached
        lost = self._lost.get(done.target_id, 0)
        self._lost[done.target_id] = lost + done.sent if is_lost else 0
        if done.success_rate:
            self._answered.add(done.target_id)
        elif done.success_rate is not None:
            self._failed[done.target_id] = self._failed.get(done.target_id, 0) + done.sent

    def missing(self, target_id: str) -> str:
        """Say that nobody was ever found there; empty = somebody was, or it is not sure."""
        count, code = self._missed.get(target_id, (0, ""))
        if target_id in self._found or count < FEWEST_UNREACHED:
            return ""
        return f"{target_id}: {unreached_words(count, code)}"

    def useless(self, target_id: str) -> str:
        """Say why an arm of a pair gives nothing to compare, while the other one is paid.

        Nobody was ever found there, or not any more, or each request from the first on failed.
        Empty = it gives something.
        """
        if why := self.missing(target_id):
            return why
        lost, failed = self._lost.get(target_id, 0), self._failed.get(target_id, 0)
        if lost >= FEWEST_UNREACHED:
            code = self._missed[target_id][1]
            return f"{target_id}: the last {lost} requests found nobody there any more: {code}"
        if target_id not in self._answered and failed >= FEWEST_UNREACHED:
            return f"{target_id}: each of the first {failed} requests failed"
        return ""


class StageRunner(Protocol):
    """Sends the requests of one stage: this process, or several that it leads."""

    async def run(self, job: Job) -> tuple[Point, StageDone]:
        """Run a stage until its last answer; its end is returned and not yet written."""
        ...


class Series:
    """Runs load blocks and remembers how the stages of each target and case ended.

    Args:
        assignment: What is asked, and what was recorded before.
        control: Says when to stop.
        trials: Sends and records one request.
        sender: Runs one stage to its end.
        now_ns: The monotonic clock.
    """

    def __init__(
        self,
        assignment: Assignment,
        control: Control,
        trials: TrialRunner,
        *,
        sender: StageRunner,
        now_ns: Callable[[], int],
    ) -> None:
        self.has_lost = False
        """A stage ended because one of its load processes was lost."""
        self._assignment = assignment
        self._control = control
        self._trials = trials
        self._now_ns = now_ns
        self._sender = sender
        self._slos = tuple(read_slo(text) for text in assignment.config.slos)
        self._reach = Reach()
        self._ended: dict[tuple[str, str], list[tuple[Stage, StageDone]]] = defaultdict(list)
        for stage, done in assignment.stages:
            self._ended[done.target_id, done.case_id].append((stage, done))

    async def run(self, block: Block) -> None:
        """Run the stages of a load block."""
        if block.stage is not None:
            await self._stage(block, block.stage)
        elif block.sweep is not None:
            while self._control.reason is None:
                ended = self._ended[block.target_id, block.case_id]
                level = following(block, ended)
                if level is None:
                    return
                stage = at_level(block.sweep, level, number=len(ended) + 1)
                if not await self._stage(block, stage):
                    return

    async def _stage(self, block: Block, stage: Stage) -> bool:
        """Run one stage; return whether it ended for a reason of its own."""
        if self._control.reason is not None:
            return False
        key = (block.target_id, block.case_id)
        ended = self._ended[key]
        nobody = self._nobody(block, stage)
        if nobody and stage.pair is not None:
            self._trials.left[f"{block.target_id}|{block.case_id}|s{stage.number}"] = nobody
            return False
        why = nobody or self._given_up(block)
        if why:
            self._trials.write(self._skipped(block, stage, why))
            return True
        job = Job(
            target=self._assignment.targets[block.target_id],
            case=self._assignment.cases[block.case_id],
            stage=stage,
            attempt=self._assignment.stage_attempts.get((*key, stage.number), 0) + 1,
            seed=self._assignment.config.seed,
            slos=self._slos,
        )
        point, done = await self._sender.run(job)
        self._reach.saw(done)
        base = _point(*ended[0]) if ended else None
        too_much = saturated(point, base)
        if too_much is None and done.reason == "saturated":
            too_much = "degradation"
        done = msgspec.structs.replace(done, saturated=too_much)
        self._trials.write(done)
        self.has_lost |= done.reason == "worker_lost"
        if done.reason in UNFINISHED:
            self._trials.left[f"{block.target_id}|{block.case_id}|s{stage.number}"] = done.detail
            return False
        ended.append((stage, done))
        return True

    def _nobody(self, block: Block, stage: Stage) -> str:
        """Say that there is no endpoint; of a pair both arms must be there. Empty = there may be."""
        if stage.pair is None:
            return self._reach.missing(block.target_id)
        asked = self._assignment.targets
        return next((why for one in asked if (why := self._reach.useless(one))), "")

    def _given_up(self, block: Block) -> str:
        """Say that an earlier stage showed enough; empty = it did not."""
        ended = self._ended[block.target_id, block.case_id]
        gave_up = (done for _, done in ended if done.reason in _GIVEN_UP)
        if block.sweep is None and (first := next(gave_up, None)) is not None:
            return f"stage {first.number} had ended by {_GIVEN_UP[first.reason]}"
        return ""

    def _skipped(self, block: Block, stage: Stage, why: str) -> StageDone:
        now_ms = self._trials.offset_ms(self._now_ns())
        done = StageDone(
            target_id=block.target_id,
            case_id=block.case_id,
            number=stage.number,
            attempt=self._assignment.stage_attempts.get(
                (block.target_id, block.case_id, stage.number), 0
            )
            + 1,
            reason="skipped",
            detail=why,
            began_offset_ms=now_ms,
            sending_ended_offset_ms=now_ms,
            ended_offset_ms=now_ms,
        )
        self._ended[block.target_id, block.case_id].append((stage, done))
        return done


def _point(stage: Stage, done: StageDone) -> Point:
    return Point(
        level=level_of(stage),
        total_p50_ms=done.total_p50_ms,
        success_rate=done.success_rate,
        attainment=done.attainment,
    )
