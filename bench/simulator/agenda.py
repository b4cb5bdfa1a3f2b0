"""One timer for all streams: calls back at absolute times of the monotonic clock (IO).

asyncio's own timers compare in Python and cost several microseconds each; with hundreds of streams
that alone makes them late. Here the order is kept in plain tuples and asyncio has one timer.
"""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from time import perf_counter_ns

_MOST_PER_TURN = 64
"""Callbacks before sockets get a turn."""


class Agenda:
    """What is to be done when. Nothing is called early; what is not wanted any more must know it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._armed_ns: int | None = None
        self._is_firing = False

    def at(self, due_ns: int, callback: Callable[[], None]) -> None:
        """Call ``callback`` as soon as ``time.perf_counter_ns`` has reached ``due_ns``."""
        self._count += 1  # keeps equal times in order, and callbacks out of the comparison
        heappush(self._heap, (due_ns, self._count, callback))
        if not self._is_firing and (self._armed_ns is None or due_ns < self._armed_ns):
            self._arm()

    def soon(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` after sockets and other callbacks had a turn."""
        self._loop.call_soon(callback)

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_ns = self._heap[0][0]
        wait_ns = max(0, self._armed_ns - perf_counter_ns())
        self._timer = self._loop.call_later(wait_ns / 1e9, self._fire)

    def _fire(self) -> None:
        self._timer, self._armed_ns = None, None
        self._is_firing = True
        try:
            for _ in range(_MOST_PER_TURN):
                if not self._heap or self._heap[0][0] > perf_counter_ns():
                    break
                heappop(self._heap)[2]()
        finally:
            self._is_firing = False
            if self._heap:
                self._arm()
