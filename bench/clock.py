"""The real clock: the only place in the benchmark that reads time."""

from datetime import UTC, datetime
from time import perf_counter_ns


class SystemClock:
    """``bench.ports.Clock`` on this machine."""

    def now_ns(self) -> int:
        """Return the monotonic clock in nanoseconds."""
        return perf_counter_ns()

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        return datetime.now(UTC)


def iso_ms(moment: datetime) -> str:
    """Return ``2026-03-01T09:30:00.123Z``: UTC, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
