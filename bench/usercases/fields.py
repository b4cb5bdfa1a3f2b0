"""Reads the fields of a table one by one and collects every fault with its line. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeVar

from bench.usercases.located import Located, Place

_T = TypeVar("_T")
_MAX_SHOWN = 60


@dataclass(slots=True)
class Faults:
    """What is wrong, in order of discovery; each fault once."""

    file: Located
    found: dict[tuple[int, str], None] = field(default_factory=dict)

    def add(self, place: Place, text: str) -> None:
        """Note a fault at ``place``."""
        self.found[(self.file.line(place), text)] = None


class Table:
    """One table of a file. `max-tokens` and `max_tokens` are the same field.

    Args:
        value: What stands there.
        place: Where that is.
        faults: Takes what is wrong.
        kind: What the table is, for messages: `case`, `check`.
    """

    def __init__(self, value: object, place: Place, faults: Faults, *, kind: str) -> None:
        self.place = place
        self.faults = faults
        self._kind = kind
        self._known: list[str] = []
        self._fields: dict[str, tuple[str, object]] = {}
        if not isinstance(value, Mapping):
            faults.add(place, f"a {kind} is a table of fields, not {shown(value)}")
            return
        for key, one in value.items():
            name = str(key).replace("_", "-")
            if name in self._fields:
                faults.add((*place, key), f"`{name}` stands twice")
            self._fields[name] = (str(key), one)

    def has(self, name: str) -> bool:
        """Return whether the field is there."""
        return name in self._fields

    def place_of(self, name: str) -> Place:
        """Return where a field stands; where it doesn't, the table's own place."""
        return (*self.place, self._fields[name][0]) if name in self._fields else self.place

    def raw(self, name: str) -> Any:  # noqa: ANN401 - any plain value
        """Return a field's value as it is; ``None`` where it doesn't stand."""
        self._known.append(name)
        return self._fields[name][1] if name in self._fields else None

    def take(self, name: str, read: Callable[[object], _T]) -> _T | None:
        """Return a field's value; ``None`` where it doesn't stand or can't be read."""
        raw = self.raw(name)
        if name not in self._fields:
            return None
        try:
            return read(raw)
        except ValueError as fault:
            self.faults.add(self.place_of(name), f"`{name}` is {shown(raw)}: {fault}")
            return None

    def need(self, name: str, read: Callable[[object], _T]) -> _T | None:
        """Return a field's value; its absence is a fault."""
        if name not in self._fields:
            self._known.append(name)
            self.faults.add(self.place, f"this {self._kind} has no `{name}`")
            return None
        return self.take(name, read)

    def finish(self) -> None:
        """Note the fields that nobody asked for."""
        for name, (key, _) in self._fields.items():
            if name in self._known:
                continue
            near = get_close_matches(name, self._known, n=2, cutoff=0.6)
            meant = f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
            self.faults.add((*self.place, key), f"a {self._kind} has no field `{key}`{meant}")


def shown(value: object) -> str:
    """Return a value as a message repeats it: one line, short."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "empty"
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    line = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    return f"`{line if len(line) <= _MAX_SHOWN else line[: _MAX_SHOWN - 1] + '…'}`"


def text(raw: object) -> str:
    """Return text that is not blank."""
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("some text is needed")
    return raw


def texts(raw: object) -> tuple[str, ...]:
    """Return one text or a list of them, none blank."""
    if isinstance(raw, str):
        return (text(raw),)
    if not isinstance(raw, list | tuple) or not raw:
        raise ValueError("a text or a list of texts is needed")
    return tuple(text(one) for one in raw)


def truth(raw: object) -> bool:
    """Return `true` or `false`."""
    if not isinstance(raw, bool):
        raise ValueError("`true` or `false` is needed")  # noqa: TRY004 - a value's fault
    return raw


def whole(least: int, most: int | None = None) -> Callable[[object], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""

    def read(raw: object) -> int:
        if (
            isinstance(raw, bool)
            or not isinstance(raw, int)
            or raw < least
            or (most is not None and raw > most)
        ):
            bound = f"from {least}" if most is None else f"from {least} to {most}"
            message = f"a whole number {bound} is needed"
            raise ValueError(message)
        return raw

    return read


def amount(raw: object) -> float:
    """Return a finite number from 0."""
    value = number(raw)
    if value < 0:
        raise ValueError("a number from 0 is needed")
    return value


def number(raw: object) -> float:
    """Return a finite number; text that is one counts, since a variable may have brought it."""
    if isinstance(raw, str):
        try:
            raw = float(raw)
        except ValueError:
            raw = None
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not abs(raw) < float("inf"):
        raise ValueError("a number is needed")
    return float(raw)


def one_of(*names: str) -> Callable[[object], str]:
    """Return a reader of a closed choice."""

    def read(raw: object) -> str:
        if not isinstance(raw, str) or raw not in names:
            listed = ", ".join(f"`{name}`" for name in names)
            message = f"one of {listed} is needed"
            raise ValueError(message)
        return raw

    return read


def mapping(raw: object) -> dict[str, Any]:
    """Return a table."""
    if not isinstance(raw, Mapping):
        raise ValueError("a table is needed")  # noqa: TRY004 - a value's fault
    return {str(key): value for key, value in raw.items()}


def listed(raw: object) -> list[Any]:
    """Return a list with something in it."""
    if not isinstance(raw, list | tuple) or not raw:
        raise ValueError("a list with something in it is needed")
    return list(raw)
