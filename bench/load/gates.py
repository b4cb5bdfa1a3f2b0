"""Gates as people type them: on a whole run, `ttft.p99=500ms`, or on two sides, `ttft=+5%`. Pure.

A limit has no sign: which side of it is wrong follows from the metric. A difference has one, which
says which way is forbidden: `+` fails when side b is that much above side a, `-` when it is that
much below. Metrics and bounds are spelled as in an objective (`bench.load.slo`).
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bench.durations import duration_ms
from bench.load.condition import near_name, read_condition
from bench.load.levels import Typed
from bench.model.gates import GateUnit

Quantity = Literal[
    "ttft",
    "firstToken",
    "itl",
    "total",
    "tpot",
    "speed",
    "success",
    "errors",
    "score",
    "slo",
    "goodput",
    "rate",
    "cost",
]
Family = Literal["time", "speed", "share", "per second", "money"]

PERCENTILES: Mapping[float, int] = {0.5: 6, 0.9: 36, 0.95: 72, 0.99: 368}
"""Percentiles that a limit can have, and from how many answers on one has an interval."""
_GATE = re.compile(r"([+-])([0-9]+(?:\.[0-9]+)?)(%|ms|s|pt)?")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)(.*)")
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)")
_HUNDRED = 100.0
_MS_PER_S = 1_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metric:
    """What can be said of one metric."""

    quantity: Quantity
    family: Family
    fails_above: bool
    """More is worse."""
    percentiles: tuple[str, ...] = ()
    """Of a limit, which then needs one."""
    differs: bool = False
    """Two sides are held against one another by it."""
    example: str


def _time(quantity: Quantity, example: str, *, differs: bool = True) -> _Metric:
    return _Metric(
        quantity=quantity,
        family="time",
        fails_above=True,
        percentiles=("p50", "p90", "p95", "p99"),
        differs=differs,
        example=example,
    )


def _least(quantity: Quantity, family: Family, example: str) -> _Metric:
    return _Metric(quantity=quantity, family=family, fails_above=False, example=example)


_METRICS: Mapping[str, _Metric] = {
    "ttft": _time("ttft", "ttft.p99=500ms"),
    "first-token": _time("firstToken", "first-token.p90=300ms", differs=False),
    "itl": _time("itl", "itl.p99=50ms"),
    "total": _time("total", "total.p90=8s"),
    "tpot": _time("tpot", "tpot.p50=20ms"),
    "tokens-per-s": _Metric(
        quantity="speed",
        family="speed",
        fails_above=False,
        percentiles=("p50",),
        differs=True,
        example="tokens-per-s.p50=40",
    ),
    "success": _least("success", "share", "success=99%"),
    "errors": _Metric(
        quantity="errors", family="share", fails_above=True, differs=True, example="errors=1%"
    ),
    "quality.score": _least("score", "share", "quality.score=90%"),
    "slo": _least("slo", "share", "slo=95%"),
    "goodput": _least("goodput", "per second", "goodput=5/s"),
    "rate": _least("rate", "per second", "rate=20/s"),
    "cost": _Metric(quantity="cost", family="money", fails_above=True, example="cost=0.50usd"),
}
_LIMIT_UNITS: Mapping[Family, GateUnit] = {
    "time": "ms",
    "speed": "tokens/s",
    "share": "%",
    "per second": "/s",
    "money": "usd",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Typed):
    """A bound on a run, or on how much side b may differ from side a."""

    name: str
    """As the grammar spells it: ``ttft``."""
    quantity: Quantity
    fraction: float = 0.5
    """Percentile, 0..1: of a difference that of a block's requests."""
    bound: float
    """A share as a number (0.05 = 5 % or 5 pt), else milliseconds, tokens per second, per second or
    US dollars. Of a difference signed."""
    unit: GateUnit
    is_difference: bool = True
    fails_above: bool
    """Whether more is worse."""

    @property
    def percentile(self) -> str:
        """Return the percentile as it is typed: ``p99``."""
        return f"p{self.fraction * _HUNDRED:g}"


def read_gate(text: str) -> Gate:
    """Return a limit, such as `ttft.p99=500ms`, or a difference, such as `ttft=+5%`.

    Raises:
        ValueError: It is none; the text says what is needed.
    """
    condition = read_condition(text)
    name = condition.metric
    if name not in _METRICS:
        near = near_name(name, _METRICS)
        meant = f"did you mean `{near}`? " if near else ""
        message = f"{meant}metrics are {', '.join(_METRICS)}"
        raise ValueError(message)
    if not condition.bound:
        message = f"a bound is needed: `{_METRICS[name].example}`"
        raise ValueError(message)
    read = _difference if condition.bound[0] in "+-" else _limit
    return read(text.strip(), name, condition.statistic, condition.bound)


