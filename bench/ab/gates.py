"""How the pairs of two sides decide a gate. Pure.

A gate fails when the whole 95 % interval lies beyond its bound, passes when all of it lies on this
side, and is undecided else. Formulas: docs/metrics.md, *Two builds*.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bench.load.gates import Gate
from bench.model.gates import GateResult, GateVerdict
from bench.model.paired import Interval
from bench.paired.blocks import Figure, Pair, Pairs
from bench.paired.differences import FEWEST_PAIRS, median, median_interval, pairs_to_decide
from bench.stats import Z95


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What a gate is held against at one level of load."""

    number: int
    label: str
    pairs: Pairs | None
    """Of its warm phase."""
    failures: tuple[float, ...] = ()
    """Failed share of b minus that of a, of each pair, torn by failures or not."""
    spoiled: str = ""
    """Why nothing may be decided: not comparable, client-bound."""


def judge(gate: Gate, level: Level, *, seed: int) -> GateResult:
    """Return how one gate came out at one level.

    Args:
        gate: What was typed.
        level: What was measured.
        seed: Of the resampling.
    """
    values = _differences(gate, level)
    interval = _interval(gate, values, seed)
    verdict, why = _verdict(gate, interval, len(values), level.spoiled)
    needed = None
    if verdict == "undecided" and not level.spoiled:
        needed = pairs_to_decide(values, bound=gate.bound) if len(values) > 1 else FEWEST_PAIRS
    return GateResult(
        gate=gate.text,
        is_difference=True,
        level=level.number,
        label=level.label,
        verdict=verdict,
        value=_middle(gate, values),
        interval=interval,
        bound=gate.bound,
        unit=gate.unit,
        count=len(values),
        counted="pairs",
        count_to_decide=needed,
        why=why,
    )


def _differences(gate: Gate, level: Level) -> list[float]:
    """Return how much b differs, pair by pair, in the unit of the gate."""
    match gate.quantity:
        case "ttft" | "itl" | "total" | "tpot" | "speed" as metric:
            figure = Figure(metric=metric, fraction=gate.fraction)
        case _:
            return list(level.failures)
    whole = level.pairs.whole if level.pairs is not None else ()
    found = [_difference(gate, pair, figure) for pair in whole]
    return [value for value in found if value is not None]


def _difference(gate: Gate, pair: Pair, figure: Figure) -> float | None:
    if gate.unit != "%":
        return pair.difference(figure)
    ratio = pair.ratio(figure)
    return None if ratio is None else ratio - 1.0


def _middle(gate: Gate, values: Sequence[float]) -> float | None:
    if gate.quantity == "errors":
        return math.fsum(values) / len(values) if values else None
    return median(values)


def _interval(gate: Gate, values: Sequence[float], seed: int) -> Interval | None:
    """Return the 95 % interval: of the median; of failures, most of which are 0, of the mean."""
    if gate.quantity == "errors":
        return mean_interval(values)
    return median_interval(values, seed=seed)


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of a mean; ``None`` below 6 values.

    Student's t by Hill's expansion, and never narrower than one request in all pairs would be (rule
    of three): a run without any failure has not shown that there are none.
    """
    count = len(values)
    if count < FEWEST_PAIRS:
        return None
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (count - 1))
    free = count - 1
    t = Z95 * (1 + (Z95**2 + 1) / (4 * free))
    margin = max(t * deviation / math.sqrt(count), 3.0 / count if deviation == 0 else 0.0)
    return mean - margin, mean + margin


def _verdict(
    gate: Gate, interval: Interval | None, pairs: int, spoiled: str
) -> tuple[GateVerdict, str]:
    if spoiled:
        return "undecided", spoiled
    if interval is None:
        return "undecided", f"{pairs} pairs are too few: an interval needs {FEWEST_PAIRS}"
    low, high = interval if gate.fails_above else (-interval[1], -interval[0])
    bound = gate.bound if gate.fails_above else -gate.bound
    if low > bound:
        return "failed", ""
    if high <= bound:
        return "passed", ""
    return "undecided", "the interval holds the bound"
