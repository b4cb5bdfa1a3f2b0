"""How much one target behaves like the reference: above all, whether it makes the same mistakes.

Two good models agree because both are right; that they are wrong alike is what tells one model from
another. Formulas: docs/metrics.md.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.model.case import CaseInfo
from bench.model.summary import FingerprintSummary
from bench.model.trial import Trial
from bench.stats import mean_of, rate, share_of
from bench.summary.efficiency import reasoning_ratio
from bench.summary.selection import by_key, is_kind, judged, passed

_Task = tuple[str, int]
"""Case and run: every target gets the same instance in the same run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    answer: str
    is_wrong: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What of a target's proven trials a fingerprint is made of."""

    answers: Mapping[_Task, _Said]
    """Non-empty final answers that were judged."""
    scores: Mapping[str, float]
    """By category of the cases."""
    reasoning_ratio: float | None


def traits(trials: Sequence[Trial], cases: Mapping[str, CaseInfo]) -> Traits:
    """Read the traits of one target off its proven trials."""
    scored = judged(trials, cases)
    by_category = by_key(scored, lambda trial: cases[trial.case_id].category or "")
    return Traits(
        answers={
            (trial.case_id, trial.run): _Said(
                answer=trial.evaluation.answer, is_wrong=trial.evaluation.passed is False
            )
            for trial in scored
            if trial.evaluation is not None and trial.evaluation.answer
        },
        scores={
            category: sum(map(passed, group)) / len(group)
            for category, group in by_category.items()
            if category
        },
        reasoning_ratio=reasoning_ratio(
            trial.response.usage for trial in trials if is_kind(trial, cases, "quality")
        ),
    )


def fingerprint(own: Traits, reference: Traits, others: Iterable[Traits]) -> FingerprintSummary:
    """Compare a target with the reference.

    Args:
        own: Of the target.
        reference: Of the target that it is compared with.
        others: Of all further targets: what they answer too tells little.
    """
    shared = [task for task in reference.answers if task in own.answers]
    wrong = [task for task in shared if reference.answers[task].is_wrong]
    both_wrong = [task for task in wrong if own.answers[task].is_wrong]
    alike = {task for task in shared if own.answers[task].answer == reference.answers[task].answer}
    agreement = share_of(len(alike), len(shared))
    of_errors = rate(sum(task in alike for task in wrong), len(wrong))
    weighted = _rarity_weighted(wrong, alike, reference, tuple(others))
    similarity = _category_similarity(own.scores, reference.scores)
    delta = _difference(own.reasoning_ratio, reference.reasoning_ratio)
    return FingerprintSummary(
        agreement=agreement,
        reference_error_agreement=of_errors.rate,
        rarity_weighted_error_agreement=weighted,
        category_similarity=similarity,
        reasoning_ratio_delta=delta,
        behavioural_similarity=mean_of(
            [
                agreement,
                of_errors.rate,
                weighted,
                similarity,
                None if delta is None else 1 - abs(delta),
            ]
        ),
        compared=len(shared),
        reference_errors=of_errors,
        shared_errors=rate(sum(task in alike for task in both_wrong), len(both_wrong)),
    )


def _rarity_weighted(
    wrong: Sequence[_Task], alike: set[_Task], reference: Traits, others: Sequence[Traits]
) -> float | None:
    weights = {task: _rarity_bits(task, reference, others) for task in wrong}
    return share_of(
        math.fsum(bits for task, bits in weights.items() if task in alike),
        math.fsum(weights.values()),
    )


def _rarity_bits(task: _Task, reference: Traits, others: Sequence[Traits]) -> float:
    """Return how surprising the reference's answer is among the others', in bits.

    With one more answer of each kind than was seen (Laplace), so that it is 1 without others.
    """
    said = Counter(traits.answers[task].answer for traits in others if task in traits.answers)
    same = said[reference.answers[task].answer]
    return -math.log2((same + 1) / (said.total() + 2))


def _category_similarity(own: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    gap = mean_of(abs(own[category] - other[category]) for category in own.keys() & other.keys())
    return None if gap is None else 1 - gap


def _difference(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left - right
