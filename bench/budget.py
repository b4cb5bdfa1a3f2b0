"""The time budget: a clock per target that runs while at least one of its requests is in flight.

A maximum per target, never the run's total time: it stops the next send, not a request in flight.
Warm-ups count. A resumed run goes on from the recorded clock.
"""

from collections.abc import Iterable
from dataclasses import dataclass

NS_PER_MS = 1_000_000


def union_ms(intervals: Iterable[tuple[float, float]]) -> float:
    """Return the length of the union of intervals, all in milliseconds on one clock.

    Args:
        intervals: ``(start, end)`` in any order; one that ends before it starts is empty.
    """
    total, reach = 0.0, float("-inf")
    for start, end in sorted(intervals):
        if end > reach:
            total += end - max(start, reach)
            reach = end
    return total


class Union:
    """The union of intervals that come nearly in the order of their ends, in few numbers.

    An interval that touches the last ones grows into them; one that comes late stands alone until
    ``ms`` puts all together.
    """

    def __init__(self) -> None:
        self._spans: list[tuple[float, float]] = []

    def add(self, start: float, end: float) -> None:
        """Take one interval, milliseconds."""
        spans = self._spans
        while spans and start <= spans[-1][1] and end >= spans[-1][0]:
            last = spans.pop()
            start, end = min(start, last[0]), max(end, last[1])
        spans.append((start, end))

    def ms(self) -> float:
        """Return the length of the union."""
        return union_ms(self._spans)


@dataclass(slots=True)
class BusyClock:
    """The clock of one target: the union of its in-flight intervals, kept while they happen."""

    used_before_ms: float = 0.0
    """Milliseconds on the clock already: closed intervals, and what a journal recorded."""
    in_flight: int = 0
    closed_ns: list[tuple[int, int]] | None = None
    """Intervals that have ended and were not taken yet; ``None`` = nobody wants them."""
    _since_ns: int = 0

    def begin(self, at_ns: int) -> None:
        """A request of the target is on its way since ``at_ns`` (monotonic)."""
        if self.in_flight == 0:
            self._since_ns = at_ns
        self.in_flight += 1

    def end(self, at_ns: int) -> None:
        """One of the requests in flight ended at ``at_ns`` (monotonic, not before its begin)."""
        self.in_flight -= 1
        if self.in_flight == 0:
            self.used_before_ms += (at_ns - self._since_ns) / NS_PER_MS
            if self.closed_ns is not None:
                self.closed_ns.append((self._since_ns, at_ns))

    def taken_spans(self, at_ns: int) -> list[tuple[int, int]]:
        """Return the intervals that ended since the last call, and what goes on up to ``at_ns``."""
        spans = self.closed_ns or []
        if self.closed_ns is not None:
            self.closed_ns = []
        return [*spans, (self._since_ns, at_ns)] if self.in_flight else spans

    def used_ms(self, at_ns: int) -> float:
        """Return the milliseconds used up to ``at_ns``, with what is in flight."""
        if self.in_flight == 0:
            return self.used_before_ms
        return self.used_before_ms + (at_ns - self._since_ns) / NS_PER_MS

    def is_spent(self, at_ns: int, budget_ms: float | None) -> bool:
        """Say whether nothing further may be sent; never with ``None`` (no limit)."""
        return budget_ms is not None and self.used_ms(at_ns) >= budget_ms
