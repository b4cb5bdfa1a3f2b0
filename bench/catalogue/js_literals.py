"""Reads the constants of a JavaScript module without running it. Pure.

Only what is data is understood: literals, arrays, objects, spreads and names of other constants,
`new Date("…")`. Anything else (a call, arithmetic, a function) becomes ``UNREAD``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

MAX_DEPTH = 64
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_NUMBER = re.compile(r"-?(?:0[xX][\da-fA-F]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?|\d+\.)")
_STRING = re.compile(r""""(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.)*`""", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_DECLARED = re.compile(r"^(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=", re.MULTILINE)
_IMPORTED = re.compile(r"^import\s*\{([^}]*)\}\s*from\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_REEXPORTED = re.compile(r"^export\s*(?:\*|\{([^}]*)\})\s*from\s*[\"']([^\"']+)[\"']", re.MULTILINE)
_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": None,
    "Infinity": None,
    "NaN": None,
}


class _Unread(Enum):
    """The type of ``UNREAD``."""

    UNREAD = "unread"


UNREAD: Final = _Unread.UNREAD
"""Stands for an expression that is no data; dropped from objects and arrays."""


class NotData(ValueError):
    """The text can't be followed as JavaScript data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """The top level of one module, unread."""

    text: str
    declared: Mapping[str, int] = field(default_factory=dict)
    """Name → where its value begins."""
    imported: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Name here → module and its name there."""
    all_of: tuple[str, ...] = ()
    """Modules that are exported whole."""


def read_module(text: str) -> Module:
    """Find what a module declares, imports and passes on."""
    imported = {}
    for names, path in (*_IMPORTED.findall(text), *_REEXPORTED.findall(text)):
        for each in filter(None, (name.strip() for name in names.split(","))):
            there, _, here = each.partition(" as ")
            imported[(here or there).strip()] = (path, there.strip())
    return Module(
        text=text,
        declared={found[1]: found.end() for found in _DECLARED.finditer(text)},
        imported=imported,
        all_of=tuple(path for names, path in _REEXPORTED.findall(text) if not names),
    )


def read_value(module: Module, name: str, look_up: Callable[[str], Any]) -> Any:  # noqa: ANN401  any data
    """Return the value of a declared name.

    Args:
        module: Declares ``name``.
        name: Of a constant.
        look_up: Returns the value of another name, or ``UNREAD``.

    Raises:
        NotData: Brackets that don't close, text that is no JavaScript.
    """
    return _Reader(module.text, look_up).value(module.declared[name], 0)[0]


