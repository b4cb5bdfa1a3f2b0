"""Durations as people type them. Pure."""

import re

UNITS_MS = {"": 1.0, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h)?")
MOST_MS = 366 * 24 * 3.6e6
"""Timers and nanoseconds end somewhere, and so does whoever waits."""


def duration_ms(text: str) -> float:
    """Return milliseconds: `2m`, `500ms`, `1.5s`, `1h`; a bare number is milliseconds.

    Raises:
        ValueError: It is none.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise ValueError("a duration such as `500ms`, `2m` or plain milliseconds is needed")
    value = float(found[1]) * UNITS_MS[found[2] or ""]
    if value > MOST_MS:
        raise ValueError("a duration of at most 8784h, a year, is needed")
    return value


def duration_text(value_ms: float) -> str:
    """Return a duration as a person would type it: `500ms`, `10s`, `1.5s`, `2m`."""
    minutes = value_ms / UNITS_MS["m"]
    if minutes > 1 and minutes.is_integer():
        return f"{minutes:.0f}m"
    if value_ms >= UNITS_MS["s"]:
        return f"{value_ms / UNITS_MS['s']:.10g}s"
    return f"{value_ms:.10g}ms"
