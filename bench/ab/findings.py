"""A comparison of two gateways to its verdicts, its gates and its one sentence. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench.ab.gates import Level, judge
from bench.ab.sides import side_of
from bench.ledger import Ledger
from bench.load.columns import VALID
from bench.load.gates import read_gate
from bench.model.ab import AbFindings
from bench.model.gates import GateResult
from bench.model.paired import Comparison, LevelResult, PairedSummary, Pairing
from bench.overhead.findings import number, signed
from bench.paired.blocks import Pairs, find_pairs
from bench.paired.comparability import spoiled
from bench.paired.summary import FIGURES, Judging, paired_levels
from bench.stage_book import StageEntry
from bench.stats import CONFIDENCE

_NAMES = {"ttft": "TTFT", "itl": "gap between tokens", "total": "whole answer"}


def ab_of(ledger: Ledger, pairing: Pairing) -> tuple[PairedSummary, AbFindings]:
    """Return how side b differs from side a, as far as the run got.

    Each figure at each level is a chance to be wrong: the confidence of each verdict is raised so
    that all of them together are right with 95 % (Bonferroni). Gates were chosen beforehand, each
    for itself: theirs is 95 %.
    """
    confidence = 1 - (1 - CONFIDENCE) / (len(FIGURES) * len(pairing.levels))
    levels, confounds = paired_levels(ledger, pairing, Judging(confidence=confidence))
    gates = _gates(ledger, pairing, levels)
    findings = AbFindings(
        sides=(side_of(ledger, pairing, "base"), side_of(ledger, pairing, "changed")),
        gates=gates,
        confidence=confidence,
    )
    summary = PairedSummary(
        kind=pairing.kind,
        base=pairing.base.label,
        changed=pairing.changed.label,
        base_target=pairing.base.target_id,
        changed_target=pairing.changed.target_id,
        is_same=pairing.is_same,
        headline=headline(levels, gates, is_same=pairing.is_same),
        confounds=confounds,
        levels=levels,
    )
    return summary, findings


def headline(levels: Sequence[LevelResult], gates: Sequence[GateResult], *, is_same: bool) -> str:
    """Return the comparison in one sentence: gates, then what differs, else what would have shown."""
    told = [_gate_words(gates)] if gates else []
    told.append(_difference_words(levels))
    lead = "A/A, both sides are the same: " if is_same else ""
    return f"{lead}{'; '.join(part for part in told if part)}."


def _gate_words(gates: Sequence[GateResult]) -> str:
    by_verdict: dict[str, list[str]] = defaultdict(list)
    for one in gates:
        by_verdict[one.verdict].append(one.gate)
    parts = [
        f"gate{'s' if len(names) > 1 else ''} {verdict}: {', '.join(dict.fromkeys(names))}"
        for verdict in ("failed", "undecided", "passed")
        if (names := by_verdict.get(verdict))
    ]
    return "; ".join(parts)


def _difference_words(levels: Sequence[LevelResult]) -> str:
    compared = [(level, one) for level in levels for one in level.warm if one.pairs]
    if not compared:
        return "nothing was compared: no pair of answers"
    shown = [(level, one) for level, one in compared if one.verdict in {"higher", "lower"}]
    several = len(levels) > 1
    if shown:
        return "; ".join(_shown(level, one, several=several) for level, one in shown)
    undecided = [one for _, one in compared if one.verdict == "undecided"]
    if len(undecided) == len(compared):
        return f"undecided: {undecided[0].why}"
    return f"b does not differ from a as far as this run can tell{_limit(compared)}"


def _shown(level: LevelResult, one: Comparison, *, several: bool) -> str:
    amount = number(abs(one.difference or 0.0))
    low, high = one.interval or (0.0, 0.0)
    word = "slower" if one.verdict == "higher" else "faster"
    share = "" if one.ratio is None else f", {100 * (one.ratio - 1):+.1f}%"
    where = f", {level.label}" if several else ""
    name = _NAMES.get(one.metric, one.metric)
    return (
        f"b is {amount} {one.unit} {word} in {name} [{signed(low)}, {signed(high)}]{share}{where}"
    )


def _limit(compared: Iterable[tuple[LevelResult, Comparison]]) -> str:
    """Return the smallest difference that the first level would have shown, figure by figure."""
    first = next(iter(compared))[0]
    told = [
        f"{number(one.smallest_detectable)} ms in {_NAMES.get(one.metric, one.metric)}"
        for one in first.warm
        if one.smallest_detectable is not None
    ]
    return f"; it would have shown {', '.join(told)}" if told else ""


def _gates(
    ledger: Ledger, pairing: Pairing, levels: Sequence[LevelResult]
) -> tuple[GateResult, ...]:
    if not pairing.gates:
        return ()
    borders = [record.offset_ms for record in ledger.resumed]
    entries = ledger.stages.entries
    warm = {
        pairs.level: pairs
        for pairs in find_pairs(entries, borders=borders)
        if pairs.phase == "warm"
    }
    results = {level.level: level for level in levels}
    seed = ledger.header.config.seed
    return tuple(
        judge(gate, _level(number, pairing, gate.quantity, results, (warm, entries)), seed=seed)
        for gate in map(read_gate, pairing.gates)
        for number in range(len(pairing.levels))
    )


def _level(
    number: int,
    pairing: Pairing,
    quantity: str,
    results: dict[int, LevelResult],
    measured: tuple[dict[int, Pairs], Sequence[StageEntry]],
) -> Level:
    warm, entries = measured
    result = results.get(number)
    bound = result.client_bound if result is not None else ()
    why = spoiled(pairing.confounds, quantity)
    if not why and bound:
        why = f"this client may be what was measured: {bound[0]}"
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
