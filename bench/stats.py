"""Statistics over plain numbers: summaries, rates and their 95 % intervals.

Pure. Nothing here returns NaN or infinity: what can't be said is ``None``. Formulas, sources and
worked examples are in docs/metrics.md.
"""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from operator import truediv

from bench.model.figures import AdjustedSummary, Interval, NumericSummary, Rate

Z95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""
CONFIDENCE = 0.95
FEWEST_FOR_P95 = 20
FEWEST_FOR_P99 = 100
_SMALLEST_INTERVAL = {0.5: 6, 0.9: 36, 0.95: 72, 0.99: 368}
"""Fewest values for which two order statistics enclose the percentile with 95 % confidence."""


def finite(values: Iterable[float | None]) -> list[float]:
    """Return the finite numbers among ``values``, ascending."""
    known = [value for value in values if value is not None]
    if not math.isfinite(sum(known)):  # one that is not finite makes the sum so; rarely, its size
        known = [value for value in known if math.isfinite(value)]
    known.sort()
    return known


def percentile(ordered: Sequence[float], fraction: float) -> float:
    """Interpolate linearly between the two nearest ranks (Hyndman and Fan's type 7).

    Args:
        ordered: At least one value, ascending.
        fraction: 0..1.
    """
    position = fraction * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below], ordered[above]
    share = position - below
    # Clamped, because rounding may carry the sum of two products just past its neighbours.
    return min(max(low * (1 - share) + high * share, low), high)


def summarize_numbers(values: Iterable[float | None]) -> NumericSummary | None:
    """Summarize the finite ones among ``values``; ``None`` when there are none."""
    ordered = finite(values)
    if not ordered:
        return None
    count = len(ordered)
    mean = math.fsum(map(truediv, ordered, repeat(count)))
    median = percentile(ordered, 0.5)
    deviation = _sample_deviation(ordered, mean)
    return NumericSummary(
        count=count,
        min=ordered[0],
        mean=min(max(mean, ordered[0]), ordered[-1]),
        p50=median,
        p90=percentile(ordered, 0.9),
        p95=percentile(ordered, 0.95) if count >= FEWEST_FOR_P95 else None,
        p99=percentile(ordered, 0.99) if count >= FEWEST_FOR_P99 else None,
        max=ordered[-1],
        standard_deviation=deviation,
        median_absolute_deviation=_median_deviation(ordered, median),
        coefficient_of_variation=_ratio(deviation, mean),
        p50_interval=percentile_interval(ordered, 0.5),
        p90_interval=percentile_interval(ordered, 0.9),
        p95_interval=percentile_interval(ordered, 0.95),
        p99_interval=percentile_interval(ordered, 0.99),
    )


def _sample_deviation(values: Sequence[float], mean: float) -> float | None:
    if len(values) < 2:  # noqa: PLR2004 -- one value says nothing about spread
        return None
    # hypot scales by the largest term first, so squares of huge values do not overflow.
    return math.hypot(*[value - mean for value in values]) / math.sqrt(len(values) - 1)


def _median_deviation(ordered: Sequence[float], centre: float) -> float:
    """Return the median distance of ascending values from ``centre``."""
    middle = (len(ordered) - 1) / 2
    around = [
        _nearest(ordered, centre, math.floor(middle)),
        _nearest(ordered, centre, math.ceil(middle)),
    ]
    return percentile(around, middle % 1)


def _nearest(ordered: Sequence[float], centre: float, rank: int) -> float:
    """Return the distance of that rank from 0: distances fall up to ``centre`` and rise after it.

    So the nearest values lie in a row, whose place is found without computing every distance.
    """
    low, high = 0, len(ordered) - 1 - rank
    while low < high:
        place = (low + high) // 2
        if centre - ordered[place] > ordered[place + rank + 1] - centre:
            low = place + 1
        else:
            high = place
    return max(abs(ordered[low] - centre), abs(ordered[low + rank] - centre))


def _ratio(numerator: float | None, denominator: float) -> float | None:
    if numerator is None or denominator == 0:
        return None
    result = numerator / denominator
    return result if math.isfinite(result) else None


def percentile_interval(ordered: Sequence[float], fraction: float) -> Interval | None:
    """Enclose a percentile between two order statistics with at least 95 % confidence.

    The number of values below the true percentile is binomial, whatever the distribution: no
    normality is assumed.

    Args:
        ordered: Ascending.
        fraction: One of 0.5, 0.9, 0.95, 0.99.

    Returns:
        ``None`` below 6, 36, 72, 368 values: no pair of ranks reaches 95 % in each tail there.
    """
    ranks = interval_ranks(len(ordered), fraction)
    return None if ranks is None else (ordered[ranks[0]], ordered[ranks[1]])


