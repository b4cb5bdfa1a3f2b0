"""Pairs to a comparison: difference, interval, noise floor, and what may be said of it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from bench.model.paired import Comparison, Interval, NoiseFloor, Side, Verdict
from bench.paired.blocks import Figure, Pairs
from bench.paired.differences import (
    FEWEST_PAIRS,
    fewest_pairs,
    median,
    median_interval,
    pairs_to_decide,
    smallest_detectable,
)
from bench.stats import CONFIDENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Under which rules a comparison is judged."""

    seed: int = 1
    """Of the resampling."""
    confidence: float = CONFIDENCE
    undecided: str = ""
    """Why nothing may be decided whatever the figures say (not comparable, client-bound)."""


def compare(figure: Figure, pairs: Pairs, noise: Pairs | None, rules: Rules) -> Comparison:
    """Return one figure of both arms.

    Args:
        figure: What is compared.
        pairs: Of a warm or cold phase.
        noise: Of the noise phase of the same level; ``None`` = none was measured.
        rules: How it is judged.
    """
    differences = _known(pair.difference(figure) for pair in pairs.whole)
    ratios = _known(pair.ratio(figure) for pair in pairs.whole)
    base, changed = _pooled(figure, pairs, "base"), _pooled(figure, pairs, "changed")
    floor = None if noise is None else noise_floor(figure, noise, rules)
    interval = median_interval(differences, seed=rules.seed, confidence=rules.confidence)
    difference = median(differences)
    verdict, why = _verdict(difference, interval, floor, len(differences), rules)
    is_open = verdict in {"within", "undecided"} and len(differences) >= FEWEST_PAIRS
    return Comparison(
        metric=figure.name,
        unit=figure.unit,
        pairs=len(differences),
        base_p50=base,
        changed_p50=changed,
        p50_difference=None if base is None or changed is None else changed - base,
        ratio=None if not base or changed is None else changed / base,
        ratio_interval=median_interval(ratios, seed=rules.seed, confidence=rules.confidence),
        difference=difference,
        interval=interval,
        noise=floor,
        smallest_detectable=smallest_detectable(differences, confidence=rules.confidence),
        pairs_to_decide=(
            pairs_to_decide(differences, confidence=rules.confidence) if is_open else None
        ),
        verdict=verdict,
        why=why,
    )


def noise_floor(figure: Figure, noise: Pairs, rules: Rules) -> NoiseFloor | None:
    """Return what the base arm differs from itself by; ``None`` without a pair."""
    differences = _known(pair.difference(figure) for pair in noise.whole)
    middle = median(differences)
    if middle is None:
        return None
    interval = median_interval(differences, seed=rules.seed, confidence=rules.confidence)
    return NoiseFloor(
        pairs=len(differences),
        difference=middle,
        interval=interval,
        flagged=interval is not None and not _holds(interval, 0.0),
    )


def _verdict(
    difference: float | None,
    interval: Interval | None,
    floor: NoiseFloor | None,
    pairs: int,
    rules: Rules,
) -> tuple[Verdict, str]:
    if rules.undecided:
        return "undecided", rules.undecided
    if difference is None or interval is None:
        fewest = fewest_pairs(rules.confidence)
        return "undecided", f"{pairs} pairs are too few: an interval needs {fewest}"
    if _holds(interval, 0.0):
        return "within", ""
    if floor is not None and floor.flagged and floor.interval is not None:
        most = max(map(abs, floor.interval))
        if abs(difference) <= most:
            return "undecided", (
                f"the same endpoint against itself differed by up to {most:.2f}: something else "
                "on this machine or at the endpoint changed meanwhile"
            )
    return ("higher" if difference > 0 else "lower"), ""


def _holds(interval: Interval, value: float) -> bool:
    return interval[0] <= value <= interval[1]


def _pooled(figure: Figure, pairs: Pairs, side: Side) -> float | None:
    return median([value for block in pairs.blocks(side) for value in block.values(figure.metric)])


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
