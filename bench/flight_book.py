"""The requests of a journal: begun, answered, refused, lost; their money and their time. Pure.

A request is in flight from its ``started`` record to the record of its trial, turn or refusal. What
has no such end when its process ends was lost: it may have been billed, and counts as spent.
"""

from collections import defaultdict
from collections.abc import Mapping

from bench.budget import Union
from bench.charges import ChargeBook
from bench.model.blocks import PlannedTrial
from bench.model.steps import AttemptRefused, Started, TrialDone, TurnDone
from bench.model.trial import Refusal


class FlightBook:
    """Takes the records of requests in the order in which they were written.

    Args:
        planned: Trial id → its trial, of those that the plan names.
    """

    def __init__(self, planned: Mapping[str, PlannedTrial]) -> None:
        self.charges = ChargeBook()
        self.lost: list[Started] = []
        """Without an end when their process ended."""
        self.busy: dict[str, Union] = defaultdict(Union)
        """Target id → when one of its requests was in flight."""
        self.attempts: dict[str, int] = {}
        """Trial id → number of its last attempt; trials of load stages are left out."""
        self.refusals: dict[str, tuple[Refusal, ...]] = {}
        self.offset_ms = 0.0
        """The last moment that was recorded."""
        self._planned = planned
        self._open: dict[tuple[str, int, int | None], list[Started]] = {}

    def begun(self, record: Started) -> None:
        """A request is about to be sent."""
        key = (record.trial_id, record.attempt)
        self._open.setdefault((*key, record.turn), []).append(record)
        self.charges.started(record)
        if record.stage is None:
            self._count_attempt(*key)
        self.reach(record.offset_ms)

    def refused(self, record: AttemptRefused) -> None:
        """HTTP 429 refused a request."""
        refusal, target_id = record.refusal, self._target_of(record.trial_id)
        self._open.pop((record.trial_id, refusal.attempt, record.turn), None)
        self.charges.refused(record, target_id)
        self.busy[target_id].add(refusal.started_offset_ms, refusal.finished_offset_ms)
        if record.turn is None:
            self.refusals[record.trial_id] = (*self.refusals.get(record.trial_id, ()), refusal)
            self._count_attempt(record.trial_id, refusal.attempt)
        self.reach(refusal.finished_offset_ms)

    def turned(self, record: TurnDone) -> None:
        """A turn of an agentic trial ended."""
        turn = record.turn
        self._open.pop((record.trial_id, record.attempt, turn.number), None)
        self.charges.turned(record, self._target_of(record.trial_id))
        self._count_attempt(record.trial_id, record.attempt)
        if (planned := self._planned.get(record.trial_id)) is not None:
            span = (turn.started_offset_ms, turn.answered_offset_ms)
            self.busy[planned.target_id].add(*span)
        self.reach(turn.answered_offset_ms)

    def finished(self, record: TrialDone) -> None:
        """A trial ended, and with it the request that was in flight for it."""
        trial = record.trial
        self._open.pop((trial.id, record.attempt, None), None)
        self.charges.finished(record)
        if trial.agent is None:  # an agentic trial is in flight turn by turn
            self.busy[trial.target_id].add(trial.started_offset_ms, trial.finished_offset_ms)
        if trial.stage is None:
            self._count_attempt(trial.id, record.attempt)
        self.reach(trial.finished_offset_ms)

    def lose_open(self) -> tuple[Started, ...]:
        """Return what was open when its process ended; it lasted until the last recorded moment."""
        lost = tuple(start for starts in self._open.values() for start in starts)
        for start in lost:
            self.charges.lost(start, self._target_of(start.trial_id))
            if (planned := self._planned.get(start.trial_id)) is not None:
                self.busy[planned.target_id].add(start.offset_ms, self.offset_ms)
        self.lost += lost
        self._open.clear()
        return lost

    def reach(self, offset_ms: float) -> None:
        """Something was recorded at this moment."""
        self.offset_ms = max(self.offset_ms, offset_ms)

    def _count_attempt(self, trial_id: str, attempt: int) -> None:
        self.attempts[trial_id] = max(attempt, self.attempts.get(trial_id, 0))

    def _target_of(self, trial_id: str) -> str:
        planned = self._planned.get(trial_id)
        return trial_id.partition("|")[0] if planned is None else planned.target_id
