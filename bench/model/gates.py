"""How the gates of a run came out, whatever they were held against."""

from typing import Literal

from bench.model.record import Record

GateVerdict = Literal["passed", "failed", "undecided"]
GateUnit = Literal["%", "ms", "pt", "tokens/s", "/s", "usd"]
GateCount = Literal["requests", "answers", "judged answers", "pairs"]


class GateResult(Record, frozen=True, kw_only=True):
    """One gate at one place: failed when the whole 95 % interval lies beyond its bound."""

    gate: str
    """As typed: ``ttft.p99=500ms``, ``ttft.p50=+5%``."""
    is_difference: bool = False
    """Held against the difference of two sides."""
    target_id: str | None = None
    """``None`` = of two sides together."""
    level: int | None = None
    """Of a comparison of two sides."""
    label: str = ""
    """Which load decides; empty = the whole run."""
    verdict: GateVerdict
    value: float | None = None
    """Measured, in the unit of the bound; a share as a number, 0.05 for 5 % or 5 pt."""
    interval: tuple[float, float] | None = None
    bound: float
    unit: GateUnit
    count: int = 0
    """What the value stands on."""
    counted: GateCount = "requests"
    count_to_decide: int | None = None
    """Of an undecided one: so many would decide it; ``None`` = no number is known to."""
    why: str = ""
    """Of an undecided one."""
