"""How sure a percentile of gaps is that come in answers.

Gaps of one answer resemble each other: a slow answer has many slow ones. The share of gaps below a
value is a mean over answers of numbers between 0 and 1, so its variance is at most that of so many
yes-or-no draws as there are answers. The interval of order statistics is therefore taken with the
number of answers, not of gaps; of answers of unequal length with Kish's effective number.
"""

from collections.abc import Callable, Iterable

from bench.model.summary import Interval
from bench.stats import interval_ranks


def effective_answers(lengths: Iterable[float]) -> int:
    """Return how many answers of equal length weigh as much: (sum)^2 / sum of squares."""
    listed = [length for length in lengths if length > 0]
    squares = sum(length * length for length in listed)
    return int(sum(listed) ** 2 / squares + 1e-9) if squares else 0


def clustered_interval(
    quantile: Callable[[float], float | None], answers: int, fraction: float
) -> Interval | None:
    """Return the 95 % interval of a percentile over pooled gaps.

    Args:
        quantile: Percentile of the pooled gaps by its fraction, 0..1.
        answers: How many the gaps come from, effectively.
        fraction: One of 0.5, 0.9, 0.95, 0.99.

    Returns:
        ``None`` below 6, 36, 72, 368 answers.
    """
    ranks = interval_ranks(answers, fraction)
    if ranks is None:
        return None
    low, high = quantile(ranks[0] / answers), quantile(min(1.0, (ranks[1] + 1) / answers))
    return None if low is None or high is None else (low, high)
