"""The real clock: the only place in the benchmark that reads time."""

from datetime import UTC, datetime
from time import CLOCK_REALTIME, clock_gettime_ns, perf_counter_ns, thread_time_ns


class SystemClock:
    """``bench.ports.Clock`` on this machine."""

    now_ns = staticmethod(perf_counter_ns)
    """Returns the monotonic clock in nanoseconds; asked two times for each token, so without a detour."""

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        return datetime.now(UTC)


def processor_ns() -> int:
    """Return the processor time of this thread in nanoseconds."""
    return thread_time_ns()


_PAIRS = 3
_FRESH_NS = 200_000_000
"""The two clocks drift by at most 500 ppm while one is slewed: 0.1 ms in this time."""
_STEP_NS = 1_000_000
"""A larger difference than this between two readings is a wall clock that was set."""
_DOUBTFUL_NS = 5_000_000
_JUST_NS = 1_000_000
"""Readings this young settle a doubt: a busy process reads many late stamps in a row."""
_TOLERANCE_NS = 50_000


class WallOffset:
    """Turns the kernel's wall-clock stamps into readings of the monotonic clock."""

    def __init__(self) -> None:
        self.discarded = 0
        """Stamps that could not be right."""
        self._offset_ns = _offset_ns()
        self._read_ns = perf_counter_ns()

    def monotonic_ns(self, wall_ns: int, now_ns: int) -> int | None:
        """Return when ``wall_ns`` was; ``None`` when that can't be told.

        Args:
            wall_ns: A stamp of CLOCK_REALTIME, of a moment before now.
            now_ns: The monotonic clock now: no stamp is later.
        """
        if now_ns - self._read_ns > _FRESH_NS:
            self._renew(now_ns)
        at_ns = wall_ns - self._offset_ns
        if not -_TOLERANCE_NS <= now_ns - at_ns <= _DOUBTFUL_NS:
            # Late by that much is rare, and a wall clock that was set looks just like it.
            is_new = now_ns - self._read_ns > _JUST_NS
            if (is_new and self._renew(now_ns) > _STEP_NS) or at_ns - now_ns > _TOLERANCE_NS:
                self.discarded += 1
                return None
            at_ns = wall_ns - self._offset_ns
        return min(at_ns, now_ns)

    def _renew(self, now_ns: int) -> int:
        """Read both clocks again; return by how much their distance has changed."""
        before, self._offset_ns = self._offset_ns, _offset_ns()
        self._read_ns = now_ns
        return abs(self._offset_ns - before)


def _offset_ns() -> int:
    """Return wall clock less monotonic clock, from the pair of readings that took least."""
    pairs = []
    for _ in range(_PAIRS):
        before = perf_counter_ns()
        wall = clock_gettime_ns(CLOCK_REALTIME)
        after = perf_counter_ns()
        pairs.append((after - before, wall - (before + after) // 2))
    return min(pairs)[1]


def iso_ms(moment: datetime) -> str:
    """Return ``2026-03-01T09:30:00.123Z``: UTC, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
