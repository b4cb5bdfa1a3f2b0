"""How well this client does its work: the error bar of everything it stamps.

Counts while requests run; ``reading`` says what came of a stretch of time. Sources of the rules
that judge it: docs/load.md.
"""

import asyncio
import gc
import os
from collections.abc import Callable
from contextlib import suppress

from bench.clock import WallOffset, processor_ns
from bench.model.load import ClientReading, Stamps

_FINE_SHIFT, _COARSE_SHIFT = 12, 20
"""Buckets of 4 us up to 17 ms, then of 1 ms: a list is counted up in 60 ns, a logarithm is not."""
_FINE = 4096
_COARSE = 65_536
_NS_PER_MS = 1_000_000
_WINDOW_S = 1.0


class LagCounts:
    """A histogram of delays in nanoseconds."""

    __slots__ = ("_coarse", "_fine", "count", "largest")

    def __init__(self) -> None:
        self.count = 0
        self.largest = 0
        self._fine = [0] * _FINE
        self._coarse: dict[int, int] = {}

    def add(self, lag_ns: int) -> None:
        """Count one delay, from 0."""
        self.count += 1
        if lag_ns > self.largest:  # noqa: PLR1730 - a call of `max` for each token costs more
            self.largest = lag_ns
        bucket = lag_ns >> _FINE_SHIFT
        if bucket < _FINE:
            self._fine[bucket] += 1
        else:
            coarse = min(lag_ns >> _COARSE_SHIFT, _COARSE)
            self._coarse[coarse] = self._coarse.get(coarse, 0) + 1

    def percentile_ms(self, fraction: float) -> float | None:
        """Return the upper end of the bucket of that rank; ``None`` of nothing."""
        if not self.count:
            return None
        rank, seen = fraction * self.count, 0
        for bucket, count in enumerate(self._fine):
            seen += count
            if count and seen >= rank:
                return min((bucket + 1) << _FINE_SHIFT, self.largest) / _NS_PER_MS
        for bucket in sorted(self._coarse):
            seen += self._coarse[bucket]
            if seen >= rank:
                return min((bucket + 1) << _COARSE_SHIFT, self.largest) / _NS_PER_MS
        return self.largest / _NS_PER_MS

    @property
    def largest_ms(self) -> float | None:
        """The longest delay; ``None`` of nothing."""
        return self.largest / _NS_PER_MS if self.count else None


class Gauge:
    """Counts between ``begin`` and ``reading``; one of a client, in its event loop.

    Args:
        now_ns: The clock of all figures.
        wall: Counts discarded kernel stamps; ``None`` = reads are stamped by the loop.
    """

    def __init__(self, now_ns: Callable[[], int], wall: WallOffset | None) -> None:
        self._now_ns = now_ns
        self._wall = wall
        self._timer: asyncio.TimerHandle | None = None
        self._reset()

    def _reset(self) -> None:
        self.lags = LagCounts()
        """From arrival to the loop's turn, of kernel-stamped reads."""
        self.received = self.lags.add
        """Counts a read that the kernel stamped so many nanoseconds before its turn."""
        self.ticks = LagCounts()
        """Of the loop probe."""
        self.unstamped = 0
        self.opened = 0
        self.requests = 0
        self._busiest: float | None = None
        self._pause_ns: int | None = None
        self._collecting_ns: int | None = None
        self._discarded = 0 if self._wall is None else self._wall.discarded
        self._began_ns = self._window_ns = self._now_ns()
        self._processor_began_ns = self._window_processor_ns = processor_ns()

    def ticked(self, lag_ns: int) -> None:
        """Count how late a tick of the loop probe came."""
        self.ticks.add(lag_ns)

    def begin(self) -> None:
        """Forget what was counted, and count from now on."""
        self.stop()
        self._reset()
        gc.callbacks.append(self._collected)
        self._next_window()

    def reading(self) -> ClientReading:
        """Return what was counted since ``begin``, and stop watching."""
        self._take_window()
        self.stop()
        wall_ns = self._now_ns() - self._began_ns
        used_ns = processor_ns() - self._processor_began_ns
        load: float | None = None
        with suppress(OSError):
            load = os.getloadavg()[0]
        return ClientReading(
            stamps=self._stamps(),
            reads=self.lags.count + self.unstamped,
            receive_lag_p50_ms=self.lags.percentile_ms(0.5),
            receive_lag_p99_ms=self.lags.percentile_ms(0.99),
            receive_lag_max_ms=self.lags.largest_ms,
            stamps_discarded=0 if self._wall is None else self._wall.discarded - self._discarded,
            loop_lag_p99_ms=self.ticks.percentile_ms(0.99),
            loop_lag_max_ms=self.ticks.largest_ms,
            utilisation_mean=used_ns / wall_ns if wall_ns > 0 else None,
            utilisation_max=self._busiest,
            gc_pause_max_ms=None if self._pause_ns is None else self._pause_ns / _NS_PER_MS,
            connections_opened=self.opened,
            requests=self.requests,
            load_average=load,
            processors=os.cpu_count(),
        )

    def stop(self) -> None:
        """Stop watching; twice is once."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            gc.callbacks.remove(self._collected)

    def _stamps(self) -> Stamps | None:
        if self.lags.count and self.unstamped:
            return "mixed"
        if self.lags.count:
            return "kernel"
        return "loop" if self.requests else None

    def _next_window(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_WINDOW_S, self._window_over)

    def _window_over(self) -> None:
        self._take_window()
        self._next_window()

    def _take_window(self) -> None:
        now_ns, used_ns = self._now_ns(), processor_ns()
        wall_ns = now_ns - self._window_ns
        if wall_ns >= _WINDOW_S * 1e9 / 2 or self._busiest is None:
            busy = (used_ns - self._window_processor_ns) / max(wall_ns, 1)
            self._busiest = busy if self._busiest is None else max(self._busiest, busy)
        self._window_ns, self._window_processor_ns = now_ns, used_ns

    def _collected(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._collecting_ns = self._now_ns()
        elif self._collecting_ns is not None:
            self._pause_ns = max(self._pause_ns or 0, self._now_ns() - self._collecting_ns)
            self._collecting_ns = None
