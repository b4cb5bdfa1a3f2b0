"""Texts in few lines: whole where they fit, else what is left out is said where it was. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from bench.report.escaping import fit, visible, wrap

_BORDERS = (". ", "; ")
_CLAUSE_ENDS = (";", ",")


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShare:
    """How many lines texts have that stand together."""

    together: int
    least: int
    """Each can count on them; what it doesn't need is there for the others."""
    longest: int
    """No text has more: else nobody reads it."""


def squeezed(text: str, width: int, *, most: int, indent: str = "  ") -> list[str]:
    """Return a text in at most ``most`` lines; of a longer one words before its ending are left out.

    The ending is the last sentence or clause, which says why or what to do. What goes before it is
    cut behind a clause where one ends late enough, and a parenthesis that is cut open is closed.
    """
    text = visible(text)
    lines = wrap(text, width, indent=indent)
    if len(lines) <= most:
        return lines
    for border in _BORDERS:
        head, ending = _parted(text, border)
        short = _without_words(head, border + ending, (width, most, indent)) if head else None
        if short is not None:
            return short
    short = _without_words(text, "", (width, most, indent))
    return short or [fit(line, width) for line in lines[:most]]


def shared(texts: Sequence[str], width: int, *, lines: LineShare, indent: str = "  ") -> list[str]:
    """Return several texts, in the lines that they share.

    Args:
        texts: So few that each can have the least.
        width: Columns.
        lines: How many.
        indent: Before each further line of a text.
    """
    needed = [min(lines.least, len(wrap(visible(text), width, indent=indent))) for text in texts]
    told: list[str] = []
    for place, text in enumerate(texts):
        room = lines.together - len(told) - sum(needed[place + 1 :])
        most = min(max(room, lines.least), lines.longest)
        told += squeezed(text, width, most=most, indent=indent)
    return told


def _parted(text: str, border: str) -> tuple[str, str]:
    """Part a text at its last border outside parentheses; without one the head is empty."""
    depth, last = 0, 0
    for at, char in enumerate(text):
        depth = _depth(depth, char)
        if not depth and text.startswith(border, at):
            last = at
    return (text[:last], text[last + len(border) :]) if last else ("", text)


def _without_words(head: str, tail: str, room: tuple[int, int, str]) -> list[str] | None:
    """Return as many words of the head as fit before the tail; ``None``: not even one."""
    width, most, indent = room
    words = head.split(" ")

    def lines(count: int) -> list[str]:
        kept = " ".join(words[:count])
        closing = ")" * _open(kept)
        told = f"{kept} …{closing}{tail if closing else tail.lstrip('.;')}".rstrip()
        return wrap(told, width, indent=indent)

    if len(lines(1)) > most:
        return None
    count = max(1, bisect_right(range(1, len(words)), most, key=lambda n: len(lines(n))))
    ends = (n for n in range(count, count // 2, -1) if words[n - 1].endswith(_CLAUSE_ENDS))
    at_clause = lines(next(ends, count))
    return at_clause if len(at_clause) <= most else lines(1)


def _open(text: str) -> int:
    """Return how many parentheses are open at the end of a text."""
    return reduce(_depth, text, 0)


def _depth(depth: int, char: str) -> int:
    return max(0, depth + (char == "(") - (char == ")"))
