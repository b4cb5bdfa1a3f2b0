"""Timers finer than a millisecond for asyncio on Linux (IO).

``epoll_wait`` takes whole milliseconds and asyncio rounds up, so a timer fires up to one millisecond
late. Waiting for the epoll descriptor with ``select`` costs one more system call and is exact to
some tens of microseconds, less still without the kernel's timer slack (50 us by default).
kqueue (macOS) is fine as it is.
"""

import contextlib
import select
import selectors
import sys
from pathlib import Path

if sys.platform == "linux":

    class FineSelector(selectors.EpollSelector):
        """An epoll selector whose timeouts are not rounded to milliseconds."""

        def select(  # type: ignore[explicit-override]  # typing.override came with 3.12
            self, timeout: float | None = None
        ) -> list[tuple[selectors.SelectorKey, int]]:
            """Wait like the base class, but not longer than ``timeout`` seconds."""
            if timeout is None or timeout <= 0:
                return super().select(timeout)
            readable, _, _ = select.select([self.fileno()], (), (), timeout)
            return super().select(0) if readable else []

    def fine_selector() -> selectors.BaseSelector:
        """Return the selector whose timeouts are the most exact here."""
        with contextlib.suppress(OSError):  # needs no privilege, but /proc may be closed
            Path("/proc/self/timerslack_ns").write_text("1")
        return FineSelector()

else:

    def fine_selector() -> selectors.BaseSelector:
        """Return the selector whose timeouts are the most exact here."""
        return selectors.DefaultSelector()
