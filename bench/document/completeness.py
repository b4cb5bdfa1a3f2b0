"""How much of the plan was measured, target by target."""

from collections import Counter
from collections.abc import Sequence

from bench.ledger import Ledger
from bench.model.document import Completeness, TargetCompleteness
from bench.model.run import NotRun, PlannedTrial
from bench.model.target import Target
from bench.model.trial import Trial
from bench.summary.selection import is_cancelled, is_counted


def completeness(ledger: Ledger, planned: Sequence[PlannedTrial]) -> Completeness:
    """Count the plan's measured trials by how they ended; warm-ups count nowhere here."""
    lost = {start.trial_id for start in ledger.possibly_billed}
    targets = tuple(_target(target, ledger, planned, lost) for target in ledger.header.targets)
    wanted = sum(target.planned or 0 for target in targets)
    done = sum(target.done for target in targets)
    answered = {trial.id for trial in ledger.trials if is_counted(trial)}
    footer = ledger.footer
    return Completeness(
        planned=wanted,
        done=done,
        failed=sum(target.failed for target in targets),
        is_complete=all(plan.warmup or plan.id in answered for plan in planned),
        reason=None if footer is None else footer.reason,
        exit_code=None if footer is None else footer.exit_code,
        resumed=len(ledger.resumed),
        damaged_lines=ledger.damaged_lines,
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


def not_run(ledger: Ledger, planned: Sequence[PlannedTrial]) -> tuple[NotRun, ...]:
    """List planned trials that were never sent, with the reason.

    Where no process could write the reason any more it is ``killed``.
    """
    sent = {trial.id for trial in ledger.trials}
    sent |= {start.trial_id for start in ledger.possibly_billed}
    footer = ledger.footer
    reasons = {} if footer is None else {entry.trial_id: entry.reason for entry in footer.not_run}
    otherwise = "killed" if footer is None else footer.reason
    return tuple(
        NotRun(trial_id=trial.id, reason=reasons.get(trial.id, otherwise))
        for trial in planned
        if trial.id not in sent
    )


def _target(
    target: Target, ledger: Ledger, planned: Sequence[PlannedTrial], lost: set[str]
) -> TargetCompleteness:
    own = {plan.id for plan in planned if plan.target_id == target.id and not plan.warmup}
    recorded = [trial for trial in ledger.trials if trial.id in own]
    unanswered = own - {trial.id for trial in recorded}
    counts = _counts(target, recorded, planned=len(own))
    return TargetCompleteness(
        target_id=counts.target_id,
        planned=counts.planned,
        done=counts.done,
        failed=counts.failed,
        invalidated=counts.invalidated,
        cancelled=counts.cancelled,
        lost=len(unanswered & lost),
        not_run=len(unanswered - lost),
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
