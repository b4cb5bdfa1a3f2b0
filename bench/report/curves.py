"""Geometry of curves in the HTML report: lines over one axis, nothing drawn here."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.report.charts import Tick

HEIGHT = 100.0
"""Height of a curve's drawing space."""
WIDTH = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One quantity."""

    label: str
    detail: str
    lines: tuple[str, ...]
    """Points ``x,y x,y …``, a line each; what was not measured leaves a gap."""
    ticks: tuple[Tick, ...]
    """Of the vertical axis: ``x`` is per cent of the height, from the bottom."""
    band: str = ""
    """Outline of an interval around the line, points as in ``lines``; empty = none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveChart:
    """Curves above one axis."""

    id: str
    title: str
    note: str
    curves: tuple[Curve, ...]
    ticks: tuple[Tick, ...]
    unit: str
    """Follows the last tick."""


def lines(
    points: Sequence[tuple[float, float | None]], *, top: float, bottom: float = 0.0
) -> tuple[str, ...]:
    """Return the lines through ``points``.

    Args:
        points: Place 0..1 from the left, and value; ``None`` ends a line.
        top: The value at the upper edge.
        bottom: The value at the lower edge, below ``top``.
    """
    parts: list[list[str]] = [[]]
    for place, value in points:
        if value is None:
            parts.append([])
            continue
        parts[-1].append(_at(place, value, top=top, bottom=bottom))
    return tuple(" ".join(part) for part in parts if len(part) > 1)


def band(points: Sequence[tuple[float, float, float]], *, top: float, bottom: float = 0.0) -> str:
    """Return the outline of place, low and high: along the highs, and back along the lows."""
    there = [_at(place, high, top=top, bottom=bottom) for place, _, high in points]
    back = [_at(place, low, top=top, bottom=bottom) for place, low, _ in reversed(points)]
    return " ".join([*there, *back])


def _at(place: float, value: float, *, top: float, bottom: float) -> str:
    return f"{WIDTH * place:.1f},{HEIGHT * (top - value) / (top - bottom):.1f}"


def bounds(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Return the lowest and the highest of an axis's ticks, for the vertical axis."""
    return (Tick(x=0.0, label=ticks[0].label), Tick(x=100.0, label=ticks[-1].label))
