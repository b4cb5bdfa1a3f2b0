"""Which price a token has: steps by prompt length, hours of the day, cache and reasoning. Pure.

All prices are US dollars per token. ``None`` = unknown, never 0. A step holds for all tokens of the
request, which is how providers bill it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from bench.model.target import Prices, PriceTier, PriceWindow, TokenPrices
from bench.model.trial import Usage

_RATES = (
    "input_usd",
    "output_usd",
    "cached_input_usd",
    "cache_write_usd",
    "cache_write_1h_usd",
    "reasoning_usd",
)


def rates(prices: Prices, *, prompt_tokens: int, at: datetime | None) -> TokenPrices | None:
    """Return what the tokens of one request cost.

    Args:
        prices: Of its target.
        prompt_tokens: All of them, the cached ones too: their number chooses the step.
        at: When it was sent, in UTC; ``None`` = not known.

    Returns:
        ``None`` when the hour decides and is not known.
    """
    if prices.windows and at is None:
        return None
    here: Prices | PriceWindow = prices
    if at is not None:
        here = next((w for w in reversed(prices.windows) if _is_open(w, at)), prices)
    reached = [tier for tier in here.tiers if prompt_tokens > tier.above_prompt_tokens]
    return _over(here, reached[-1] if reached else None)


def tokens_usd(usage: Usage, prices: Prices, *, at: datetime | None) -> float | None:
    """Return what the counted tokens cost; ``None`` when a count or a price that is needed is unknown.

    Tokens read from a provider's prompt cache cost the listed cached price, else the full one: a
    provider that lists no discount gives none. Tokens written into it cost more than others, those
    that stay for an hour most of all: without a listed price for their kind the cost is unknown.
    """
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if prompt is None or completion is None:
        return None
    rate = rates(prices, prompt_tokens=prompt, at=at)
    if rate is None or rate.input_usd is None or rate.output_usd is None:
        return None
    cached = min(usage.cached_prompt_tokens or 0, prompt)
    written = min(usage.cache_write_tokens or 0, prompt - cached)
    for_an_hour = min(usage.cache_write_1h_tokens or 0, written)
    short = written - for_an_hour
    if (short and rate.cache_write_usd is None) or (
        for_an_hour and rate.cache_write_1h_usd is None
    ):
        return None
    reasoning = min(usage.reasoning_tokens or 0, completion)
    return (
        (prompt - cached - written) * rate.input_usd
        + cached * _first(rate.cached_input_usd, rate.input_usd)
        + short * (rate.cache_write_usd or 0.0)
        + for_an_hour * (rate.cache_write_1h_usd or 0.0)
        + (completion - reasoning) * rate.output_usd
        + reasoning * _first(rate.reasoning_usd, rate.output_usd)
    )


def dearest(prices: Prices, *, most_prompt_tokens: int) -> tuple[float | None, float | None]:
    """Return the highest price of a prompt token and of an answered one.

    Over every hour and every step that a prompt of at most ``most_prompt_tokens`` can reach: a
    bound holds whenever the request is sent. ``None`` = the plain price of one of them is unknown.
    """
    all_rates = list(_reachable(prices, most_prompt_tokens))
    inputs = _highest(
        (r.input_usd, r.cached_input_usd, r.cache_write_usd, r.cache_write_1h_usd)
        for r in all_rates
    )
    outputs = _highest((r.output_usd, r.reasoning_usd) for r in all_rates)
    return inputs, outputs


def _reachable(prices: Prices, most_prompt_tokens: int) -> Iterator[TokenPrices]:
    hours: tuple[Prices | PriceWindow, ...] = (prices, *prices.windows)
    for here in hours:
        yield here
        for tier in here.tiers:
            if most_prompt_tokens > tier.above_prompt_tokens:
                yield _over(here, tier)


def _over(base: TokenPrices, tier: PriceTier | None) -> TokenPrices:
    """Return the prices of a step, those that it leaves open as below it."""
    own = {name: getattr(base, name) for name in _RATES}
    if tier is not None:
        own |= {name: value for name in _RATES if (value := getattr(tier, name)) is not None}
    return TokenPrices(**own)


def _highest(choices: Iterable[tuple[float | None, ...]]) -> float | None:
    """Return the highest of plain and special prices; the plain one has to be known everywhere."""
    highest = 0.0
    for plain, *special in choices:
        if plain is None:
            return None
        highest = max(highest, plain, *(price or 0.0 for price in special))
    return highest


def _first(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price


def _is_open(window: PriceWindow, at: datetime) -> bool:
    clock = f"{at:%H:%M}"
    if window.ends < window.begins:
        return clock >= window.begins or clock < window.ends
    return window.begins <= clock < window.ends
