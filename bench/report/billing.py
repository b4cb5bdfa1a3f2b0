"""Every request that was sent as one row, to be held against a provider's or gateway's bill.

Repeats, warm-ups, turns and lost answers are rows too. Text can't become a formula: see
``bench.report.escaping.csv_cell``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.charges import Charge
from bench.document.completeness import unended
from bench.ledger import Ledger
from bench.model.trial import Response, Usage
from bench.money import reported_cost_usd
from bench.report.escaping import csv_cell

_Key = tuple[str, int, int | None]
"""Trial, attempt, turn."""
_NOTHING, _NO_USAGE = Response(), Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    ledger: Ledger
    charge: Charge
    in_flight: frozenset[_Key]
    """Requests that a living process waits for."""

    @property
    def response(self) -> Response:
        return self.charge.response or _NOTHING

    @property
    def usage(self) -> Usage:
        return self.response.usage or _NO_USAGE

    @property
    def at(self) -> str:
        moment = self.ledger.moment(self.charge.offset_ms)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def end(self) -> str:
        """Return ``recorded``, ``in-flight``, or ``lost``: its process is gone."""
        charge = self.charge
        if not charge.is_open:
            return "recorded"
        is_awaited = (charge.trial_id, charge.attempt, charge.turn) in self.in_flight
        return "in-flight" if is_awaited else "lost"

    @property
    def model(self) -> str | None:
        targets = {target.id: target for target in self.ledger.header.targets}
        target = targets.get(self.charge.target_id)
        return None if target is None else target.model


_COLUMNS: Mapping[str, Callable[[_Row], object]] = {
    "at": lambda row: row.at,
    "runId": lambda row: row.ledger.header.run_id,
    "trialId": lambda row: row.charge.trial_id,
    "attempt": lambda row: row.charge.attempt,
    "turn": lambda row: row.charge.turn,
    "targetId": lambda row: row.charge.target_id,
    "model": lambda row: row.model,
    "requestId": lambda row: row.response.request_id,
    "generationId": lambda row: row.response.generation_id,
    "servedProvider": lambda row: row.response.served_provider,
    "servedModel": lambda row: row.response.served_model or row.response.response_model,
    "status": lambda row: row.response.status,
    "errorCode": lambda row: row.response.error.code if row.response.error else None,
    "promptTokens": lambda row: row.usage.prompt_tokens,
    "cachedPromptTokens": lambda row: row.usage.cached_prompt_tokens,
    "cacheWriteTokens": lambda row: row.usage.cache_write_tokens,
    "completionTokens": lambda row: row.usage.completion_tokens,
    "reasoningTokens": lambda row: row.usage.reasoning_tokens,
    "costUsd": lambda row: row.charge.usd,
    "costSource": lambda row: row.charge.source,
    "reportedCostUsd": lambda row: reported_cost_usd(row.response),
    "computedCostUsd": lambda row: row.charge.computed_usd,
    "end": lambda row: row.end,
}


def billing_rows(ledger: Ledger, *, is_going_on: bool = False) -> tuple[dict[str, object], ...]:
    """Return the rows as values, in the order in which the requests began.

    Args:
        ledger: Of the run.
        is_going_on: A process that measures it lives: what has no end since then is in flight.
    """
    awaited = unended(ledger, is_going_on=is_going_on).in_flight or ()
    in_flight = frozenset((start.trial_id, start.attempt, start.turn) for start in awaited)
    rows = [_Row(ledger=ledger, charge=charge, in_flight=in_flight) for charge in ledger.charges]
    return tuple({name: read(row) for name, read in _COLUMNS.items()} for row in rows)


def billing_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as a table with a header line; lines end with LF, an empty cell is unknown."""
    lines = [",".join(_COLUMNS)]
    lines += [",".join(map(csv_cell, row.values())) for row in rows]
    return "\n".join(lines) + "\n"
