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


def lines(points: Sequence[tuple[float, float | None]], *, top: float) -> tuple[str, ...]:
    """Return the lines through ``points``.

    Args:
        points: Place 0..1 from the left, and value; ``None`` ends a line.
        top: The value at the upper edge, above 0.
    """
    parts: list[list[str]] = [[]]
    for place, value in points:
        if value is None:
            parts.append([])
            continue
        parts[-1].append(f"{WIDTH * place:.1f},{HEIGHT * (1 - value / top):.1f}")
    return tuple(" ".join(part) for part in parts if len(part) > 1)


def bounds(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Return the lowest and the highest of an axis's ticks, for the vertical axis."""
    return (Tick(x=0.0, label=ticks[0].label), Tick(x=100.0, label=ticks[-1].label))
