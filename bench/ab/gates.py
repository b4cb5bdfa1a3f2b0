"""How the pairs of two sides decide a gate. Pure.

A gate fails when the whole 95 % interval lies beyond its bound, passes when all of it lies on this
side, and is undecided else. Formulas: docs/metrics.md, *Two builds*.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.gates.deciding import decided
from bench.ledger import Ledger
from bench.load.columns import VALID
from bench.load.gates import Gate, read_gate
from bench.model.gates import GateResult, GateVerdict
from bench.model.paired import Confound, Interval, LevelResult, PairedSummary, Pairing
from bench.paired.blocks import Figure, Pair, Pairs, find_pairs
from bench.paired.comparability import spoiled
from bench.paired.differences import FEWEST_PAIRS, median, median_interval, pairs_to_decide
from bench.stage_book import StageEntry
from bench.stats import mean_margin

_RULE_OF_THREE = 3.0
"""By the number of draws without an event, the 95 % bound of its share."""


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


def pair_gates(ledger: Ledger, pairing: Pairing, paired: PairedSummary) -> tuple[GateResult, ...]:
    """Return how each gate of a comparison came out, level by level.

    Gates were chosen beforehand, each for itself: the confidence of each is 95 %.
    """
    gates = [gate for gate in map(read_gate, ledger.header.config.gates) if gate.is_difference]
    if not gates:
        return ()
    borders = [record.offset_ms for record in ledger.resumed]
    entries = ledger.stages.entries
    warm = {
        pairs.level: pairs
        for pairs in find_pairs(entries, borders=borders)
        if pairs.phase == "warm"
    }
    results = {level.level: level for level in paired.levels}
    seed = ledger.header.config.seed
    return tuple(
        judge(
            gate,
            _level(number, gate.quantity, paired.confounds, results, (warm, entries)),
            seed=seed,
        )
        for gate in gates
        for number in range(len(pairing.levels))
    )


def _level(
    number: int,
    quantity: str,
    confounds: Sequence[Confound],
    results: dict[int, LevelResult],
    measured: tuple[dict[int, Pairs], Sequence[StageEntry]],
) -> Level:
    warm, entries = measured
    result = results.get(number)
    why = spoiled(confounds, quantity)
    if not why and result is not None and quantity in result.client_spoils:
        why = f"this client may be what was measured: {result.client_bound[0]}"
    return Level(
        number=number,
        label=f"level {number + 1}" if result is None else result.label,
        pairs=warm.get(number),
        failures=failure_differences(entries, number),
        spoiled=why,
    )


def failure_differences(entries: Iterable[StageEntry], level: int) -> tuple[float, ...]:
    """Return the failed share of b minus that of a, pair by pair of a level's warm phase."""
    shares: dict[int, dict[str, float]] = defaultdict(dict)
    for entry in entries:
        place = entry.stage.pair
        counted = entry.columns.count()
        if place is None or place.phase != "warm" or place.level != level:
            continue
        if counted and entry.is_finished:
            shares[place.number][place.side] = 1 - entry.columns.count(VALID) / counted
    return tuple(
        pair["changed"] - pair["base"]
        for pair in shares.values()
        if len(pair) == 2  # noqa: PLR2004
    )


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
        needed = _needed(gate, values)
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


def _needed(gate: Gate, values: Sequence[float]) -> int | None:
    """Return how many pairs would decide: more than there are, or ``None``."""
    count = len(values)
    if count < FEWEST_PAIRS:
        return FEWEST_PAIRS
    if gate.quantity == "errors":
        distance = abs(gate.bound - math.fsum(values) / count)
        if not distance:
            return None
        if len(set(values)) == 1:
            return math.ceil(_RULE_OF_THREE / distance)
        return max(math.ceil(count * (mean_margin(values) / distance) ** 2), count + FEWEST_PAIRS)
    needed = pairs_to_decide(values, bound=gate.bound)
    return None if needed is None else max(needed, count + FEWEST_PAIRS)


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

    Student's t, and never narrower than one request in all pairs would be (rule
    of three): a run without any failure has not shown that there are none.
    """
    count = len(values)
    if count < FEWEST_PAIRS:
        return None
    mean = math.fsum(values) / count
    margin = mean_margin(values)
    margin = margin if len(set(values)) > 1 else _RULE_OF_THREE / count
    return mean - margin, mean + margin


def _verdict(
    gate: Gate, interval: Interval | None, pairs: int, spoiled: str
) -> tuple[GateVerdict, str]:
    if spoiled:
        return "undecided", spoiled
    if interval is None:
        return "undecided", f"{pairs} pairs are too few: an interval needs {FEWEST_PAIRS}"
    verdict = decided(interval, gate.bound, fails_above=gate.fails_above)
    return verdict, "the 95% interval holds the bound" if verdict == "undecided" else ""
