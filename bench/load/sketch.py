"""A histogram of fixed relative error, for figures that come by the hundred million.

Buckets grow by 1 % each, so a percentile is within 0.5 % of an observed value whatever its size,
in a few hundred counters. Source of the idea: Masson, Rim and Lee, "DDSketch", VLDB 2019.
"""

import math
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from operator import truediv

from bench.model.fleet import Buckets
from bench.model.summary import SketchSummary

RELATIVE_ERROR = 0.005
_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GAMMA = math.log(_GAMMA)


class Sketch:
    """Counts of non-negative numbers."""

    __slots__ = ("_buckets", "_zeros", "count", "largest", "smallest", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.smallest = math.inf
        self.largest = 0.0
        self._zeros = 0
        self._buckets: Counter[int] = Counter()

    def add(self, value: float) -> None:
        """Count one finite number from 0."""
        self.count += 1
        self.total += value
        self.smallest = min(self.smallest, value)
        self.largest = max(self.largest, value)
        if value <= 0:
            self._zeros += 1
        else:
            self._buckets[math.ceil(math.log(value) / _LOG_GAMMA)] += 1

    def extend(self, values: Iterable[float]) -> None:
        """Count each of ``values``."""
        listed = list(values)
        if not listed:
            return
        self.count += len(listed)
        self.total += sum(listed)
        least, most = min(listed), max(listed)
        self.smallest, self.largest = min(self.smallest, least), max(self.largest, most)
        # Without a call of ours for each: gaps between tokens come by the hundred million.
        above = [value for value in listed if value > 0]
        self._zeros += len(listed) - len(above)
        logs = map(truediv, map(math.log, above), repeat(_LOG_GAMMA))
        self._buckets.update(map(math.ceil, logs))

    def buckets(self) -> Buckets:
        """Return what was counted, to be added to another's."""
        return Buckets(
            count=self.count,
            total=self.total,
            smallest=self.smallest if self.count else None,
            largest=self.largest,
            zeros=self._zeros,
            buckets=dict(self._buckets),
        )

    def merge(self, other: Buckets) -> None:
        """Add what another counted; as if all had been counted here."""
        self.count += other.count
        self.total += other.total
        if other.smallest is not None:
            self.smallest = min(self.smallest, other.smallest)
        self.largest = max(self.largest, other.largest)
        self._zeros += other.zeros
        self._buckets.update(other.buckets)

    def percentile(self, fraction: float) -> float | None:
        """Return the value of nearest rank, within the relative error; ``None`` of nothing."""
        if not self.count:
            return None
        rank = max(1, math.ceil(fraction * self.count))
        if rank <= self._zeros:
            return 0.0
        seen = self._zeros
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= rank:
                middle = 2 * _GAMMA**bucket / (_GAMMA + 1)
                return min(max(middle, self.smallest), self.largest)
        return self.largest

    def summary(self) -> SketchSummary | None:
        """Return the usual figures; ``None`` of nothing."""
        if not self.count:
            return None
        return SketchSummary(
            count=self.count,
            min=self.smallest,
            mean=self.total / self.count,
            p50=self.percentile(0.5) or 0.0,
            p90=self.percentile(0.9) or 0.0,
            p95=self.percentile(0.95) or 0.0,
            p99=self.percentile(0.99) or 0.0,
            max=self.largest,
        )
