"""Gates on a difference of two sides, as people type them: `ttft.p50=+5%`. Pure.

The sign says which way is forbidden: `+` fails when side b is that much above side a, `-` when it is
that much below.
"""

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from bench.load.levels import Typed

Unit = Literal["%", "ms", "pt", "tokens/s"]
Quantity = Literal["ttft", "itl", "total", "tpot", "speed", "errors"]

_METRICS: dict[str, Quantity] = {
    "ttft": "ttft",
    "itl": "itl",
    "total": "total",
    "tpot": "tpot",
    "tokens-per-s": "speed",
    "errors": "errors",
}
_GATE = re.compile(r"([a-z-]+)(?:\.p(\d{1,2}(?:\.\d+)?))?=([+-])(\d+(?:\.\d+)?)(%|ms|s|pt)?")
_HUNDRED = 100.0
_MS_PER_S = 1_000.0
_EXAMPLE = "`ttft=+5%`, `itl.p99=+2ms` or `errors=+1pt` is needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Typed):
    """A bound on how much side b may differ from side a."""

    quantity: Quantity
    fraction: float = 0.5
    """Percentile of a block's requests, 0..1."""
    bound: float
    """Signed: of a share (0.05 = 5 % or 5 pt), else of milliseconds or tokens per second."""
    unit: Unit

    @property
    def fails_above(self) -> bool:
        """Return whether more is worse: the sign says which way is forbidden."""
        return not math.copysign(1.0, self.bound) < 0


def read_gate(text: str) -> Gate:
    """Return `ttft.p50=+5%`, `itl.p99=+2ms`, `tokens-per-s=-5%` or `errors=+1pt`.

    Raises:
        ValueError: It is none of these; the text says what is needed.
    """
    text = text.strip()
    found = _GATE.fullmatch(text)
    name, equals, value = text.partition("=")
    known = name.partition(".")[0]
    if known not in _METRICS:
        near = get_close_matches(known, _METRICS, n=1, cutoff=0.5)
        meant = f"did you mean `{near[0]}`? " if near else ""
        message = f"{meant}metrics are {', '.join(_METRICS)}"
        raise ValueError(message)
    if equals and value and value[0] not in "+-":
        message = (
            "two sides have a difference, so a sign is needed: "
            f"`{name}=+{value}` fails when b is that much above a"
        )
        raise ValueError(message)
    if found is None:
        raise ValueError(_EXAMPLE)
    quantity, unit = _METRICS[known], found[5]
    _check_unit(quantity, unit, has_percentile=found[2] is not None)
    fraction = 0.5 if found[2] is None else float(found[2]) / _HUNDRED
    if not 0 < fraction < 1:
        raise ValueError("a percentile lies between 0 and 100, such as `ttft.p90=+5%`")
    size = float(found[4])
    bound = size / _HUNDRED if unit in {"%", "pt"} else size
    bound = bound * _MS_PER_S if unit == "s" else bound
    return Gate(
        text=text,
        quantity=quantity,
        fraction=fraction,
        bound=math.copysign(bound, -1.0 if found[3] == "-" else 1.0),
        unit="%" if unit == "%" else "pt" if unit == "pt" else _absolute(quantity),
    )


def _absolute(quantity: Quantity) -> Unit:
    return "tokens/s" if quantity == "speed" else "ms"


def _check_unit(quantity: Quantity, unit: str | None, *, has_percentile: bool) -> None:
    """Refuse units that a metric does not have.

    Raises:
        ValueError: The unit or the percentile means nothing for it.
    """
    if quantity == "errors":
        if unit != "pt" or has_percentile:
            raise ValueError("`errors` is a share: `errors=+1pt` is one point of a hundred more")
    elif quantity == "speed":
        if unit not in {"%", None}:
            raise ValueError("tokens per second differ by `-5%` or by a plain number, `-3`")
    elif unit not in {"%", "ms", "s"}:
        raise ValueError("a time differs by `+5%` or by a time with its unit, `+2ms`")
