"""Which trials enter which figure. Every exclusion of the benchmark is decided here.

counted     measured, not a warm-up, not touched by an incident, not cancelled
judged      counted trials of quality cases with a verdict
arrived     counted trials whose answer came back whole, failed evaluations included
proven      counted, and answered by the target that was asked, not from a response cache
pinned      proven, arrived, and no failed evaluation
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.charges import Spend
from bench.model.blocks import PlannedTrial
from bench.model.case import CaseInfo
from bench.model.summary import Excluded
from bench.model.target import Target
from bench.model.trial import Trial
from bench.stage_book import Stages

CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a summary is computed from."""

    targets: tuple[Target, ...]
    cases: tuple[CaseInfo, ...]
    trials: tuple[Trial, ...]
    """The last record of each trial id."""
    reference: str | None
    """Target whose answers others are compared with."""
    planned: tuple[PlannedTrial, ...] | None = None
    """``None`` where no plan was recorded (documents of the seed system)."""
    spend: Mapping[str, Spend] = field(default_factory=dict)
    """By target id."""
    stages: Stages = field(default_factory=Stages)
    expected: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By target and case: measured trials that its load stages are worth."""
    agents: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """By target id: agentic figures that a document of the seed system brought along."""


def is_cancelled(trial: Trial) -> bool:
    """Return whether the user (or the end of the run) cut this trial short."""
    return trial.outcome == "cancelled" or trial.invalidated == CANCELLED


def is_counted(trial: Trial) -> bool:
    """Return whether the trial may enter a rate, score or latency."""
    return not trial.warmup and trial.invalidated is None and not is_cancelled(trial)


def counted(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials that may enter figures."""
    return tuple(trial for trial in trials if is_counted(trial))


def arrived(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials without an error, failed evaluations included."""
    return tuple(trial for trial in trials if trial.response.error is None)


def proven(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials less violations: what a score of the target may stand on."""
    return tuple(trial for trial in trials if trial.violation is None)


def is_pinned(trial: Trial) -> bool:
    """Return whether a timing of the target may stand on this counted trial."""
    return trial.is_valid and trial.violation is None


def pinned(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return valid trials less violations."""
    return tuple(trial for trial in trials if is_pinned(trial))


def violations(trials: Iterable[Trial]) -> Excluded:
    """Count trials that are left out as violations, each once, by its first reason."""
    reasons = [trial.violation for trial in trials]
    return Excluded(
        pin_violated=reasons.count("pinViolated"),
        fallback=reasons.count("fallback"),
        cache_hit=reasons.count("cacheHit"),
    )


def judged(trials: Iterable[Trial], cases: Mapping[str, CaseInfo]) -> tuple[Trial, ...]:
    """Return trials of quality cases with a verdict."""
    return tuple(
        trial
        for trial in trials
        if is_kind(trial, cases, "quality")
        and trial.evaluation is not None
        and trial.evaluation.passed is not None
    )


def is_kind(trial: Trial, cases: Mapping[str, CaseInfo], kind: str) -> bool:
    """Return whether the trial's case is of that kind; of an unknown case it is of none."""
    case = cases.get(trial.case_id)
    return case is not None and case.kind == kind


def by_key(trials: Iterable[Trial], key: Callable[[Trial], str]) -> dict[str, list[Trial]]:
    """Group trials, keeping their order."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(key(trial), []).append(trial)
    return groups


def passed(trial: Trial) -> bool:
    """Return whether the evaluation said yes."""
    return trial.evaluation is not None and trial.evaluation.passed is True


def is_truncated(trial: Trial) -> bool:
    """Return whether the answer ended at its token limit."""
    return trial.response.finish_reason == "length"


def requests_per_second(trials: Sequence[Trial]) -> float | None:
    """Return trials by the seconds from the first start to the last end."""
    if not trials:
        return None
    started = min(trial.started_offset_ms for trial in trials)
    finished = max(trial.finished_offset_ms for trial in trials)
    return len(trials) / ((finished - started) / 1_000) if finished > started else None
