"""From a figure and its 95 % interval to a verdict, and to the sample that would give one."""

import math
from dataclasses import dataclass

import msgspec

from bench.load.gates import Gate
from bench.model.gates import GateCount, GateResult, GateVerdict
from bench.model.summary import Interval
from bench.stats import Z95

MOST = 10_000_000
"""A larger number of requests is no advice."""
_DIGITS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One figure that a gate is held against; units as the gate's bound."""

    target_id: str
    label: str = ""
    """At which load, on which connections."""
    value: float | None
    interval: Interval | None
    """``None`` = there are too few for one."""
    count: int
    counted: GateCount
    fewest: int = 1
    """Below so many there is no interval."""
    is_share: bool = False
    """Hits of all that were counted, its interval by Wilson."""
    spoiled: str = ""
    """Why nothing may be decided, whatever the figure."""
    unshown: str = ""
    """Why the gate can't pass, though the figure lies on this side; of none: why there is none."""


def judge(gate: Gate, reading: Reading) -> GateResult:
    """Return how a gate came out against one figure."""
    result = GateResult(
        gate=gate.text,
        target_id=reading.target_id,
        label=reading.label,
        verdict="undecided",
        value=reading.value,
        interval=reading.interval,
        bound=gate.bound,
        unit=gate.unit,
        count=reading.count,
        counted=reading.counted,
    )
    if reading.spoiled:
        return msgspec.structs.replace(result, why=reading.spoiled)
    if reading.interval is None:
        return _too_few(result, reading)
    verdict = decided(reading.interval, gate.bound, fails_above=gate.fails_above)
    if verdict == "undecided":
        needed = _needed(gate, reading)
        why = "the 95% interval holds the limit"
        return msgspec.structs.replace(result, count_to_decide=needed, why=why)
    if verdict == "passed" and reading.unshown:
        return msgspec.structs.replace(result, why=reading.unshown)
    return msgspec.structs.replace(result, verdict=verdict)


def decided(interval: Interval, bound: float, *, fails_above: bool) -> GateVerdict:
    """Return the verdict of an interval: beyond, on this side, or neither."""
    low, high = interval if fails_above else (-interval[1], -interval[0])
    limit = bound if fails_above else -bound
    return "failed" if low > limit else "passed" if high <= limit else "undecided"


def _too_few(result: GateResult, reading: Reading) -> GateResult:
    if not reading.count:
        why = reading.unshown or "nothing was measured that has this figure"
        return msgspec.structs.replace(result, why=why)
    why = f"{reading.count:,} {reading.counted} are too few for an interval"
    needed = reading.fewest if reading.count < reading.fewest else None
    if needed is not None:
        why = f"{why}, which takes {needed:,}"
    return msgspec.structs.replace(result, why=why, count_to_decide=needed)


def _needed(gate: Gate, reading: Reading) -> int | None:
    value, interval = reading.value, reading.interval
    if value is None or interval is None or value == gate.bound:
        return None
    if reading.is_share:
        return share_to_decide(value, gate.bound)
    low, high = interval
    margin = high - value if value < gate.bound else value - low
    return _rounded_up(reading.count * (margin / (gate.bound - value)) ** 2)


def share_to_decide(share: float, bound: float) -> int | None:
    """Return about how many requests with this share of hits would lie apart from ``bound``.

    Wilson's interval leaves the bound out where n (share - bound)^2 > z^2 bound (1 - bound).

    Args:
        share: Measured, 0..1.
        bound: 0..1.

    Returns:
        ``None`` where no number up to ten million would: the share is the bound, or the bound is
        0 or 1, which nothing that was counted can show.
    """
    if share == bound or bound in {0.0, 1.0}:
        return None
    return _rounded_up(math.ceil(Z95**2 * bound * (1 - bound) / (share - bound) ** 2))


def _rounded_up(count: float) -> int | None:
    """Return a count with two digits, rounded up; ``None`` where it is no advice."""
    if not 1 <= count <= MOST:
        return None
    step = int(10 ** max(0, math.floor(math.log10(count)) - _DIGITS + 1))
    return math.ceil(count / step) * step
