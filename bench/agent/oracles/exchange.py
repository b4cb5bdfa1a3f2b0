"""Checks of the tasks about the exchange format: a reader that goes character by character."""

from dataclasses import dataclass, field

from bench.agent.oracles.making import calls, several
from bench.agent.task import Check, Equals, Expectation, Raises
from bench.seeds import SeededStream

_CURATED = (
    "",
    " ",
    ";",
    " ; ",
    '""',
    '"";',
    ' "" ;x',
    '" a ";  b  ',
    'a"b',
    '"a"b',
    'a "b"',
    '"a" ; "b"',
    '"a',
    '"',
    '"""',
    '""""',
    '"a\\nb"',
    '"a\\\\nb"',
    '"a\\tb"',
    '"a\\"',
    '"a\\""',
    "a\\nb",
    "\\",
    "\ta\t;\u00a0b",
    '\t"a"',
    '"a";\t',
    "a\r",
    "null",
    '"x;y;""z""";  ',
    "äöü;\U0001f600",
)
_PIECES = ("a", " ", ";", '"', '""', "\\n", "\\\\", "b c", "; ", ' "', '"')


def checks() -> tuple[Check, ...]:
    """Return the checks."""
    draw = SeededStream(16, label="coding task")
    made = ["".join(several(draw, _PIECES, draw.between(2, 9))) for _ in range(24)]
    made += [";".join(_field(draw) for _ in range(draw.between(1, 4))) for _ in range(10)]
    return calls("fields", [*_CURATED, *made], _read)


def _field(draw: SeededStream) -> str:
    if draw.below(100) < 50:  # noqa: PLR2004 - every other one
        return draw.pick(("", " ", "word", " two words ", "back\\slash"))
    inner = "".join(several(draw, ("x", " ", ";", '""', "\\n", "\\\\"), draw.between(0, 5)))
    return f'{draw.pick(("", "  "))}"{inner}"{draw.pick(("", " "))}'


@dataclass(slots=True)
class _Reading:
    """State after some characters: where in a field, and what it holds so far."""

    place: str = "start"
    text: str = ""
    done: list[str | None] = field(default_factory=list)

    def close(self) -> None:
        if self.place in ("start", "plain"):
            self.done.append(self.text.rstrip(" ") or None)
        else:
            self.done.append(self.text)
        self.place, self.text = "start", ""


_ESCAPES = {"n": "\n", "\\": "\\"}


def _read(line: str) -> Expectation:
    if line == "":
        return Equals(value=[])
    reading = _Reading()
    for character in line:
        if not _step(reading, character):
            return Raises(name="BadLine")
    if reading.place in ("quoted", "escape"):
        return Raises(name="BadLine")
    reading.close()
    return Equals(value=reading.done)


def _step(reading: _Reading, character: str) -> bool:
    """Take one character in; tell whether it may stand there."""
    inside = reading.place in ("quoted", "escape")
    return _inside(reading, character) if inside else _outside(reading, character)


def _inside(reading: _Reading, character: str) -> bool:
    match reading.place, character:
        case "quoted", '"':
            reading.place = "quote"
        case "quoted", "\\":
            reading.place = "escape"
        case "quoted", _:
            reading.text += character
        case _:
            reading.place = "quoted"
            reading.text += _ESCAPES.get(character, "")
            return character in _ESCAPES
    return True


def _outside(reading: _Reading, character: str) -> bool:
    match reading.place, character:
        case _, ";":
            reading.close()
        case "start", " ":
            pass
        case (("start" | "quote"), '"'):
            reading.text += '"' if reading.place == "quote" else ""
            reading.place = "quoted"
        case (("quote" | "behind"), " "):
            reading.place = "behind"
        case (("start" | "plain"), _) if character != '"':
            reading.text += character
            reading.place = "plain"
        case _:
            return False
    return True
