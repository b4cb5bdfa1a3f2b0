"""Time, as owning a process needs it."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Time: durations from ``now_ns`` only, dates from ``utcnow`` only."""

    def now_ns(self) -> int:
        """Return the monotonic clock in nanoseconds (``time.perf_counter_ns``)."""
        ...

    def boot_ns(self) -> int | None:
        """Return a clock that goes on while the machine sleeps; ``now_ns`` stands still then."""
        ...

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...
