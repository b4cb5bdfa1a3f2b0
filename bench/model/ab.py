"""What a comparison of two gateways says besides the differences of times."""

from typing import Any

from bench.model.paired import Side
from bench.model.record import Record
from bench.model.resources import GatewayResources


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
    """Everything but the differences of times and the gates."""

    sides: tuple[AbSide, ...] = ()
    confidence: float
    """Of each verdict, so that all of them together are right with 95 %."""
