"""How much of the plan was measured, target by target."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from bench.ledger import Ledger
from bench.load.blocks import is_load
from bench.load.columns import ARRIVED
from bench.model.blocks import PlannedTrial
from bench.model.document import Completeness, TargetCompleteness
from bench.model.footer import NotRun
from bench.model.steps import Started
from bench.model.target import Target
from bench.model.trial import Trial
from bench.summary.selection import is_cancelled, is_counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Unended:
    """Requests without a recorded end."""

    lost: tuple[Started, ...]
    """Of processes that are gone."""
    in_flight: tuple[Started, ...] | None
    """Of the process that is measuring; ``None`` = none is."""

    @property
    def trial_ids(self) -> set[str]:
        """Return the trials that they were sent for."""
        return {start.trial_id for start in (*self.lost, *(self.in_flight or ()))}


def unended(ledger: Ledger, *, is_going_on: bool) -> Unended:
    """Tell the requests that a living process waits for from those that were lost."""
    if not is_going_on:
        return Unended(lost=ledger.possibly_billed, in_flight=None)
    # A process that goes on begins at the last recorded moment: often that of the request that the
    # killed one had just sent.
    before_ms = ledger.resumed[-1].offset_ms if ledger.resumed else -inf
    starts = ledger.possibly_billed
    return Unended(
        lost=tuple(start for start in starts if start.offset_ms <= before_ms),
        in_flight=tuple(start for start in starts if start.offset_ms > before_ms),
    )


def completeness(
    ledger: Ledger, planned: Sequence[PlannedTrial], open_ones: Unended
) -> Completeness:
    """Count the plan's measured trials by how they ended; warm-ups count nowhere here."""
    targets = tuple(_target(target, ledger, planned, open_ones) for target in ledger.header.targets)
    wanted = sum(target.planned or 0 for target in targets)
    done = sum(target.done for target in targets)
    answered = {trial.id for trial in ledger.trials if is_counted(trial)}
    footer = ledger.footer
    return Completeness(
        planned=wanted,
        done=done,
        failed=sum(target.failed for target in targets),
        is_complete=all(plan.warmup or plan.id in answered for plan in planned)
        and all(ledger.stages.is_finished(block) for block in ledger.header.plan if is_load(block)),
        reason=None if footer is None else footer.reason,
        exit_code=None if footer is None else footer.exit_code,
        resumed=len(ledger.resumed),
        damaged_lines=ledger.damaged_lines,
        in_flight=None if open_ones.in_flight is None else len(open_ones.in_flight),
        targets=targets,
    )


def recorded_only(targets: Sequence[Target], trials: Sequence[Trial]) -> Completeness:
    """Count trials of a run whose plan nobody recorded."""
    parts = tuple(_counts(target, trials, planned=None) for target in targets)
    return Completeness(
        planned=None,
        done=sum(part.done for part in parts),
        failed=sum(part.failed for part in parts),
        is_complete=None,
        reason=None,
        exit_code=None,
        targets=parts,
    )


def not_run(
    ledger: Ledger, planned: Sequence[PlannedTrial], open_ones: Unended
) -> tuple[NotRun, ...]:
    """List planned trials that were never sent, with the reason.

    Where no process could write the reason any more it is ``killed``, and ``not_yet`` where one
    still measures.
    """
    sent = {trial.id for trial in ledger.trials} | open_ones.trial_ids
    footer = ledger.footer
    reasons = {} if footer is None else {entry.trial_id: entry.reason for entry in footer.not_run}
    unsaid = "killed" if open_ones.in_flight is None else "not_yet"
    otherwise = unsaid if footer is None else footer.reason
    return tuple(
        NotRun(trial_id=trial.id, reason=reasons.get(trial.id, otherwise))
        for trial in planned
        if trial.id not in sent
    )


def _target(
    target: Target, ledger: Ledger, planned: Sequence[PlannedTrial], open_ones: Unended
) -> TargetCompleteness:
    lost = {start.trial_id for start in open_ones.lost}
    own = {plan.id for plan in planned if plan.target_id == target.id and not plan.warmup}
    recorded = [trial for trial in ledger.trials if trial.id in own]
    unanswered = own - {trial.id for trial in recorded}
    counts = _counts(target, recorded, planned=len(own))
    staged = _staged(target, ledger)
    staged_lost = staged.lost if open_ones.in_flight is None else 0
    return TargetCompleteness(
        target_id=counts.target_id,
        planned=len(own) + (staged.planned or 0),
        done=counts.done + staged.done,
        failed=counts.failed + staged.failed,
        invalidated=counts.invalidated + staged.invalidated,
        cancelled=counts.cancelled + staged.cancelled,
        lost=len(unanswered & lost) + staged_lost,
        not_run=len(unanswered - open_ones.trial_ids) + staged.not_run,
    )


def _staged(target: Target, ledger: Ledger) -> TargetCompleteness:
    """Count the trials of load stages; a finished stage was worth what came of it."""
    entries = ledger.stages.of(target.id)
    expected = ledger.stages.expected(ledger.header.plan).items()
    planned = sum(count for (target_id, _), count in expected if target_id == target.id)
    done = sum(entry.columns.count() for entry in entries)
    failed = done - sum(entry.columns.count(ARRIVED) for entry in entries)
    recorded = sum(entry.recorded for entry in entries)
    cancelled = sum(entry.columns.cancelled for entry in entries)
    lost = sum(entry.lost for entry in entries)
    return TargetCompleteness(
        target_id=target.id,
        planned=planned,
        done=done,
        failed=failed,
        invalidated=recorded - done - cancelled,
        cancelled=cancelled,
        lost=lost,
        not_run=max(0, planned - recorded - lost),
    )


def _counts(target: Target, trials: Sequence[Trial], *, planned: int | None) -> TargetCompleteness:
    measured = [trial for trial in trials if trial.target_id == target.id and not trial.warmup]
    ends = Counter(map(_end, measured))
    return TargetCompleteness(
        target_id=target.id,
        planned=planned,
        done=ends["answered"] + ends["failed"],
        failed=ends["failed"],
        invalidated=ends["invalidated"],
        cancelled=ends["cancelled"],
    )


def _end(trial: Trial) -> str:
    if is_cancelled(trial):
        return "cancelled"
    if not is_counted(trial):
        return "invalidated"
    return "answered" if trial.response.error is None else "failed"