# ---- a limit -----------------------------------------------------------------------------------


def _limit(text: str, name: str, percentile: str, value: str) -> Gate:
    metric = _METRICS[name]
    _check_percentile(name, metric, percentile)
    bound = _bound(metric, value)
    fraction = float(percentile[1:]) / _HUNDRED if percentile else 0.5
    return Gate(
        text=text,
        name=name,
        quantity=metric.quantity,
        fraction=fraction,
        bound=bound,
        unit=_LIMIT_UNITS[metric.family],
        is_difference=False,
        fails_above=metric.fails_above,
    )


def _check_percentile(name: str, metric: _Metric, percentile: str) -> None:
    """Refuse a limit over a run that does not say which of all answers it means.

    Raises:
        ValueError: A percentile is missing, unknown, or of something that has none.
    """
    known = metric.percentiles
    if percentile in known or (not known and not percentile):
        return
    if not known:
        message = f"`{name}` is one figure of a run and has no `.{percentile}`: `{metric.example}`"
    elif percentile:
        message = f"`{name}` over a run has {_listed(known)}: `{metric.example}`"
    else:
        message = (
            f"over a run `{name}` needs a percentile ({_listed(known)}): `{metric.example}`; two "
            "sides are held against one another with a sign, `ttft=+5%`"
        )
    raise ValueError(message)


def _bound(metric: _Metric, value: str) -> float:
    found = _NUMBER.fullmatch(value)
    bound = _amount(metric.family, value, float(found[1]), found[2].strip()) if found else None
    if bound is None or not math.isfinite(bound):
        message = f"{_NEEDED[metric.family]} is needed behind `=`: `{metric.example}`"
        raise ValueError(message)
    return bound


def _amount(family: Family, value: str, number: float, unit: str) -> float | None:
    """Return the bound; ``None`` where its unit is none of the metric's, or it bounds nothing."""
    match family:
        case "time":
            return duration_ms(value) if unit in {"ms", "s", "m"} and number > 0 else None
        case "share":
            return number / _HUNDRED if unit == "%" and number <= _HUNDRED else None
        case "per second":
            return number * _PER_SECOND[unit] if unit in _PER_SECOND and number > 0 else None
        case "speed":
            return number if unit in {"", "/s"} and number > 0 else None
        case "money":
            return number if unit.lower() == "usd" else None


_PER_SECOND = {"/s": 1.0, "/m": 1 / 60, "/h": 1 / 3600}
_NEEDED: Mapping[Family, str] = {
    "time": "a time with its unit",
    "share": "a share of a hundred with `%`",
    "per second": "a number with `/s`, `/m` or `/h`",
    "speed": "a number of tokens per second",
    "money": "an amount with `usd`",
}


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


# ---- a difference ------------------------------------------------------------------------------


def _difference(text: str, name: str, percentile: str, value: str) -> Gate:
    metric = _METRICS[name]
    if not metric.differs:
        names = ", ".join(known for known, one in _METRICS.items() if one.differs)
        message = f"two sides are not held against one another by `{name}`, but by {names}"
        raise ValueError(message)
    found, part = _GATE.fullmatch(value), _PERCENTILE.fullmatch(percentile)
    if found is None or (percentile and part is None):
        raise ValueError("`ttft=+5%`, `itl.p99=+2ms` or `errors=+1pt` is needed")
    unit = found[3]
    _check_unit(metric.quantity, unit, has_percentile=bool(percentile))
    fraction = 0.5 if part is None else float(part[1]) / _HUNDRED
    if not 0 < fraction < 1:
        raise ValueError("a percentile lies between 0 and 100, such as `ttft.p90=+5%`")
    size = float(found[2])
    bound = size / _HUNDRED if unit in {"%", "pt"} else size
    bound = bound * _MS_PER_S if unit == "s" else bound
    plain: GateUnit = "tokens/s" if metric.quantity == "speed" else "ms"
    return Gate(
        text=text,
        name=name,
        quantity=metric.quantity,
        fraction=fraction,
        bound=math.copysign(bound, -1.0 if found[1] == "-" else 1.0),
        unit="%" if unit == "%" else "pt" if unit == "pt" else plain,
        fails_above=found[1] == "+",
    )


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
