"""Reasons for doubt that have to do with money."""

from collections.abc import Iterable, Sequence

from bench.model.document import Caveat, RunSpend
from bench.model.run_config import RunConfig
from bench.model.steps import Started
from bench.model.summary import CostComparison, Summary

_NOTICED = 0.05
"""Share by which reported and computed costs may differ before it is said: prices are rounded."""


def is_day_limited(config: RunConfig) -> bool:
    """Say whether the user's limit per day is reached before the run's own."""
    return config.spend_limit_usd is not None and config.spend_limit_usd != config.max_cost_usd


def money_caveats(
    config: RunConfig,
    spend: RunSpend,
    summary: Summary,
    possibly_billed: Sequence[Started],
) -> Iterable[Caveat]:
    """Yield what is to be known of the run's money."""
    if possibly_billed:
        yield _possibly_billed(possibly_billed)
    limit, spent = config.spend_limit_usd, spend.known_usd
    if limit is not None and spent > limit:
        yield Caveat(
            code="over_limit",
            level="note",
            text=f"Spend of ${spent:.6f} passed the limit of ${limit:.6f} by "
            f"${spent - limit:.6f}: more was billed than the requests could be expected to cost.",
        )
    if spend.unknown_requests and config.is_paid:
        yield Caveat(
            code="cost_unknown",
            level="note",
            text=f"The cost of {_count(spend.unknown_requests, 'request')} is unknown (no "
            "price or no usage): cost figures that would need it are left empty.",
        )
    for target in summary.targets:
        compared = target.efficiency.comparison
        if compared is not None and _differs(compared):
            yield _difference(target.target_id, compared)


def _possibly_billed(starts: Sequence[Started]) -> Caveat:
    reserves = [start.reserve_usd for start in starts]
    known = sum(reserve for reserve in reserves if reserve is not None)
    cost = f"up to ${known:.6f}" if None not in reserves else "an unknown amount"
    return Caveat(
        code="possibly_billed",
        level="note",
        text=f"{_count(len(reserves), 'request')} sent without a recorded end: the provider "
        f"may bill {cost} for what is not in the figures.",
    )


def _differs(compared: CostComparison) -> bool:
    return abs(compared.reported_usd - compared.computed_usd) > _NOTICED * compared.computed_usd


def _difference(target_id: str, compared: CostComparison) -> Caveat:
    share = (
        f" ({compared.reported_usd / compared.computed_usd - 1:+.0%})"
        if compared.computed_usd
        else ""
    )
    return Caveat(
        code="cost_differs",
        level="note",
        text=f"{target_id}: the gateway reports ${compared.reported_usd:.6f} for "
        f"{_count(compared.trials, 'trial')} whose tokens come to ${compared.computed_usd:.6f} "
        f"at known prices{share}. The reported amount is the one that counts here; a "
        "surcharge, a discount, an old price or counts of another kind would explain it.",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
