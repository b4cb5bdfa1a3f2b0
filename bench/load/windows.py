"""How many requests were in flight when: peak, mean, and the window in which the load was steady."""

import math
from collections.abc import Iterable, Sequence

from bench.load.pacing import starts
from bench.model.load import Stage

_NS_PER_MS = 1_000_000


def peak_in_flight(started: Iterable[float], ended: Iterable[float]) -> int:
    """Return the most intervals that overlap, by a sweep over their sorted ends.

    An interval that ends where another begins does not overlap it.
    """
    begins, ends = sorted(started), sorted(ended)
    most = now = done = 0
    for begin in begins:
        while done < len(ends) and ends[done] <= begin:
            now -= 1
            done += 1
        now += 1
        most = max(most, now)
    return most


def steady_window(
    stage: Stage, started: Sequence[float], ended: Sequence[float]
) -> tuple[float, float] | None:
    """Return the window between filling and draining, in the offsets of ``started``.

    Of a closed loop from the moment when the last sender has begun, of an open loop from the first
    answer; to the moment when the last request was sent. ``None``: it has no such window, as a rate
    that changes all the time.
    """
    if not started or stage.rate_from is not None:
        return None
    if stage.kind == "closed":
        count = stage.concurrency or 1
        if len(started) <= count:
            return None
        # Where answers are quick, the first senders have sent again before the last one begins.
        last_ms = starts(stage)[-1] / _NS_PER_MS
        begin = max(sorted(started)[count - 1], min(started) + last_ms)
    else:
        begin = min(ended)
    end = max(started)
    return (begin, end) if end > begin else None


def occupied_share(
    started: Sequence[float], ended: Sequence[float], window: tuple[float, float], *, places: int
) -> float:
    """Return the share of ``places`` times the window that the intervals fill, 0..1.

    Args:
        started: Begin of each interval, in any order.
        ended: Its end, at least its begin.
        window: Begin and end on the same clock, the end the later one.
        places: At least 1.
    """
    begin, end = window
    filled = (
        max(0.0, min(last, end) - max(first, begin))
        for first, last in zip(started, ended, strict=True)
    )
    return min(1.0, math.fsum(filled) / (places * (end - begin)))
