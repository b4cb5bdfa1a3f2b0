"""Levels of load as people type them: one, several in turn, or a ramp between two."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

_PER_SECOND = {"": 1.0, "s": 1.0, "m": 1 / 60, "h": 1 / 3600}
_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:/(s|m|h))?")
_SIZE = re.compile(r"([0-9]{1,9})([km]?)b?")
_UNITS = {"": 1, "k": 1024, "m": 1024 * 1024}
FEWEST_BYTES = 64
MOST_BYTES = 16 * 1024 * 1024
_RAMP = ".."
_ENDS = 2
MOST_LEVELS = 100
MOST_AT_ONCE = 100_000
MOST_PER_SECOND = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A setting's value that is more than a number."""

    text: str
    """As typed: what records and listings show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels(Typed):
    """One or several levels of load."""

    values: tuple[float, ...]
    """At least one, each above 0; of a ramp its two ends."""
    is_ramp: bool = False

    @property
    def single(self) -> float | None:
        """The level, where there is only one."""
        return self.values[0] if len(self.values) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRange(Typed):
    """Between which loads a sweep looks for the saturation point."""

    by: Literal["concurrency", "rate"]
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSizes(Typed):
    """Lengths of prompts, each a level of its own."""

    values: tuple[int, ...]
    """Bytes."""


def prompt_sizes(text: str) -> PromptSizes:
    """Return `1k,16k,128k`: bytes; `k` = 1024.

    Raises:
        ValueError: It is no list of sizes, or one is out of bounds.
    """
    read = [_SIZE.fullmatch(part.strip().lower()) for part in text.split(",")]
    values = tuple(int(each[1]) * _UNITS[each[2]] for each in read if each is not None)
    if len(values) != len(read) or not all(FEWEST_BYTES <= v <= MOST_BYTES for v in values):
        message = f"sizes from {FEWEST_BYTES} bytes to 16m are needed, such as `1k,16k,128k`"
        raise ValueError(message)
    if len(values) > MOST_LEVELS:
        message = f"at most {MOST_LEVELS} levels are run one after another"
        raise ValueError(message)
    return PromptSizes(text=text.strip(), values=values)


def concurrency_levels(text: str) -> Levels:
    """Return `8`, `1,2,4,8` or `1..64`: requests in flight.

    Raises:
        ValueError: It is none of these.
    """
    return _read(
        text,
        _at_once,
        f"whole numbers from 1 to {MOST_AT_ONCE:,} such as `8`, `1,2,4` or the ramp `1..64`",
    )


def rate_levels(text: str) -> Levels:
    """Return `20/s`, `5/s,10/s` or `5/s..50/s`: requests per second; `/m` and `/h` too.

    Raises:
        ValueError: It is none of these.
    """
    return _read(
        text,
        _rate,
        f"rates above 0, at most {MOST_PER_SECOND:,}/s, such as `20/s`, `90/m`, `5/s,10/s` or `5/s..50/s`",
    )


def sweep_range(text: str) -> SweepRange:
    """Return a rising range: `1..256` at once, `1/s..100/s` a rate.

    Raises:
        ValueError: It is no range, or one that does not rise.
    """
    is_rate = "/" in text
    try:
        levels = rate_levels(text) if is_rate else concurrency_levels(text)
    except ValueError:
        levels = None
    if levels is None or not levels.is_ramp or levels.values[0] >= levels.values[1]:
        raise ValueError("a rising range such as `1..256` (at once) or `1/s..100/s` is needed")
    low, high = levels.values
    return SweepRange(
        text=text.strip(), by="rate" if is_rate else "concurrency", low=low, high=high
    )


def _read(text: str, read: Callable[[str], float], needed: str) -> Levels:
    is_ramp = _RAMP in text
    parts = [part.strip() for part in text.split(_RAMP if is_ramp else ",")]
    try:
        values = tuple(map(read, parts))
    except ValueError as fault:
        message = f"{needed} are needed"
        raise ValueError(message) from fault
    if is_ramp and len(values) != _ENDS:
        raise ValueError("a ramp has two ends, such as `1..64`")
    if len(values) > MOST_LEVELS:
        message = f"at most {MOST_LEVELS} levels are run one after another"
        raise ValueError(message)
    return Levels(text=text.strip(), values=values, is_ramp=is_ramp)


def _at_once(text: str) -> float:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= MOST_AT_ONCE:
        raise ValueError
    return float(text)


def _rate(text: str) -> float:
    found = _RATE.fullmatch(text)
    value = float(found[1]) * _PER_SECOND[found[2] or ""] if found else 0.0
    if not 0 < value <= MOST_PER_SECOND:
        raise ValueError
    return value
