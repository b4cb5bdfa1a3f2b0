"""A comparison of two gateways to its verdicts, its gates and its one sentence. Pure."""

from collections.abc import Iterable, Sequence

from bench.ab.sides import side_of
from bench.ledger import Ledger
from bench.model.ab import AbFindings
from bench.model.paired import Comparison, LevelResult, PairedSummary, Pairing
from bench.overhead.amounts import number, signed
from bench.paired.summary import FIGURES, Judging, paired_levels
from bench.stats import CONFIDENCE

_NAMES = {"ttft": "TTFT", "itl": "gap between tokens", "total": "whole answer"}


def ab_of(ledger: Ledger, pairing: Pairing) -> tuple[PairedSummary, AbFindings]:
    """Return how side b differs from side a, as far as the run got.

    Each figure at each level is a chance to be wrong: the confidence of each verdict is raised so
    that all of them together are right with 95 % (Bonferroni).
    """
    confidence = 1 - (1 - CONFIDENCE) / (len(FIGURES) * len(pairing.levels))
    levels, confounds = paired_levels(ledger, pairing, Judging(confidence=confidence))
    findings = AbFindings(
        sides=(side_of(ledger, pairing, "base"), side_of(ledger, pairing, "changed")),
        confidence=confidence,
    )
    summary = PairedSummary(
        kind=pairing.kind,
        base=pairing.base.label,
        changed=pairing.changed.label,
        base_target=pairing.base.target_id,
        changed_target=pairing.changed.target_id,
        is_same=pairing.is_same,
        headline=headline(levels, is_same=pairing.is_same),
        confounds=confounds,
        levels=levels,
    )
    return summary, findings


def headline(levels: Sequence[LevelResult], *, is_same: bool) -> str:
    """Return the comparison in one sentence: what differs, else what would have shown."""
    lead = "A/A, both sides are the same: " if is_same else ""
    return f"{lead}{_difference_words(levels)}."


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
        why = undecided[0].why
        # What a caveat tells in full is cut; how many pairs it takes stands nowhere else.
        told = why if "too few" in why else why.partition(": ")[0]
        return f"whether b differs from a is undecided ({told})"
    return f"b does not differ from a as far as this run can tell{_limit(compared)}"


def _shown(level: LevelResult, one: Comparison, *, several: bool) -> str:
    amount = number(abs(one.difference or 0.0))
    low, high = one.interval or (0.0, 0.0)
    word = "slower" if one.verdict == "higher" else "faster"
    # Of the difference that is told, not of the two medians: a reader divides what stands there.
    base, added = one.base_p50, one.difference
    share = "" if not base or added is None else f", {100 * added / base:+.1f}%"
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
