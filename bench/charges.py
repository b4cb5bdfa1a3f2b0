"""What each request of a run counts for in spend, and who says so. Pure.

One charge for each request that was sent: repeats, warm-ups, turns and lost answers included. Every
sum of money in a result is a sum of charges.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bench.model.run import Started, TrialDone, TurnDone
from bench.model.trial import Response
from bench.money import spent_on, total

RESERVE = "reserve"
"""Source of a charge whose bill nobody saw: the most it can have cost."""
UNBILLED = "unbilled"
"""Source of a charge of 0: never sent, or refused outright."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One request."""

    trial_id: str
    attempt: int
    turn: int | None = None
    target_id: str
    offset_ms: float
    """When it began, since the run's first record."""
    usd: float | None
    """``None`` = unknown, and no bound either."""
    source: str | None
    """``gateway``, ``gateway-list``, ``catalogue``, ``assumed``, ``genai-prices``, ``reserve``,
    ``unbilled``; ``None`` with ``usd``."""
    computed_usd: float | None = None
    """Its tokens at known prices."""
    response: Response | None = None
    """``None`` = no end was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What requests cost in all."""

    known_usd: float = 0.0
    unknown_requests: int = 0
    reserved_usd: float = 0.0
    """Part of ``known_usd`` that stands for answers whose bill nobody saw."""
    by_source: Mapping[str, float] = field(default_factory=dict)
    """``known_usd`` by who says so, reserves too."""

    @classmethod
    def of(cls, charges: Iterable[Charge]) -> "Spend":
        """Return the sum of ``charges``."""
        listed = tuple(charges)
        known, unknown = total(charge.usd for charge in listed)
        by_source: dict[str, float] = {}
        for charge in listed:
            if charge.usd is not None and charge.source not in {None, UNBILLED}:
                source = charge.source or ""
                by_source[source] = by_source.get(source, 0.0) + charge.usd
        return cls(
            known_usd=known,
            unknown_requests=unknown,
            reserved_usd=by_source.get(RESERVE, 0.0),
            by_source=by_source,
        )


class ChargeBook:
    """Takes records in the order in which they were written."""

    def __init__(self) -> None:
        self.charges: list[Charge] = []
        self._reserves: dict[tuple[str, int], float | None] = {}

    def started(self, record: Started) -> None:
        """Keep the reserve of a request until its end says what it cost."""
        key = (record.trial_id, record.attempt)
        before, reserve = self._reserves.get(key, 0.0), record.reserve_usd
        self._reserves[key] = None if before is None or reserve is None else before + reserve

    def finished(self, record: TrialDone) -> None:
        """Charge a trial of one request; one of many is charged turn by turn."""
        trial = record.trial
        if trial.agent is not None:
            return
        spent = spent_on(trial, self._reserves.get((trial.id, record.attempt)))
        self.charges.append(
            Charge(
                trial_id=trial.id,
                attempt=record.attempt,
                target_id=trial.target_id,
                offset_ms=trial.started_offset_ms,
                usd=spent,
                source=_source(trial.cost_source, trial.estimated_cost_usd, spent),
                computed_usd=trial.computed_cost_usd,
                response=trial.response,
            )
        )

    def turned(self, record: TurnDone, target_id: str) -> None:
        """Charge one turn."""
        turn = record.turn
        self.charges.append(
            Charge(
                trial_id=record.trial_id,
                attempt=record.attempt,
                turn=turn.number,
                target_id=target_id,
                offset_ms=turn.started_offset_ms,
                usd=turn.spent_usd,
                source=_source(turn.cost_source, turn.cost_usd, turn.spent_usd),
                computed_usd=turn.computed_cost_usd,
                response=turn.response,
            )
        )

    def lost(self, start: Started, target_id: str) -> None:
        """Charge the reserve of a request whose end was not recorded."""
        self.charges.append(
            Charge(
                trial_id=start.trial_id,
                attempt=start.attempt,
                turn=start.turn,
                target_id=target_id,
                offset_ms=start.offset_ms,
                usd=start.reserve_usd,
                source=None if start.reserve_usd is None else RESERVE,
            )
        )


def by_target(charges: Iterable[Charge]) -> dict[str, Spend]:
    """Return the sums by target id, in the order in which targets were first asked."""
    parts: dict[str, list[Charge]] = {}
    for charge in charges:
        parts.setdefault(charge.target_id, []).append(charge)
    return {target_id: Spend.of(listed) for target_id, listed in parts.items()}


def _source(named: str | None, cost: float | None, spent: float | None) -> str | None:
    if cost is not None:
        return named or "catalogue"
    if spent is None:
        return None
    return RESERVE if spent else UNBILLED
