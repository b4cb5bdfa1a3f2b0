"""Gaps between requests and reasons to stop, as people type them."""

import re
from dataclasses import dataclass
from typing import Literal

from bench.load.levels import Typed
from bench.model.load import Arrival, StopRules

_COUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kM]?)")
_TIMES = {"": 1, "k": 1_000, "M": 1_000_000}
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")
_ALL = 100
_PLAIN: dict[str, Arrival] = {"constant": "constant", "poisson": "poisson"}
_MOST_TOKENS = 1e12
_LEAST_SHAPE, _MOST_SHAPE = 1e-3, 1e3
"""Beyond them gaps are all one, or all but one of them nothing, within what a clock tells apart."""
_SHAPE = re.compile(r"gamma:([0-9]+(?:\.[0-9]+)?)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps(Typed):
    """How requests of an open loop follow one another."""

    arrival: Arrival
    burstiness: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule(Typed):
    """One reason to end a stage early."""

    name: Literal["errors", "tokens", "saturation"]
    value: float


def read_gaps(text: str) -> Gaps:
    """Return `constant`, `poisson` or `gamma:0.5`.

    Raises:
        ValueError: It is none of these.
    """
    text = text.strip()
    if text in _PLAIN:
        return Gaps(text=text, arrival=_PLAIN[text])
    found = _SHAPE.fullmatch(text)
    if found is not None and _LEAST_SHAPE <= float(found[1]) <= _MOST_SHAPE:
        return Gaps(text=text, arrival="gamma", burstiness=float(found[1]))
    raise ValueError(
        "`constant`, `poisson` or `gamma:SHAPE` is needed, such as `gamma:0.5`; "
        "a shape lies between 0.001 and 1000"
    )


def read_stop_rule(text: str) -> StopRule:
    """Return `errors=10%`, `tokens=500k` or `saturation`.

    Raises:
        ValueError: It is none of these.
    """
    text = text.strip()
    name, _, value = text.partition("=")
    if text == "saturation":
        return StopRule(text=text, name="saturation", value=1.0)
    share, count = _SHARE.fullmatch(value), _COUNT.fullmatch(value)
    if name == "errors" and share is not None and 0 < float(share[1]) <= _ALL:
        return StopRule(text=text, name="errors", value=float(share[1]) / _ALL)
    if name == "tokens" and count is not None and 0 < float(count[1]) <= _MOST_TOKENS:
        return StopRule(text=text, name="tokens", value=float(count[1]) * _TIMES[count[2]])
    raise ValueError("`errors=10%`, `tokens=500k` or `saturation` is needed")


def read_speed(text: str) -> float:
    """Return a number above 0.

    Raises:
        ValueError: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ValueError("a number above 0 is needed")
    return value


def stop_rules(rules: tuple[StopRule, ...]) -> StopRules:
    """Return the rules as a stage has them; of two of a kind the later one counts."""
    values = {rule.name: rule.value for rule in rules}
    tokens = values.get("tokens")
    return StopRules(
        error_share=values.get("errors"),
        tokens=None if tokens is None else int(tokens),
        on_saturation="saturation" in values,
    )
