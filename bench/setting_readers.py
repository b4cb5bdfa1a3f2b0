"""How the text of settings is read. Pure."""

import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from bench.durations import duration_ms

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})
_MOST_DIGITS = 18
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

MOST = 1_000_000_000
"""No setting means more; beyond it, what is reckoned from it leaves numbers of 64 bits."""
Read = Callable[[str], Any]
"""Text → value. Raises ``ValueError`` whose text says what is needed."""


def positive_duration_ms(text: str) -> float:
    """Return a duration above zero, in milliseconds."""
    value = duration_ms(text)
    if value <= 0:
        raise ValueError("a duration above 0 is needed")
    return value


def limit_ms(text: str) -> float | None:
    """Return a duration above zero in milliseconds, or ``None`` for `none`."""
    return None if text.strip().lower() == "none" else positive_duration_ms(text)


def whole(least: int, most: int = MOST) -> Read:
    """Return a reader of whole numbers from ``least`` to ``most``."""

    def read(text: str) -> int:
        digits = text.strip()
        if not digits.isascii() or not digits.isdecimal():
            message = f"a whole number from {least} is needed"
            raise ValueError(message)
        value = int(digits) if len(digits) <= _MOST_DIGITS else most + 1
        if not least <= value <= most:
            upto = f" to {most:,}" if value > most else ""
            message = f"a whole number from {least}{upto} is needed"
            raise ValueError(message)
        return value

    return read


def amount(text: str) -> float:
    """Return a number from 0 to ``MOST``: sums and products of it stay finite."""
    number = text.strip()
    value = float(number) if _NUMBER.fullmatch(number) else math.nan
    if not 0 <= value <= MOST:
        message = (
            f"a number from 0 to {MOST:,} is needed"
            if value > MOST
            else "a number from 0 is needed"
        )
        raise ValueError(message)
    return value


def dollars(text: str) -> float:
    """Return US dollars above 0; a `$` in front is let through."""
    value = amount(text.strip().removeprefix("$"))
    if value == 0:
        raise ValueError("an amount of US dollars above 0 is needed")
    return value


def price_pair(text: str) -> tuple[float, float]:
    """Return assumed input and output prices in US dollars per million tokens."""
    left, slash, right = text.partition("/")
    if not slash:
        raise ValueError("two prices per million tokens are needed, `IN/OUT`, such as `0.15/0.60`")
    return amount(left), amount(right)


def flag(text: str) -> bool:
    """Return the truth of `true`, `1`, `yes`, `on` and their opposites."""
    word = text.strip().lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ValueError("`true` or `false` is needed")


def words(text: str) -> str:
    """Return text that is not blank."""
    if not text.strip():
        raise ValueError("some text is needed")
    return text.strip()


def header(text: str) -> tuple[str, str]:
    """Return name and value of `Name: value`."""
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name.strip()) or not value.strip().isprintable():
        raise ValueError("a header such as `Name: value` is needed")
    return name.strip(), value.strip()


def header_name(text: str) -> str:
    """Return the name of a header."""
    if not _TOKEN.fullmatch(text.strip()):
        raise ValueError("the name of a header is needed, such as `x-api-key`")
    return text.strip()


def header_variable(text: str) -> tuple[str, str]:
    """Return header name and variable of `NAME=VARIABLE`."""
    name, equals, variable = text.partition("=")
    if not equals or not _TOKEN.fullmatch(name.strip()) or not _VARIABLE.fullmatch(variable):
        raise ValueError("`HEADER=VARIABLE` is needed; the value stands in the variable")
    return name.strip(), variable


def variable(text: str) -> str:
    """Return the name of an environment variable."""
    if not _VARIABLE.fullmatch(text.strip()):
        raise ValueError("the name of a variable is needed, not the key itself")
    return text.strip()


def one_of(*names: str) -> Read:
    """Return a reader of a closed choice."""

    def read(text: str) -> str:
        if text.strip() not in names:
            known = ", ".join(f"`{name}`" for name in names)
            near = get_close_matches(text.strip(), names, n=1)
            meant = f"; did you mean `{near[0]}`?" if near else ""
            message = f"one of {known} is needed{meant}"
            raise ValueError(message)
        return text.strip()

    return read
