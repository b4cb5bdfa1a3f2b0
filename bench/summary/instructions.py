"""Instructions followed of instructions given, where a case counts them (IFEval does)."""

from collections.abc import Sequence

from bench.model.summary import Interval
from bench.model.trial import Trial
from bench.resampling import bootstrap_ratio
from bench.stats import share_of
from bench.summary.selection import by_key


def score(trials: Sequence[Trial]) -> float | None:
    """Return the share over all ``trials`` together; ``None`` where none counts them."""
    return share_of(_followed(trials), _given(trials))


def interval(trials: Sequence[Trial]) -> Interval | None:
    """Return its interval by resampling cases."""
    groups = by_key(trials, lambda trial: trial.case_id).items()
    return bootstrap_ratio(
        {case: (_followed(group), given) for case, group in groups if (given := _given(group))}
    )


def _followed(trials: Sequence[Trial]) -> float:
    return sum(_metric(trial, "instructionsPassed") for trial in trials)


def _given(trials: Sequence[Trial]) -> float:
    return sum(_metric(trial, "instructionsTotal") for trial in trials)


def _metric(trial: Trial, name: str) -> float:
    value = trial.evaluation.metrics.get(name) if trial.evaluation is not None else None
    return float(value) if isinstance(value, int | float) else 0.0
