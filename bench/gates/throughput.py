"""How sure a rate of answers is: the means of batches of time.

Answers of one moment resemble each other (they wait for the same things), so counting them as
independent would feign precision. The steady window is cut into equal batches; their rates are
nearly independent once a batch is longer than what ties its answers together. Source: Law and
Kelton, *Simulation Modeling and Analysis*, batch means.
"""

import math
from collections.abc import Iterable

from bench.model.summary import Interval
from bench.stats import mean_margin

FEWEST_BATCHES, MOST_BATCHES = 10, 30
PER_BATCH = 5
FEWEST_ANSWERS = FEWEST_BATCHES * PER_BATCH
_MS_PER_S = 1_000.0


def steady_rate(
    ended_ms: Iterable[float], window_ms: tuple[float, float]
) -> tuple[float, int, Interval | None]:
    """Return answers per second in a window, how many they were, and the 95 % interval.

    Args:
        ended_ms: When each answer ended, in any order.
        window_ms: Begin and end of the steady part, on the same clock.

    Returns:
        The interval is ``None`` below 50 answers. It is never narrower than one answer more or
        less in the whole window.
    """
    begin, end = window_ms
    inside = [ended for ended in ended_ms if begin < ended <= end]
    seconds, count = (end - begin) / _MS_PER_S, len(inside)
    rate = count / seconds
    if count < FEWEST_ANSWERS:
        return rate, count, None
    batches = min(MOST_BATCHES, count // PER_BATCH)
    counts = [0] * batches
    for ended in inside:
        place = math.ceil((ended - begin) / (end - begin) * batches) - 1
        counts[min(max(place, 0), batches - 1)] += 1
    margin = max(mean_margin([one * batches / seconds for one in counts]), 1 / seconds)
    return rate, count, (max(0.0, rate - margin), rate + margin)
