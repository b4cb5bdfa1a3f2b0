"""A report's content before it has a format: sections of tables, in reading order."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One value. ``text`` and ``detail`` may be hostile; every format escapes both."""

    text: str
    detail: str = ""
    """What the value stands on: number of trials, interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under named columns; the first column names the row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: int = 1
    """How many leading columns hold words and are set left; the others hold figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading, what it is about, and its table."""

    id: str
    title: str
    note: str
    """How to read it, in plain words."""
    table: Table
    is_folded: bool = False
    """Background that most readers skip: closed at first where a format can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One failed or wrong trial, shown with what came back."""

    title: str
    facts: tuple[tuple[str, str], ...] = field(default=())
    content: str = ""
    """Model output, possibly shortened."""


def text(*values: str) -> tuple[Cell, ...]:
    """Return a row of plain cells."""
    return tuple(Cell(text=value) for value in values)
