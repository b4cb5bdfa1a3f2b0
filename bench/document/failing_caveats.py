"""What kept a target from answering, in its own words where it had any."""

from collections.abc import Iterable, Sequence

from bench.model.document import Caveat, Completeness, TargetCompleteness
from bench.model.trial import NEVER_REACHED, Trial
from bench.summary.reliability import commonest_failure


def provider_down(
    completeness: Completeness, trials: Sequence[Trial], *, is_watched: bool
) -> Iterable[Caveat]:
    """Yield which targets the run gave up, and what their last requests ended in.

    Args:
        completeness: Of the run.
        trials: Of all targets.
        is_watched: A job watched the gateway: a failure that it did not explain was not its.
    """
    if completeness.reason != "provider_down":
        return
    for target in completeness.targets:
        name, errors = target.target_id, _last_errors(trials, target.target_id)
        told = ", ".join(f"`{code}`" for code in dict.fromkeys(errors))
        if errors and _has_no_answer(target):
            yield Caveat(
                code="provider_down",
                level="broken",
                text=f"Nothing of {name} answered: {_all(target.failed)} ended in {told}"
                f"{_of_tls(trials, name, errors[-1])}. Measure again once it answers.",
            )
        elif errors:
            whose = "The gateway was watched and lived; these" if is_watched else "These"
            is_gone = set(errors) <= NEVER_REACHED and not is_watched
            who = f"{name} is gone" if is_gone else f"The provider behind {name} failed"
            yield Caveat(
                code="provider_down",
                level="broken",
                text=f"{who}: the last {_requests(len(errors))} "
                f"ended in {told}. {whose} trials count as failures of the target. Measure again once it answers.",
            )


def _of_tls(trials: Sequence[Trial], target_id: str, last: str) -> str:
    """Return what was wrong with TLS and what to do: no waiting mends that."""
    errors = (t.response.error for t in trials if t.target_id == target_id)
    said = [error.message for error in errors if error is not None and error.code == last]
    if last != "tls_error" or not said:
        return ""
    return f" ({said[-1]}): check the address, or name who vouches for it with `--cacert FILE`"


def _last_errors(trials: Sequence[Trial], target_id: str) -> list[str]:
    """Return the codes of the failures at the end of a target's trials, latest last."""
    codes: list[str] = []
    for trial in sorted(trials, key=lambda trial: trial.finished_offset_ms):
        if trial.target_id == target_id and trial.invalidated is None:
            error = trial.response.error
            codes = [] if error is None else [*codes, error.code]
    return codes


def nothing_answered(completeness: Completeness, trials: Sequence[Trial]) -> Iterable[Caveat]:
    """Yield which targets gave no answer at all, and what they said instead."""
    if completeness.reason == "provider_down":
        return  # said there
    for target in completeness.targets:
        if _has_no_answer(target):
            yield Caveat(
                code="no_success",
                level="broken",
                text=f"No request to {target.target_id} succeeded ({target.failed} failed): it has "
                f"no speed or quality figures.{_said(trials, target.target_id)} Its errors stand "
                "below the figures.",
            )


def _said(trials: Sequence[Trial], target_id: str) -> str:
    said = commonest_failure(trial for trial in trials if trial.target_id == target_id)
    return f" It said: {said.rstrip('. ')}." if said else ""


def _all(count: int) -> str:
    return "its only request" if count == 1 else f"all {count:,} requests"


def _has_no_answer(target: TargetCompleteness) -> bool:
    return 0 < target.done == target.failed


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count} requests"
