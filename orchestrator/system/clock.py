"""The real clock."""

import sys
import time
from datetime import UTC, datetime


class SystemClock:
    """Monotonic durations, aware dates."""

    def now_ns(self) -> int:
        """Return the monotonic clock in nanoseconds."""
        return time.perf_counter_ns()

    def boot_ns(self) -> int | None:
        """Return ``CLOCK_BOOTTIME``; on macOS its monotonic clock, which counts sleep too."""
        number = getattr(time, "CLOCK_BOOTTIME", None)
        if number is None and sys.platform == "darwin":  # pragma: no cover
            number = time.CLOCK_MONOTONIC_RAW
        return None if number is None else time.clock_gettime_ns(number)

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
