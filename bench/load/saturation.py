"""When a load is too much: by comparison of stages, and by what rises inside one."""

import math
from collections import deque
from collections.abc import Sequence

from bench.model.load import SaturationReason
from bench.model.record import Value

MOST_DEGRADATION = 2.0
"""From this ratio of median total times on, a stage is saturated."""
LEAST_SUCCESS = 0.95
LEAST_ATTAINMENT = 0.95
FEWEST_TO_JUDGE = 30
"""Answers below which no slope is trusted."""
MOST_REMEMBERED = 300
_LEAST_RISE = 0.5
"""A rise over the remembered answers below half their mean is drift, not a queue."""
_REFINEMENTS_END = 1.1
"""Two levels closer than this ratio are not told apart further."""


class Point(Value, frozen=True, kw_only=True):
    """What of a stage decides whether it is saturated."""

    level: float
    total_p50_ms: float | None
    success_rate: float | None
    attainment: float | None
    """Share of requests inside the objectives; ``None`` = there are none."""


def saturated(point: Point, base: Point | None) -> SaturationReason | None:
    """Return why ``point`` is saturated, held against the first stage; ``None``: it is not."""
    if point.success_rate is not None and point.success_rate < LEAST_SUCCESS:
        return "success"
    if point.attainment is not None and point.attainment < LEAST_ATTAINMENT:
        return "slo"
    before = None if base is None else base.total_p50_ms
    if before and point.total_p50_ms is not None:
        return "degradation" if point.total_p50_ms >= MOST_DEGRADATION * before else None
    return None


def next_level(
    tried: Sequence[tuple[float, bool]], *, low: float, high: float, whole: bool
) -> float | None:
    """Return the level that a sweep tries next; ``None`` when it is done.

    Doubles until a level is saturated, then halves the ratio between the highest good level below
    it and it until they are within 10 % (of whole numbers: until they are neighbours).

    Args:
        tried: Level and whether it was saturated, in any order.
        low: The first level.
        high: The last one that is tried.
        whole: Levels are whole numbers.
    """
    if not tried:
        return low
    bad = min((level for level, is_bad in tried if is_bad), default=None)
    if bad is None:
        top = max(level for level, _ in tried)
        return None if top >= high else min(high, 2 * top)
    good = max((level for level, is_bad in tried if not is_bad and level < bad), default=None)
    if good is None:
        return None
    between = math.sqrt(good * bad)
    if whole:
        between = min(max(round(between), good + 1), bad - 1)
        return between if good < between < bad and bad / good > _REFINEMENTS_END else None
    return between if bad / good > _REFINEMENTS_END else None


class RisingQueue:
    """Whether requests in flight and TTFT both surely rise: more is sent than is answered.

    Slopes by least squares over the last answers; each must differ from 0 by its 95 % interval.
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float, float]] = deque(maxlen=MOST_REMEMBERED)

    def add(self, at_ms: float, in_flight: int, ttft_ms: float) -> None:
        """Take one answer: when it was sent, beside how many others, and how it began."""
        self._seen.append((at_ms, float(in_flight), ttft_ms))

    def verdict(self) -> str | None:
        """Return what rises, with values; ``None``: not both, or not surely."""
        if len(self._seen) < FEWEST_TO_JUDGE:
            return None
        at, in_flight, ttft = zip(*sorted(self._seen), strict=True)
        flying, waiting = rise(at, in_flight), rise(at, ttft)
        if flying is None or waiting is None:
            return None
        return (
            f"over the last {len(at)} answers requests in flight rose by {flying:.0f} and TTFT by "
            f"{waiting:.0f} ms"
        )


def rise(at: Sequence[float], values: Sequence[float]) -> float | None:
    """Return how much ``values`` rise over the span of ``at``; ``None`` if not surely or not much.

    Least squares; the slope's 95 % interval by Student's t must lie above 0.

    Args:
        at: Ascending, at least 30.
        values: As many.
    """
    count = len(at)
    mean_at, mean = math.fsum(at) / count, math.fsum(values) / count
    spread = math.fsum((x - mean_at) ** 2 for x in at)
    if spread <= 0:
        return None
    slope = math.fsum((x - mean_at) * (y - mean) for x, y in zip(at, values, strict=True)) / spread
    left = math.fsum(
        (y - mean - slope * (x - mean_at)) ** 2 for x, y in zip(at, values, strict=True)
    )
    margin = student_95(count - 2) * math.sqrt(left / (count - 2) / spread)
    risen = slope * (at[-1] - at[0])
    return risen if slope > margin and risen > _LEAST_RISE * abs(mean) else None


def student_95(degrees: int) -> float:
    """Return the 97.5 % point of Student's t for at least 28 degrees of freedom.

    Cornish and Fisher's expansion around the normal distribution, to the second term: within
    0.01 % from 28 degrees on (checked against scipy in the tests).
    """
    z = 1.959963984540054
    first = (z**3 + z) / (4 * degrees)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    return z + first + second
