"""Charges of many runs by day, model and source. Pure."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from bench.charges import Charge, Spend
from bench.ledger import Ledger
from bench.model.record import Value


class DatedCharge(Value, frozen=True, kw_only=True):
    """A charge, when it was made, and for what."""

    at: datetime
    """UTC."""
    run_id: str
    model_id: str
    charge: Charge

    @property
    def day(self) -> str:
        """Return the UTC day, ISO 8601."""
        return self.at.date().isoformat()


class SpendRow(Value, frozen=True, kw_only=True):
    """The sum of some charges."""

    key: str
    requests: int
    spend: Spend


def dated_charges(
    ledger: Ledger, *, since: datetime, until: datetime | None = None
) -> Iterator[DatedCharge]:
    """Yield what a run's requests were charged from ``since`` on, in the order they began.

    Args:
        ledger: Of one run.
        since: UTC, inclusive.
        until: UTC, exclusive; ``None`` = no end.
    """
    models = {target.id: target.model_id for target in ledger.header.targets}
    for charge in ledger.charges:
        at = ledger.moment(charge.offset_ms)
        if at >= since and (until is None or at < until):
            yield DatedCharge(
                at=at,
                run_id=ledger.header.run_id,
                model_id=models.get(charge.target_id, charge.target_id),
                charge=charge,
            )


def summed(
    charges: Iterable[DatedCharge], key: Callable[[DatedCharge], str]
) -> tuple[SpendRow, ...]:
    """Return one sum for each ``key``, in the order in which keys first come."""
    parts: dict[str, list[Charge]] = {}
    for dated in charges:
        parts.setdefault(key(dated), []).append(dated.charge)
    return tuple(
        SpendRow(key=name, requests=len(listed), spend=Spend.of(listed))
        for name, listed in parts.items()
    )
