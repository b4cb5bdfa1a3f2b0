"""Plain data out of a file, with the line of every part of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Place = tuple[str | int, ...]
"""Keys and indices from the top."""


class NotReadable(ValueError):
    """The text breaks its format's grammar."""

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """From 1; ``None`` = of the text as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """The content of one file."""

    value: Any
    """Objects, lists, text, numbers, truth values; ``None``; dates as their libraries have them."""
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """Return the line, from 1, of ``place`` or of the nearest part around it that has one."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)
