"""The load stages of a journal: columns of all their trials, and a sample of the trials themselves.

A million trials are kept as about 100 bytes each; the sample, drawn evenly over the whole run, is
what figures stand on that are not those of load.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from bench.load.blocks import UNFINISHED, is_finished, is_load
from bench.load.columns import StageColumns
from bench.load.shapes import planned_requests
from bench.load.slo import Slo, read_slo
from bench.model.blocks import Block, PlannedTrial
from bench.model.load import Stage, StageBegun, StageDone
from bench.model.run_config import RunConfig
from bench.model.surroundings import Incident
from bench.model.trial import Trial

MOST_KEPT = 10_000
"""Trials of load stages that are kept as records."""

Key = tuple[str, str, int]
"""Target, case, number of the stage."""


@dataclass(slots=True, kw_only=True)
class StageEntry:
    """One stage as it was measured last."""

    begun: StageBegun
    columns: StageColumns
    done: StageDone | None = None
    lost: int = 0
    """Requests whose end was not recorded."""

    @property
    def stage(self) -> Stage:
        """What was to be kept up."""
        return self.begun.stage

    @property
    def is_finished(self) -> bool:
        """Whether it ended for a reason of its own."""
        is_ended = self.done is not None and self.done.reason not in UNFINISHED
        return is_ended and not self.columns.set_aside

    @property
    def recorded(self) -> int:
        """How many of its measured trials have a record."""
        return len(self.columns.marks)

    @property
    def planned(self) -> int:
        """How many measured trials it was to have: what came of it, once it is finished."""
        sent = self.recorded + self.lost
        return sent if self.is_finished else max(sent + 1, planned_requests(self.stage) or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """All load stages of a run."""

    entries: tuple[StageEntry, ...] = ()
    """In the order in which they were begun last."""
    attempts: Mapping[Key, int] = field(default_factory=dict)
    sampled_of: int = 0
    """How many trials the kept ones stand for; 0 = nothing was left out."""

    @property
    def finished(self) -> tuple[tuple[Stage, StageDone], ...]:
        """The stages that are not run again, with their ends."""
        return tuple((e.stage, e.done) for e in self.entries if e.done and e.is_finished)

    def is_finished(self, block: Block) -> bool:
        """Return whether nothing of a load block is left to be run."""
        own = [
            (stage, done)
            for stage, done in self.finished
            if (done.target_id, done.case_id) == (block.target_id, block.case_id)
        ]
        return is_finished(block, own)

    def missing(self, plan: Iterable[Block], *, seed: int) -> Iterator[PlannedTrial]:
        """Yield for each load block that is not through the first trial of what is left of it."""
        for block in plan:
            if is_load(block) and not self.is_finished(block):
                own = self.of(block.target_id, block.case_id)
                ahead = 1 + sum(entry.is_finished for entry in own)
                number = ahead if block.stage is None else block.stage.number
                yield PlannedTrial(
                    id=f"{block.target_id}|{block.case_id}|s{number}r1",
                    target_id=block.target_id,
                    case_id=block.case_id,
                    run=1,
                    seed=seed,
                    stage=number,
                )

    def expected(self, blocks: Iterable[Block]) -> dict[tuple[str, str], int]:
        """Return by target and case how many measured trials the load blocks are worth."""
        worth: dict[tuple[str, str], int] = {}
        begun = set()
        for entry in self.entries:
            key = (entry.begun.target_id, entry.begun.case_id)
            begun.add((*key, entry.stage.number))
            worth[key] = worth.get(key, 0) + entry.planned
        for block in blocks:
            key, stage = (block.target_id, block.case_id), block.stage
            if stage is not None and (*key, stage.number) not in begun:
                worth[key] = worth.get(key, 0) + (planned_requests(stage) or 1)
            if block.sweep is not None and not self.is_finished(block):
                worth[key] = worth.get(key, 0) + all(entry.is_finished for entry in self.of(*key))
        return worth

    def of(self, target_id: str, case_id: str | None = None) -> tuple[StageEntry, ...]:
        """Return the stages of one target, of one of its cases or of all."""
        return tuple(
            entry
            for entry in self.entries
            if entry.begun.target_id == target_id and case_id in {None, entry.begun.case_id}
        )


class StageBook:
    """Takes the records of load stages in the order in which they were written."""

    def __init__(self, config: RunConfig) -> None:
        self.kept: list[tuple[str, Trial]] = []
        """The sample."""
        self._slos: tuple[Slo, ...] = tuple(map(read_slo, config.slos))
        self._entries: dict[Key, StageEntry] = {}
        self._attempts: dict[Key, int] = {}
        self._seen = 0
        self._random = Random(1)

    def enter(self, record: StageBegun | StageDone) -> None:
        """Begin or end a stage; what an earlier attempt measured of it counts no more."""
        if isinstance(record, StageDone):
            self._ended(record)
        else:
            self._begun(record)

    def _begun(self, record: StageBegun) -> None:
        key = (record.target_id, record.case_id, record.stage.number)
        self._attempts[key] = max(record.attempt, self._attempts.get(key, 0))
        self._entries.pop(key, None)
        self._entries[key] = StageEntry(begun=record, columns=StageColumns(self._slos))
        mark = f"{key[0]}|{key[1]}|s{key[2]}"
        self.kept = [(stage, trial) for stage, trial in self.kept if stage != mark]

    def _ended(self, record: StageDone) -> None:
        key = (record.target_id, record.case_id, record.number)
        if key not in self._entries:  # it was skipped
            self._attempts[key] = max(record.attempt, self._attempts.get(key, 0))
            begun = StageBegun(
                target_id=record.target_id,
                case_id=record.case_id,
                stage=Stage(number=record.number),
                offset_ms=record.began_offset_ms,
            )
            self._entries[key] = StageEntry(begun=begun, columns=StageColumns(self._slos))
        self._entries[key].done = record

    def take(self, trial: Trial) -> None:
        """Take a trial of a stage that has begun."""
        key = (trial.target_id, trial.case_id, trial.stage or 0)
        entry = self._entries.get(key)
        if entry is None:
            return
        if trial.warmup:
            entry.columns.warmups += 1
        else:
            entry.columns.add(trial)
        self._sample(f"{key[0]}|{key[1]}|s{key[2]}", trial)

    def lose(self, trial_id: str) -> None:
        """Count a request whose end was not recorded."""
        entry = self._entry_of(trial_id)
        if entry is not None:
            entry.lost += 1

    def set_aside(self, incident: Incident) -> None:
        """Mark trials that an incident found out after they had been recorded."""
        by_stage: dict[Key, set[int]] = {}
        for trial_id in incident.touched_trials:
            entry, (_, _, end) = self._entry_of(trial_id), trial_id.rpartition("|")
            number = end.rpartition("r")[2]
            if entry is not None and number.isdecimal():
                begun = entry.begun
                key = (begun.target_id, begun.case_id, begun.stage.number)
                by_stage.setdefault(key, set()).add(int(number))
        for key, numbers in by_stage.items():
            self._entries[key].columns.set_trials_aside(frozenset(numbers))

    def close(self) -> Stages:
        """Return what was taken."""
        return Stages(
            entries=tuple(self._entries.values()),
            attempts=dict(self._attempts),
            sampled_of=self._seen if self._seen > MOST_KEPT else 0,
        )

    def _sample(self, stage: str, trial: Trial) -> None:
        """Keep an even sample of all trials (Vitter's algorithm R)."""
        self._seen += 1
        if len(self.kept) < MOST_KEPT:
            self.kept.append((stage, trial))
        elif (place := self._random.randrange(self._seen)) < MOST_KEPT:
            self.kept[place] = (stage, trial)

    def _entry_of(self, trial_id: str) -> StageEntry | None:
        stage, bar, end = trial_id.rpartition("|")
        number = end[1:].partition("r")[0].partition("w")[0]
        if not bar or not end.startswith("s") or not number.isdecimal():
            return None
        target_id, _, case_id = stage.rpartition("|")
        return self._entries.get((target_id, case_id, int(number)))
