"""Money and tokens, in US dollars. An unknown part makes a sum unknown, never smaller."""

import math
from collections.abc import Iterable, Mapping, Sequence

from bench.charges import Spend
from bench.model.case import CaseInfo
from bench.model.summary import CostComparison, EfficiencySummary
from bench.model.trial import Trial, Usage
from bench.money import reported_cost_usd, spent_on
from bench.stats import rate, share_of
from bench.summary.selection import is_kind, passed


def efficiency(
    trials: Sequence[Trial], cases: Mapping[str, CaseInfo], spend: Spend
) -> EfficiencySummary:
    """Sum costs and tokens of counted trials; ``spend`` covers everything that was sent."""
    known = [t.estimated_cost_usd for t in trials if t.estimated_cost_usd is not None]
    seed_cost = math.fsum(known) if known else None
    of_quality = [trial for trial in trials if is_kind(trial, cases, "quality")]
    correct = sum(map(passed, of_quality))
    usages = [trial.response.usage for trial in trials]
    reported = [usage for usage in usages if usage is not None]
    missing = rate(sum(map(_lacks_usage, usages)), len(usages))
    return EfficiencySummary(
        estimated_cost_usd=seed_cost,
        cost_per_correct_answer_usd=_by(seed_cost, correct),
        reasoning_token_ratio=reasoning_ratio(usages),
        usage_missing_rate=missing.rate,
        usage_missing=missing,
        quality_cost_per_correct_usd=_by(cost_of(of_quality), correct),
        total_spend_usd=None if spend.unknown_requests else spend.known_usd,
        known_spend_usd=spend.known_usd,
        unknown_cost_requests=spend.unknown_requests,
        reserved_usd=spend.reserved_usd,
        gateway_cost_usd=_whole(reported_cost_usd(trial.response) for trial in trials),
        computed_cost_usd=_whole(trial.computed_cost_usd for trial in trials),
        comparison=_comparison(trials),
        spend_by_source=dict(spend.by_source),
        prompt_tokens=_sum(usage.prompt_tokens for usage in reported),
        completion_tokens=_sum(usage.completion_tokens for usage in reported),
        cached_prompt_tokens=_sum(usage.cached_prompt_tokens for usage in reported),
    )


def cost_of(trials: Sequence[Trial]) -> float | None:
    """Return the cost of all trials; ``None`` without trials or if one is unknown.

    A request that never left this machine (connection refused) is known to cost nothing.
    """
    return _whole(spent_on(trial, None) for trial in trials)


def _whole(amounts: Iterable[float | None]) -> float | None:
    listed = list(amounts)
    known = [amount for amount in listed if amount is not None]
    return math.fsum(known) if known and len(known) == len(listed) else None


def _comparison(trials: Sequence[Trial]) -> CostComparison | None:
    both = [
        (reported, trial.computed_cost_usd)
        for trial in trials
        if (reported := reported_cost_usd(trial.response)) is not None
        and trial.computed_cost_usd is not None
    ]
    if not both:
        return None
    return CostComparison(
        trials=len(both),
        reported_usd=math.fsum(reported for reported, _ in both),
        computed_usd=math.fsum(computed for _, computed in both),
    )


def _by(cost: float | None, correct: int) -> float | None:
    return None if cost is None or correct == 0 else cost / correct


def _sum(tokens: Iterable[int | None]) -> int | None:
    known = [count for count in tokens if count is not None]
    return sum(known) if known else None


def _lacks_usage(usage: Usage | None) -> bool:
    return usage is None or usage.prompt_tokens is None or usage.completion_tokens is None


def reasoning_ratio(usages: Iterable[Usage | None]) -> float | None:
    """Return reasoning tokens by completion tokens, over the answers that report both."""
    both = [
        (usage.reasoning_tokens, usage.completion_tokens)
        for usage in usages
        if usage is not None and usage.reasoning_tokens is not None and usage.completion_tokens
    ]
    return share_of(sum(reasoning for reasoning, _ in both), sum(whole for _, whole in both))
