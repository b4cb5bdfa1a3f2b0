"""TOML with lines: ``tomllib`` reads it, and a scanner finds where each key and element stands.

The scanner only ever sees text that ``tomllib`` has accepted, so it checks nothing.
"""

import re
import tomllib
from bisect import bisect_right
from collections import defaultdict
from contextlib import suppress

from bench.usercases.located import Located, NotReadable, Place

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_INLINE_BLANK = re.compile(r"[ \t]*")
_KEY_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([A-Za-z0-9_-]+)')
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_NAMED_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_AT_END = " (at end of document)"
_SCALAR = re.compile(r"[^,\]}#\n]*")


def read_toml(text: str) -> Located:
    """Return the content of a TOML file.

    Raises:
        NotReadable: It is none.
    """
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refusal(str(error), text) from error
    except RecursionError as error:
        raise NotReadable("nested too deeply") from error
    scanner = _Scanner(text.replace("\r\n", "\n"))
    with suppress(RecursionError):  # lines are for messages only
        scanner.scan()
    return Located(value=value, lines=scanner.lines)


def _refusal(said: str, text: str) -> NotReadable:
    """Return the parser's complaint with the line that it names at its end."""
    if said.endswith(_AT_END):
        return NotReadable(said.removesuffix(_AT_END) + " at the end", line=text.count("\n") + 1)
    match = _NAMED_LINE.search(said)
    if match is None:
        return NotReadable(said)
    return NotReadable(f"{said[: match.start()]} (column {match[2]})", line=int(match[1]))


class _Scanner:
    """Walks through valid TOML once and notes on which line each thing begins."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Place, int] = {}
        self._text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._counts: dict[Place, int] = defaultdict(int)
        """Place of each array of tables → its tables so far."""

    def scan(self) -> None:
        """Note everything."""
        table: Place = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Place:
        line = self._line()
        is_array = self._text.startswith("[[", self._at)
        self._at += 2 if is_array else 1
        *outer, last = self._key()
        self._at += 2 if is_array else 1
        place: Place = ()
        for part in outer:
            place = self._entered((*place, part))
        place = (*place, last)
        if is_array:
            self.lines.setdefault(place, line)
            self._counts[place] += 1
        place = self._entered(place)
        self.lines[place] = line
        return place

    def _entered(self, place: Place) -> Place:
        """Return the place of the table that is open there: of an array, the last one."""
        count = self._counts.get(place, 0)
        return (*place, count - 1) if count else place

    def _pair(self, table: Place) -> None:
        line, place = self._line(), table
        for part in self._key():
            place = (*place, part)
            self.lines.setdefault(place, line)
        self._at += 1  # the equals sign
        self._skip(_INLINE_BLANK)
        self._value(place)

    def _key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self._skip(_INLINE_BLANK)
            match = _KEY_PART.match(self._text, self._at)
            if match is None:
                return parts
            self._at = match.end()
            parts.append(next(group for group in match.groups() if group is not None))
            self._skip(_INLINE_BLANK)
            if not self._text.startswith(".", self._at):
                return parts
            self._at += 1

    def _value(self, place: Place) -> None:
        match self._text[self._at : self._at + 1]:
            case "[":
                self._array(place)
            case "{":
                self._inline_table(place)
            case '"' | "'":
                self._skip(_STRING)
            case _:
                self._skip(_SCALAR)

    def _array(self, place: Place) -> None:
        self._at += 1
        index = 0
        while self._skip(_BLANK) < len(self._text) and self._text[self._at] != "]":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self.lines[(*place, index)] = self._line()
            self._value((*place, index))
            index += 1
        self._at += 1

    def _inline_table(self, place: Place) -> None:
        self._at += 1
        while self._skip(_BLANK) < len(self._text) and self._text[self._at] != "}":
            if self._text[self._at] == ",":
                self._at += 1
                continue
            self._pair(place)
        self._at += 1

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match is not None else self._at + 1
        return self._at
