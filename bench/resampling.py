"""Intervals of figures whose parts come in cases: whole cases are drawn again, seeded. Pure.

What resampling can't say, because nothing was seen to vary, is said by Wilson's interval or not at
all. Formulas, sources and worked examples are in docs/metrics.md.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from random import Random

from bench.model.figures import Interval
from bench.stats import percentile, wilson

BOOTSTRAP_ROUNDS = 2_000


def bootstrap_over_cases(
    outcomes: Mapping[str, Sequence[bool]], *, seed: int = 1, rounds: int = BOOTSTRAP_ROUNDS
) -> Interval | None:
    """Return the interval of a score whose trials come in cases, by resampling whole cases.

    Trials of one case resemble each other, so resampling trials would feign precision. One case
    alone can't be resampled: Wilson's interval over its trials is returned.

    Args:
        outcomes: Passed or not, by case id; cases without outcomes are ignored.
        seed: Makes the interval repeatable.
        rounds: Number of resamples.

    Returns:
        The 2.5 % and 97.5 % percentile of the resampled scores; when all cases agree completely
        (every trial passed, or every one failed), Wilson's interval over the cases, because
        resampling would then claim certainty.
    """
    tallies = [(sum(passed), len(passed)) for _, passed in sorted(outcomes.items()) if passed]
    if not tallies:
        return None
    hits, of = sum(hit for hit, _ in tallies), sum(size for _, size in tallies)
    if len(tallies) == 1:
        return wilson(hits, of)
    if hits in {0, of}:
        return wilson(len(tallies) if hits else 0, len(tallies))
    return _resampled(tuple(tallies), seed=seed, rounds=rounds)


def bootstrap_mean_of_cases(outcomes: Mapping[str, Sequence[bool]]) -> Interval | None:
    """Return the interval of the mean of the cases' scores, each case weighing the same.

    Args:
        outcomes: Passed or not, by case id; cases without outcomes are ignored.

    Returns:
        As ``bootstrap_over_cases``; where all cases have one score between 0 and 1, ``None``.
    """
    some = {case: passed for case, passed in outcomes.items() if passed}
    verdicts = {verdict for passed in some.values() for verdict in passed}
    if len({len(passed) for passed in some.values()}) <= 1 or len(verdicts) == 1:
        return bootstrap_over_cases(some)
    return bootstrap_ratio({case: (sum(p) / len(p), 1.0) for case, p in some.items()})


def bootstrap_ratio(
    parts: Mapping[str, tuple[float, float]], *, seed: int = 1, rounds: int = BOOTSTRAP_ROUNDS
) -> Interval | None:
    """Return the interval of a sum by a sum whose parts come in cases, by resampling whole cases.

    Args:
        parts: Numerator and denominator (> 0) by case id.
        seed: Makes the interval repeatable.
        rounds: Number of resamples.

    Returns:
        ``None`` below two cases, and where all have the same ratio: nothing was seen to vary, so
        resampling would claim certainty.
    """
    tallies = [tally for _, tally in sorted(parts.items())]
    if len({part / whole for part, whole in tallies}) < 2:  # noqa: PLR2004 -- one value does not vary
        return None
    return _resampled(tuple(tallies), seed=seed, rounds=rounds)


@lru_cache(maxsize=64)
def _resampled(tallies: tuple[tuple[float, float], ...], *, seed: int, rounds: int) -> Interval:
    random = Random(seed)
    ratios = []
    for _ in range(rounds):
        drawn = random.choices(tallies, k=len(tallies))
        ratios.append(sum(part for part, _ in drawn) / sum(whole for _, whole in drawn))
    ratios.sort()
    return percentile(ratios, 0.025), percentile(ratios, 0.975)
