r"""Makes hostile text harmless and visible, for each format.

Everywhere, characters that steer a terminal, reorder or hide text are shown as an escape such as
``\x1b`` or ``\u202e``; a backslash doubles, so that no escape can be forged.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories: controls, format characters (bidi, zero width), surrogates, private use,
unassigned, line and paragraph separators."""
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that are letters or symbols by category and look like nothing."""
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_PLAIN_CELL = re.compile(r"[\w .,:;%$/()·=≥≤+\[\]-]*")
_FORMULA = re.compile(r"[\s\x00-\x20]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_QUOTED = re.compile(r"[\",;]|^\s|\s$")
_PLAIN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|/-]*")
"""Text that every escape leaves as it is."""
_SIGNED = re.compile(r"-|[+-]\d[\w .,%]*")
_HARMLESS_CODE = re.compile(r"(`[a-z-][a-z0-9_. -]*`)")
"""Code spans that can't hold anything active, whoever wrote them: commands, flags, error codes."""
_ADDRESS = re.compile(r"(\S*@\S*)")
"""What some readers link or notify; no escape stops them, being code does."""
_PROSE_SPECIAL = re.compile(r"([\\`*\[\]|~#!^]|(?<!\w)_|_(?!\w))")


def visible(text: str, *, keep: str = "") -> str:
    """Return ``text`` with everything invisible or steering shown as an escape.

    Args:
        text: Anything.
        keep: Characters that pass as they are, such as a line feed in a block.
    """
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return text.translate(_table(keep))


def shorten(text: str, limit: int) -> str:
    """Cut to ``limit`` characters and say how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} … ({len(text) - limit:,} more characters)"


def markdown_cell(text: str) -> str:
    """Return ``text`` for a table cell or list item: plain when harmless, else as code.

    Inside code nothing is a link, an image, markup or a mention. What could end the code or the
    cell is escaped visibly; ``&``, ``<`` and ``>`` become entities, so that no reader of the raw
    file that is less careful finds markup either.
    """
    if not text.strip():
        return "-" if not text else "`(blank)`"
    if _SIGNED.fullmatch(text):
        return text
    if _PLAIN_CELL.fullmatch(text) and not _looks_active(text):
        return text
    return _as_code(text)


def markdown_prose(text: str) -> str:
    """Return ``text`` for a paragraph, with everything that Markdown would act on disarmed."""
    return "".join(part if is_code else _disarmed(part) for part, is_code in code_parts(text))


def code_parts(text: str) -> Iterator[tuple[str, bool]]:
    """Split prose at its harmless code spans; yield each part and whether it is such a span."""
    for number, part in enumerate(_HARMLESS_CODE.split(text)):
        yield part, number % 2 == 1


def csv_cell(value: object) -> str:
    """Return one cell: numbers and truth values as they are, text that no spreadsheet runs.

    Text that begins like a formula gets a leading apostrophe, which spreadsheets hide.
    """
    if value is None:
        return ""
    write = _CELLS.get(type(value))
    return _csv_text(str(value)) if write is None else write(value)


def wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    """Break at spaces into lines of at most ``width`` terminal columns; too long words are cut."""
    lines, line = [], ""
    for word in text.split(" "):
        rest = word
        while True:
            lead = line + " " if line.strip() else line
            if display_width(lead + rest) <= width:
                line = lead + rest
                break
            if line.strip():
                lines.append(line)
                line = indent if lines else ""
                continue
            head = _take(rest, width - display_width(line))
            lines.append(line + head)
            rest, line = rest[len(head) :], indent
    return [*lines, line] if line.strip() else lines


def display_width(text: str) -> int:
    """Return the terminal columns that ``text`` takes; wide characters take two."""
    return len(text) if text.isascii() else sum(_columns(char) for char in text)


def fit(text: str, width: int) -> str:
    """Cut to ``width`` terminal columns, with an ellipsis in the middle where it is too long."""
    if display_width(text) <= width:
        return text
    head, tail = _take(text, (width - 1) // 2), _take(text[::-1], width - 1 - (width - 1) // 2)
    return f"{head}…{tail[::-1]}"


class _Shown(dict[int, str]):
    """Code point → how it is shown, filled in as characters turn up."""

    def __missing__(self, code: int) -> str:
        self[code] = _shown(chr(code))
        return self[code]


@cache
def _table(keep: str) -> _Shown:
    return _Shown({ord(char): char for char in keep})


def _shown(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    if char not in _BLANKS and unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 -- the last code that two digits can say
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 -- four digits


def _looks_active(text: str) -> bool:
    """Return whether a Markdown reader would link, emphasise or list harmless characters."""
    return (
        "://" in text
        or "www." in text
        or "__" in text
        or "](" in text
        or text[0] in "_+-=["
        or text[-1] == "_"
        or " _" in text
    )


def _disarmed(text: str) -> str:
    parts = _ADDRESS.split(text)
    return "".join(_as_code(part) if n % 2 else _escaped(part) for n, part in enumerate(parts))


def _escaped(text: str) -> str:
    shown = _PROSE_SPECIAL.sub(r"\\\1", _entities(visible(text)))
    return shown.replace("://", "&#58;//").replace("www.", "www&#46;")


def _as_code(text: str) -> str:
    shown = visible(text).replace("`", "\\x60").replace("|", "\\x7c")
    return f"`{_entities(shown)}`"


def _entities(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@lru_cache(maxsize=4096)
def _csv_text(text: str) -> str:
    # Remembered, because most cells of a long table say what the cell above them says.
    if _PLAIN_ID.fullmatch(text):
        return text
    shown = visible(text)
    if _FORMULA.match(text):
        shown = f"'{shown}"
    if _QUOTED.search(shown):
        doubled = shown.replace('"', '""')
        return f'"{doubled}"'
    return shown


def _number(value: float) -> str:
    """Write a number without exponent and without digits that no clock or price has."""
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_CELLS: Mapping[type, Callable[[Any], str]] = {
    bool: {True: "true", False: "false"}.__getitem__,
    int: str,
    float: _number,
    str: _csv_text,
}
"""How a value is written, by its type: looked up, because a table has a million cells."""


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _take(text: str, width: int) -> str:
    taken, used = "", 0
    for char in text:
        used += _columns(char)
        if used > width:
            break
        taken += char
    return taken
