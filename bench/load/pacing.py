"""When each request of a stage is due, computed before the first is sent.

The same stage and seed give the same schedule, so that several senders can each take their share
of it without a word between them.
"""

import math
from array import array
from collections.abc import Iterator
from random import Random

from bench.model.load import Stage

_NS_PER_S = 1_000_000_000
_NS_PER_MS = 1_000_000
_STAGGER_NS = 4_000_000
_WARM_UP_STAGGER_NS = 1_000_000
_LONGEST_STAGGER_NS = _NS_PER_S


def arrivals(stage: Stage, *, seed: int) -> "array[int]":
    """Return when each request of an open loop is due: nanoseconds since the stage's beginning.

    Gaps of a unit-rate process are stretched by the rate: constant gaps, exponential ones
    (Poisson), or gamma ones of shape ``burstiness`` (mean 1, coefficient of variation
    ``1/sqrt(burstiness)``). A linear ramp from r to R over D is walked through its integral,
    r t + (R - r) t^2 / 2D: the times at which it reaches the unit process's own.

    Args:
        stage: An open loop or a trace, bounded by requests or duration.
        seed: Draws the gaps; equal seeds give equal schedules.
    """
    due: array[int] = array("q")
    until_ns = math.inf if stage.duration_ms is None else stage.duration_ms * _NS_PER_MS
    most = math.inf if stage.requests is None else stage.requests
    for offset_ns in _offsets(stage, seed):
        if offset_ns >= until_ns or len(due) >= most:
            break
        due.append(offset_ns)
    return due


def starts(stage: Stage, *, is_warmup: bool = False) -> "array[int]":
    """Return when each of a closed loop's senders begins: nanoseconds, ascending.

    In one tick C requests are sent over C times the cost of sending one, which would be the
    client's own delay in their first tokens: senders begin 4 ms apart, all within a second. Of
    warm-ups nothing is measured: they begin 1 ms apart, so that a server isn't met by all at once.
    """
    count = stage.concurrency or 1
    if stage.lock_step:
        return array("q", [0] * count)
    first = min(stage.concurrency_from or count, count)
    gap_ns = _WARM_UP_STAGGER_NS if is_warmup else _STAGGER_NS
    gap_ns = min(gap_ns, _LONGEST_STAGGER_NS // first)
    begin = array("q", [number * gap_ns for number in range(first)])
    rest = count - first
    over_ns = (stage.duration_ms or 0.0) * _NS_PER_MS
    begin.extend(int(over_ns * (step + 1) / (rest + 1)) for step in range(rest))
    return array("q", sorted(begin))


def _offsets(stage: Stage, seed: int) -> Iterator[int]:
    if stage.offsets_ms:
        return (int(offset * _NS_PER_MS) for offset in stage.offsets_ms)
    return _paced(stage, Random(seed))


def _paced(stage: Stage, random: Random) -> Iterator[int]:
    rate = stage.rate_per_second or 1.0
    reached = 0.0 if stage.arrival == "constant" else _gap(stage, random)
    while True:
        after_s = _time_of(reached, stage, rate)
        if after_s is None:
            return
        yield int(after_s * _NS_PER_S)
        reached += _gap(stage, random)


def _gap(stage: Stage, random: Random) -> float:
    match stage.arrival:
        case "constant":
            return 1.0
        case "poisson":
            return random.expovariate(1.0)
        case "gamma":
            return random.gammavariate(stage.burstiness, 1 / stage.burstiness)


def _time_of(reached: float, stage: Stage, rate: float) -> float | None:
    """Return the seconds after which so many requests are due; ``None`` when a ramp never is."""
    begin, over_s = stage.rate_from, (stage.duration_ms or 0.0) / 1e3
    if begin is None or not over_s or begin == rate:
        return reached / rate
    slope = (rate - begin) / over_s
    inside = begin * begin + 2 * slope * reached
    if inside < 0:  # a falling ramp has come to its end
        return None
    # The root without cancellation: exact also where the slope is nearly 0.
    return 2 * reached / (begin + math.sqrt(inside))