class _Reader:
    """Recursive descent over one text; each step returns a value and where it ended."""

    def __init__(self, text: str, look_up: Callable[[str], Any]) -> None:
        self._text = text
        self._look_up = look_up

    def value(self, at: int, depth: int) -> tuple[Any, int]:
        """Return the expression that begins at ``at``."""
        if depth > MAX_DEPTH:
            raise NotData("brackets are nested too deep")
        at = self._skip(at)
        read, end = self._term(at, depth)
        after = self._skip(end)
        if self._text[after : after + 1] in {",", "]", "}", ";", ")", ""} or self._ends_line(end):
            return read, end
        return UNREAD, self._past_expression(after)

    def _term(self, at: int, depth: int) -> tuple[Any, int]:
        match self._text[at : at + 1]:
            case "[":
                return self._array(at + 1, depth)
            case "{":
                return self._object(at + 1, depth)
            case _:
                return self._word(at)

    def _word(self, at: int) -> tuple[Any, int]:
        if (found := _STRING.match(self._text, at)) is not None:
            return _unescaped(found[0][1:-1]), found.end()
        if (found := _NUMBER.match(self._text, at)) is not None:
            return _number(found[0]), found.end()
        if (found := _NAME.match(self._text, at)) is not None:
            return self._named(found[0], found.end())
        return UNREAD, self._past_expression(at)

    def _named(self, name: str, end: int) -> tuple[Any, int]:
        if name in _WORDS:
            return _WORDS[name], end
        if name == "new":
            return self._date(self._skip(end))
        return self._look_up(name), end

    def _date(self, at: int) -> tuple[Any, int]:
        """Return the text of `Date("…")`."""
        found = re.compile(r"Date\(\s*([\"'])([^\"']*)\1\s*\)").match(self._text, at)
        return (found[2], found.end()) if found else (UNREAD, self._past_expression(at))

    def _array(self, at: int, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            at = self._skip(at)
            if self._text[at : at + 1] == "]":
                return items, at + 1
            spread = self._text.startswith("...", at)
            read, at = self.value(at + 3 if spread else at, depth + 1)
            if spread and isinstance(read, list):
                items.extend(read)
            elif not spread and read is not UNREAD:
                items.append(read)
            at = self._past_comma(at, "]")

    def _object(self, at: int, depth: int) -> tuple[dict[str, Any], int]:
        made: dict[str, Any] = {}
        while True:
            at = self._skip(at)
            if self._text[at : at + 1] == "}":
                return made, at + 1
            if self._text.startswith("...", at):
                read, at = self.value(at + 3, depth + 1)
                made.update(read if isinstance(read, dict) else {})
            else:
                key, at = self._key(at)
                read, at = self._member(key, at, depth)
                if read is not UNREAD:
                    made[key] = read
            at = self._past_comma(at, "}")

    def _key(self, at: int) -> tuple[str, int]:
        if (found := _STRING.match(self._text, at)) is not None:
            return _unescaped(found[0][1:-1]), found.end()
        found = _NAME.match(self._text, at) or re.compile(r"\d+").match(self._text, at)
        if found is None:
            message = f"a key is needed at character {at}, not `{self._text[at : at + 12]}`"
            raise NotData(message)
        return found[0], found.end()

    def _member(self, key: str, at: int, depth: int) -> tuple[Any, int]:
        at = self._skip(at)
        if self._text[at : at + 1] == ":":
            return self.value(at + 1, depth + 1)
        if self._text[at : at + 1] in {",", "}"}:
            return self._look_up(key), at
        return UNREAD, self._past_expression(at)  # a method

    def _past_comma(self, at: int, closing: str) -> int:
        at = self._skip(at)
        here = self._text[at : at + 1]
        if here == ",":
            return at + 1
        if here == closing:
            return at
        message = (
            f"`,` or `{closing}` is needed at character {at}, not `{self._text[at : at + 12]}`"
        )
        raise NotData(message)

    def _past_expression(self, at: int) -> int:
        """Return where an expression that is not read ends: before `,`, `;` or a closing bracket."""
        depth = 0
        while at < len(self._text):
            if (found := _STRING.match(self._text, at)) is not None:
                at = found.end()
                continue
            here = self._text[at]
            if depth == 0 and here in ",;)]}":
                return at
            depth += (here in "([{") - (here in ")]}")
            at += 1
        raise NotData("the text ends inside an expression")

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at

    def _ends_line(self, at: int) -> bool:
        """Whether a statement without `;` ends here: the next line begins another one."""
        rest = _SPACE.match(self._text, at)
        gap = rest[0] if rest else ""
        word = _NAME.match(self._text, at + len(gap))
        return "\n" in gap and word is not None and word[0] in {"export", "const", "let", "var"}


def _number(text: str) -> float | int | None:
    plain = text.replace("_", "")
    try:
        return int(plain, 0) if re.fullmatch(r"-?(\d+|0[xX][\da-fA-F]+)", plain) else float(plain)
    except ValueError:
        return None


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "ux" and len(code) > 1:
            number = int(code[1:].strip("{}"), 16)
            return chr(number) if number <= 0x10FFFF else "\ufffd"  # noqa: PLR2004  Unicode's end
        return "" if code in {"\n", "\r\n"} else _ESCAPED.get(code, code)

    # Two escapes may be the halves of one character; a half alone is none.
    halves = _ESCAPE.sub(plain, text).encode("utf-16-le", "surrogatepass")
    return halves.decode("utf-16-le", "replace")
