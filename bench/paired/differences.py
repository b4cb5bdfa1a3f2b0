"""From differences of pairs to a figure, its interval and what it can tell. Pure.

Pairs are the unit: requests of one block share its moment, so resampling requests would feign
precision. Formulas and sources: docs/metrics.md, *Two arms*.
"""

import math
from collections.abc import Sequence
from random import Random
from statistics import NormalDist

from bench.model.paired import Interval
from bench.resampling import BOOTSTRAP_ROUNDS
from bench.stats import CONFIDENCE, percentile

FEWEST_PAIRS = 6
"""Below it even the smallest and the largest difference enclose the median too rarely: 1 - 2/2**5
= 94 %."""
_POWER_Z = 0.8416212335729143
"""80 % point of the standard normal distribution."""
_MEDIAN_COST = math.sqrt(math.pi / 2)
"""Standard error of a median by that of a mean, of normal values."""
_MAD_TO_DEVIATION = 1.4826022185056018


def fewest_pairs(confidence: float) -> int:
    """Return from how many pairs on their smallest and largest difference enclose the median.

    Both lie on one side of it in 2 of 2^n draws: 6 at 95 %, more where several figures share that.
    """
    return math.ceil(math.log2(2 / (1 - confidence)) - 1e-9)


def median(values: Sequence[float]) -> float | None:
    """Return the median; ``None`` of nothing."""
    return percentile(sorted(values), 0.5) if values else None


def median_interval(
    differences: Sequence[float],
    *,
    seed: int = 1,
    confidence: float = CONFIDENCE,
    rounds: int = BOOTSTRAP_ROUNDS,
) -> Interval | None:
    """Return an interval of the median of ``differences`` by a bootstrap over them.

    The bootstrap of a median is too narrow for few values, so the result is never narrower than
    the two order statistics that enclose the median with ``confidence`` whatever the distribution.

    Args:
        differences: One per pair.
        seed: Makes it repeatable.
        confidence: 0.5 to below 1; a gate over several figures wants more than one of a kind.
        rounds: Number of resamples.

    Returns:
        ``None`` where no order statistics enclose it: below 6 values at 95 %.
    """
    ordered = sorted(differences)
    exact = _order_interval(ordered, confidence)
    if exact is None:
        return None
    random = Random(seed)
    count = len(ordered)
    medians = sorted(
        percentile(sorted(random.choices(ordered, k=count)), 0.5) for _ in range(rounds)
    )
    tail = (1 - confidence) / 2
    low, high = percentile(medians, tail), percentile(medians, 1 - tail)
    return min(low, exact[0]), max(high, exact[1])


def _order_interval(ordered: Sequence[float], confidence: float) -> Interval | None:
    """Return the innermost pair of order statistics with at most the tail outside on each side."""
    count, tail = len(ordered), (1 - confidence) / 2
    below, rank = 0.0, -1
    for hits in range(count // 2):
        below += math.comb(count, hits) * 0.5**count
        if below > tail:
            break
        rank = hits
    return None if rank < 0 else (ordered[rank], ordered[count - 1 - rank])


def spread(differences: Sequence[float]) -> float | None:
    """Return the standard deviation by the median absolute deviation; ``None`` below 2 values.

    Where more than half of the values agree, the plain deviation is taken: the other would be 0.
    """
    middle = median(differences)
    if middle is None or len(differences) < 2:  # noqa: PLR2004 -- one value has no spread
        return None
    robust = median([abs(value - middle) for value in differences])
    if robust:
        return robust * _MAD_TO_DEVIATION
    mean = math.fsum(differences) / len(differences)
    return math.sqrt(
        math.fsum((value - mean) ** 2 for value in differences) / (len(differences) - 1)
    )


def smallest_detectable(
    differences: Sequence[float], *, confidence: float = CONFIDENCE
) -> float | None:
    """Return the true difference that so many such pairs would show in 4 of 5 runs.

    (z of the confidence + z of the power) times the standard error of a median.
    """
    deviation = spread(differences)
    if deviation is None or len(differences) < fewest_pairs(confidence):
        return None
    return (_z(confidence) + _POWER_Z) * _MEDIAN_COST * deviation / math.sqrt(len(differences))


def pairs_to_decide(
    differences: Sequence[float], *, bound: float = 0.0, confidence: float = CONFIDENCE
) -> int | None:
    """Return how many such pairs would tell their median from ``bound`` in 4 of 5 runs.

    Returns:
        ``None`` where no number is known to: no spread, or a median that is the bound itself.
    """
    deviation, middle = spread(differences), median(differences)
    if deviation is None or middle is None or middle == bound:
        return None
    needed = (_z(confidence) + _POWER_Z) * _MEDIAN_COST * deviation / abs(middle - bound)
    return max(fewest_pairs(confidence), math.ceil(needed * needed))


def _z(confidence: float) -> float:
    """Return the two-sided point of the standard normal distribution."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
