import asyncio

from bench.client.lag import LagProbe

MS = 1_000_000


class _Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 0

    def now_ns(self) -> int:
        return self.now


async def _tick() -> None:
    """Let the probe's 5 ms timer come: its lag is what the clock was moved by."""
    await asyncio.sleep(0.01)


def test_a_window_has_the_largest_lag_of_its_ticks() -> None:
    async def scene() -> tuple[int, int]:
        clock = _Clock()
        probe = LagProbe(clock.now_ns)
        early = probe.begin()
        clock.now += 5 * MS + 30 * MS
        await _tick()
        late = probe.begin()
        clock.now += 5 * MS + 7 * MS
        await _tick()
        return probe.end(late), probe.end(early)

    assert asyncio.run(scene()) == (7 * MS, 30 * MS)


def test_a_tick_that_is_overdue_counts_before_it_comes() -> None:
    async def scene() -> int:
        clock = _Clock()
        probe = LagProbe(clock.now_ns)
        mark = probe.begin()
        clock.now += 5 * MS + 9 * MS
        return probe.end(mark)

    assert asyncio.run(scene()) == 9 * MS


def test_a_loop_that_is_on_time_has_no_lag() -> None:
    async def scene() -> int:
        probe = LagProbe(_Clock().now_ns)
        return probe.end(probe.begin())

    assert asyncio.run(scene()) == 0


def test_nothing_ticks_while_nobody_watches() -> None:
    async def scene() -> int:
        clock = _Clock()
        probe = LagProbe(clock.now_ns)
        probe.end(probe.begin())
        clock.now += 500 * MS
        await _tick()
        mark = probe.begin()
        return probe.end(mark)

    assert asyncio.run(scene()) == 0
