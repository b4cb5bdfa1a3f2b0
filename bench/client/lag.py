"""How late this process's own event loop runs: the error bar of everything it stamps.

A 5 ms tick notes how much later than planned it came. It runs only while something is watched.
On a quiet machine it reads about 0.2 ms; as a flag it is good, as a correction it is not.
"""

import asyncio
from bisect import bisect_left
from collections.abc import Callable

_TICK_NS = 5_000_000


class LagProbe:
    """Answers "how late was the loop at worst since …" for any number of overlapping windows."""

    def __init__(
        self, now_ns: Callable[[], int], *, on_lag: Callable[[int], None] = lambda _: None
    ) -> None:
        self._now_ns = now_ns
        self._on_lag = on_lag
        self._watchers = 0
        self._tick_number = 0
        self._due_ns = 0
        self._timer: asyncio.TimerHandle | None = None
        self._peaks: list[tuple[int, int]] = []
        """Ticks with no later one as late, as (number, lag): numbers rise, lags fall."""

    def begin(self) -> int:
        """Open a window; return its mark for ``end``."""
        self._watchers += 1
        if self._timer is None:
            self._schedule(self._now_ns())
        return self._tick_number

    def end(self, mark: int) -> int:
        """Close a window; return its largest lag in nanoseconds, an overdue tick included."""
        worst = max(0, self._now_ns() - self._due_ns)
        first = bisect_left(self._peaks, (mark, 0))
        if first < len(self._peaks):
            worst = max(worst, self._peaks[first][1])
        self._watchers -= 1
        if not self._watchers and self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._peaks.clear()
        return worst

    def _tick(self) -> None:
        now = self._now_ns()
        lag = max(0, now - self._due_ns)
        self._on_lag(lag)
        while self._peaks and self._peaks[-1][1] <= lag:
            self._peaks.pop()
        self._peaks.append((self._tick_number, lag))
        self._tick_number += 1
        self._schedule(now)

    def _schedule(self, now: int) -> None:
        self._due_ns = now + _TICK_NS
        self._timer = asyncio.get_running_loop().call_later(_TICK_NS / 1e9, self._tick)
