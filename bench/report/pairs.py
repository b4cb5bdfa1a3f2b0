"""Two arms in turn: the table of their differences, and its lines on a terminal."""

from collections.abc import Iterator
from typing import Any

from bench.model.document import Document
from bench.model.paired import Comparison, LevelResult, PairedSummary
from bench.overhead.amounts import number, signed
from bench.paired.comparability import NOT_COMPARABLE
from bench.report.figures import ABSENT, counted
from bench.report.tables import Cell, Section, Table, text

NAMES = {"ttft": "TTFT", "itl": "gap between tokens", "total": "whole answer"}
_VERDICTS = {
    "higher": "more",
    "lower": "less",
    "within": "no difference shows",
    "undecided": "undecided",
}


def pair_sections(document: Document) -> tuple[Section, ...]:
    """Return the differences, and why they may not be what was asked about."""
    paired = document.summary.paired
    return () if paired is None else (_differences(paired), _confounds(paired))


def pair_lines(document: Document) -> Iterator[str]:
    """Yield a line for each level and figure, for a terminal."""
    paired = document.summary.paired
    told = [
        (level, kind, found)
        for level in (paired.levels if paired else ())
        for kind, found in _found(level)
    ]
    # What was asked about comes first at every level: a terminal shows the beginning of the list.
    for level, kind, found in sorted(told, key=lambda one: not _is_first(one[1], one[2])):
        yield f"{level.label}, {kind}, {_name(found)}: {_told(found)}"
    for confound in paired.confounds if paired else ():
        yield f"{'not comparable' if confound.spoils else 'to know'}: {confound.text}"


def pair_detail(document: Document) -> dict[str, Any]:
    """Return what ``--json`` says of two arms: the warm differences; empty for other runs."""
    paired = document.summary.paired
    if paired is None:
        return {}
    return {
        "differences": [
            {"load": level.label, **_difference(one)}
            for level in paired.levels
            for one in level.warm
        ],
        "notComparable": [one.text for one in paired.confounds if one.spoils],
    }


def _difference(one: Comparison) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "unit": one.unit,
        "pairs": one.pairs,
        "difference": one.difference,
        "interval": one.interval,
        "ratio": one.ratio,
        "smallestDetectable": one.smallest_detectable,
        "pairsToDecide": one.pairs_to_decide,
        "verdict": one.verdict,
        "why": one.why or None,
    }


def _is_first(kind: str, found: Comparison) -> bool:
    return kind == "warm" and found.metric == "ttft"


def _differences(paired: PairedSummary) -> Section:
    base, changed = (
        name.removeprefix("the ").capitalize() for name in (paired.base, paired.changed)
    )
    rows = [_row(level, kind, found) for level in paired.levels for kind, found in _found(level)]
    return Section(
        id="pairs",
        title=f"{changed} against {base[0].lower()}{base[1:]}",
        note="Difference: the median over pairs of one block's median minus the other's, with its "
        f"95% interval from resampling pairs{_together(paired)}; below 0 is less. Chance: the same between "
        f"{paired.base} and itself. Would show: the smallest difference that so many such pairs "
        "show in 4 of 5 runs. Undecided: nothing may be said, for the reason given.",
        table=Table(
            columns=(
                "Load",
                "Connections",
                "Figure",
                "Verdict",
                "Difference",
                f"{base} p50",
                f"{changed} p50",
                "p50 apart",
                "Ratio",
                "Chance",
                "Would show",
            ),
            rows=tuple(rows),
            words=4,
        ),
    )


def _together(paired: PairedSummary) -> str:
    """Say what the interval of a verdict holds for, where it is more than the figure itself."""
    return " (wider, so that all of them together hold with 95%)" if paired.kind == "ab" else ""


def _row(level: LevelResult, kind: str, found: Comparison) -> tuple[Cell, ...]:
    noise = found.noise
    return (
        Cell(text=level.label),
        Cell(text=kind),
        Cell(text=_name(found)),
        Cell(text=_VERDICTS[found.verdict], detail=_why(found)),
        Cell(text=_with_unit(found, found.difference), detail=_range(found)),
        Cell(text=_plain(found, found.base_p50)),
        Cell(text=_plain(found, found.changed_p50)),
        Cell(text=_with_unit(found, found.p50_difference)),
        Cell(text=ABSENT if found.ratio is None else f"{found.ratio:.3f}x"),
        Cell(text=ABSENT)
        if noise is None
        else Cell(
            text=_with_unit(found, noise.difference),
            detail=counted(noise.pairs, "pair") + _interval(noise.interval),
        ),
        Cell(text=_plain(found, found.smallest_detectable)),
    )


def _confounds(paired: PairedSummary) -> Section:
    rows = [
        text(
            "not comparable" if confound.spoils else "good to know",
            "all" if "*" in confound.spoils else ", ".join(confound.spoils) or ABSENT,
            confound.text,
        )
        for confound in paired.confounds
    ]
    rows += [
        text("client", level.label, reason)
        for level in paired.levels
        for reason in level.client_bound
    ]
    rows += [
        text(
            "pairs left out",
            level.label,
            f"{level.dropped_pairs}: interrupted, or most of a block failed",
        )
        for level in paired.levels
        if level.dropped_pairs
    ]
    return Section(
        id="comparable",
        title="Is it comparable",
        note="What else may have made the difference.",
        table=Table(columns=("What it is", "For", "What was seen"), rows=tuple(rows), words=3),
    )


def _found(level: LevelResult) -> Iterator[tuple[str, Comparison]]:
    for kind, listed in (("warm", level.warm), ("cold", level.cold)):
        yield from ((kind, found) for found in listed if found.pairs)


def _name(found: Comparison) -> str:
    metric, _, rest = found.metric.partition(".")
    name = NAMES.get(metric, metric)
    return f"{name} {rest}" if rest else name


def _told(found: Comparison) -> str:
    value = f"{_with_unit(found, found.difference)}{_interval(found.interval)}"
    is_told_below = found.why.startswith(NOT_COMPARABLE)
    why = f" ({found.why})" if found.why and not is_told_below else ""
    return f"{value} over {counted(found.pairs, 'pair')}, {_VERDICTS[found.verdict]}{why}"


def _why(found: Comparison) -> str:
    if found.why:
        return found.why
    more = found.pairs_to_decide
    return f"about {more:,} pairs would decide" if more and more > found.pairs else ""


def _range(found: Comparison) -> str:
    return counted(found.pairs, "pair") + _interval(found.interval)


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f" [{signed(interval[0])}, {signed(interval[1])}]"


def _with_unit(found: Comparison, value: float | None) -> str:
    return ABSENT if value is None else f"{signed(value)} {found.unit}"


def _plain(found: Comparison, value: float | None) -> str:
    return ABSENT if value is None else f"{number(value)} {found.unit}"
