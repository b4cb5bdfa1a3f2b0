"""What a comparison of two gateways says besides the differences of times."""

from typing import Any, Literal

from bench.model.paired import Interval, Side
from bench.model.record import Record
from bench.model.resources import GatewayResources

GateVerdict = Literal["passed", "failed", "undecided"]


class GateResult(Record, frozen=True, kw_only=True):
    """One gate at one level: whether the whole 95 % interval lies beyond its bound."""

    gate: str
    """As typed: ``ttft.p50=+5%``."""
    level: int
    label: str
    """Of the level."""
    verdict: GateVerdict
    value: float | None = None
    """Measured, in the unit of the bound: 0.05 for 5 % or 5 pt, else milliseconds."""
    interval: Interval | None = None
    bound: float
    unit: Literal["%", "ms", "pt", "tokens/s"]
    pairs: int = 0
    pairs_to_decide: int | None = None
    """Of an undecided one: pairs that would decide it; ``None`` = no number is known to."""
    why: str = ""
    """Of an undecided one."""


class AbSide(Record, frozen=True, kw_only=True):
    """One of the two gateways."""

    side: Side
    label: str
    build: dict[str, Any] = {}
    exit: dict[str, Any] | None = None
    resources: GatewayResources | None = None
    requests: int = 0
    """Measured ones that were sent to it."""
    failed: int = 0
    sent: int = 0
    """All of them, warm-ups and the noise floor's included."""


class AbFindings(Record, frozen=True, kw_only=True):
    """Everything but the differences of times."""

    sides: tuple[AbSide, ...] = ()
    gates: tuple[GateResult, ...] = ()
    confidence: float
    """Of each verdict, so that all of them together are right with 95 %."""