def interval_ranks(count: int, fraction: float) -> tuple[int, int] | None:
    """Return the ranks from 0 of the two values that enclose a percentile of ``count`` values.

    Args:
        count: From 0.
        fraction: One of 0.5, 0.9, 0.95, 0.99.

    Returns:
        ``None`` below 6, 36, 72, 368 values.
    """
    return None if count < _SMALLEST_INTERVAL[fraction] else _interval_ranks(count, fraction)


_FAR = 12
"""Standard deviations: what of a binomial lies further out is below 1e-30."""


@lru_cache(maxsize=1024)
def _interval_ranks(count: int, fraction: float) -> tuple[int, int]:
    """Return the 0-based ranks with at most 2.5 % of the binomial outside on either side."""
    tail = (1 - CONFIDENCE) / 2
    low, high = 0, count - 1
    mean, reach = count * fraction, _FAR * math.sqrt(count * fraction * (1 - fraction)) + _FAR
    odds, start = fraction / (1 - fraction), max(0, int(mean - reach))
    below, chance = 0.0, _binomial(count, start, fraction)
    for successes in range(start, count):
        below += chance
        if below > tail:
            low = max(successes - 1, 0)
            break
        chance *= odds * (count - successes) / (successes + 1)
    start = min(count, math.ceil(mean + reach))
    above, chance = 0.0, _binomial(count, start, fraction)
    for successes in range(start, 0, -1):
        above += chance
        if above > tail:
            high = min(successes, count - 1)
            break
        chance *= successes / (odds * (count - successes + 1))
    return low, high


def _binomial(count: int, successes: int, chance: float) -> float:
    log_ways = (
        math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    )
    return math.exp(
        log_ways + successes * math.log(chance) + (count - successes) * math.log1p(-chance)
    )


def wilson(hits: int, of: int) -> Interval | None:
    """Return Wilson's score interval of a rate; ``None`` of none."""
    if of == 0:
        return None
    share = hits / of
    scale = 1 + Z95**2 / of
    centre = (share + Z95**2 / (2 * of)) / scale
    margin = Z95 * math.sqrt(share * (1 - share) / of + Z95**2 / (4 * of**2)) / scale
    low = 0.0 if hits == 0 else max(0.0, centre - margin)
    high = 1.0 if hits == of else min(1.0, centre + margin)
    return low, high


def rate(hits: int, of: int) -> Rate:
    """Return ``hits`` of ``of`` as a rate with its interval."""
    return Rate(hits=hits, of=of, rate=share_of(hits, of), interval=wilson(hits, of))


def share_of(part: float, whole: float) -> float | None:
    """Return ``part / whole``; ``None`` of nothing."""
    return None if whole == 0 else part / whole


def mean_of(values: Iterable[float | None]) -> float | None:
    """Return the mean of the finite ones among ``values``; ``None`` without any."""
    known = finite(values)
    return math.fsum(known) / len(known) if known else None


def mean_margin(values: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of a mean, by Student's t.

    Its 97.5 % point is that of the normal distribution with three terms of Fisher's expansion:
    within 0.1 % from 5 degrees of freedom on.

    Args:
        values: At least two.
    """
    count, mean = len(values), math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (count - 1))
    free, z = count - 1, Z95
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    return t * deviation / math.sqrt(count)


def adjusted(values: Sequence[float], failures: int) -> AdjustedSummary | None:
    """Return percentiles in which each failure is worse than any value; ``None`` of nothing.

    Args:
        values: Of the requests that succeeded, in any order.
        failures: How many did not.
    """
    ordered, count = sorted(values), len(values) + failures
    if not count:
        return None

    def at(fraction: float) -> tuple[float | None, bool]:
        rank = max(1, math.ceil(fraction * count))
        return (ordered[rank - 1], False) if rank <= len(ordered) else (None, True)

    (p50, f50), (p90, f90), (p95, f95), (p99, f99) = map(at, (0.5, 0.9, 0.95, 0.99))
    return AdjustedSummary(
        count=count,
        adj_p50=p50,
        adj_p50_failed=f50,
        adj_p90=p90,
        adj_p90_failed=f90,
        adj_p95=p95,
        adj_p95_failed=f95,
        adj_p99=p99,
        adj_p99_failed=f99,
    )


def entropy_bits(values: Iterable[Hashable]) -> float | None:
    """Return Shannon's entropy of the values' frequencies in bits; ``None`` without values."""
    counts = Counter(values)
    total = counts.total()
    if total == 0:
        return None
    return max(0.0, -sum(n / total * math.log2(n / total) for n in counts.values()))


def modal_share(values: Sequence[Hashable]) -> float | None:
    """Return the share of the most frequent value; ``None`` below two values."""
    if len(values) < 2:  # noqa: PLR2004 -- one answer agrees with nothing
        return None
    return Counter(values).most_common(1)[0][1] / len(values)
