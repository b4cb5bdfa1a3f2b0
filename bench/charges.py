"""What each request of a run counts for in spend, and who says so. Pure.

One charge for each request that was sent: repeats, warm-ups, turns and lost answers included. Every
sum of money in a result is a sum of charges.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from bench.model.steps import AttemptRefused, Started, TrialDone, TurnDone
from bench.model.trial import Response, Trial
from bench.money import spent_on, total

RESERVE = "reserve"
"""Source of a charge whose bill nobody saw: the most it can have cost."""
MOST_STAGED = 10_000
"""Requests of load stages that are charged one by one."""
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
    """``None`` = no end was recorded, or only that it was refused."""
    is_open: bool = False
    """No end was recorded: it was lost, or its process still waits for it."""
    requests: int = 1
    """More than one where a load stage had too many to keep each: then it is their sum."""


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
        known, _ = total(charge.usd for charge in listed)
        unknown = sum(charge.requests for charge in listed if charge.usd is None)
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
        self._staged = 0
        self._sums: dict[tuple[str, str | None], int] = {}
        """Stage and source → place of the charge that stands for many."""
        self._reserves: dict[tuple[str, int], float | None] = {}
        self._refused: set[tuple[str, int, int | None]] = set()
        """Trial, attempt and turn of refused requests after which none was sent by now."""

    def started(self, record: Started) -> None:
        """Keep the reserve of a request until its end says what it cost."""
        self._refused.discard((record.trial_id, record.attempt, record.turn))
        key = (record.trial_id, record.attempt)
        before, reserve = self._reserves.get(key, 0.0), record.reserve_usd
        self._reserves[key] = None if before is None or reserve is None else before + reserve

    def refused(self, record: AttemptRefused, target_id: str) -> None:
        """Charge a request that was refused; its trial or turn, if it ends with it, is no second."""
        refusal = record.refusal
        self._refused.add((record.trial_id, refusal.attempt, record.turn))
        self._reserves.pop((record.trial_id, refusal.attempt), None)
        self.charges.append(
            Charge(
                trial_id=record.trial_id,
                attempt=refusal.attempt,
                turn=record.turn,
                target_id=target_id,
                offset_ms=refusal.started_offset_ms,
                usd=refusal.spent_usd,
                source=_source(None, None, refusal.spent_usd),
            )
        )

    def finished(self, record: TrialDone) -> None:
        """Charge a trial of one request; one of many is charged turn by turn."""
        trial = record.trial
        if trial.agent is not None or (trial.id, record.attempt, None) in self._refused:
            return
        spent = spent_on(trial, self._reserves.pop((trial.id, record.attempt), None))
        self._charge(
            trial,
            Charge(
                trial_id=trial.id,
                attempt=record.attempt,
                target_id=trial.target_id,
                offset_ms=trial.started_offset_ms,
                usd=spent,
                source=_source(trial.cost_source, trial.estimated_cost_usd, spent),
                computed_usd=trial.computed_cost_usd,
                response=trial.response,
            ),
        )

    def _charge(self, trial: Trial, charge: Charge) -> None:
        """Keep a charge; from some number on those of a load stage only as one sum per source."""
        self._staged += trial.stage is not None
        if trial.stage is None or self._staged <= MOST_STAGED:
            self.charges.append(charge)
            return
        key = (f"{trial.target_id}|{trial.case_id}|s{trial.stage}", charge.source)
        if key not in self._sums:
            self._sums[key] = len(self.charges)
            self.charges.append(replace(charge, trial_id=key[0], response=None))
            return
        place = self._sums[key]
        before = self.charges[place]
        self.charges[place] = replace(
            before,
            usd=None if charge.usd is None else (before.usd or 0.0) + charge.usd,
            computed_usd=_sum(before.computed_usd, charge.computed_usd),
            requests=before.requests + 1,
        )

    def turned(self, record: TurnDone, target_id: str) -> None:
        """Charge one turn."""
        turn = record.turn
        if (record.trial_id, record.attempt, turn.number) in self._refused:
            return
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
                is_open=True,
            )
        )


def _sum(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right


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
