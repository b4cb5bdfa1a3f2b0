"""The real clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Monotonic durations, aware dates."""

    def now_ns(self) -> int:
        """Return the monotonic clock in nanoseconds."""
        return time.perf_counter_ns()

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
