"""Prices, limits and dates of one entry, in the spellings of the lists that exist. Pure.

Dollars per token as numbers or text (`"1.5e-7"`). In a list, 0 and nonsense count as unknown.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bench.model.target import Prices, PriceTier, PriceWindow, TargetMetadata

_RATES: Mapping[str, tuple[str, ...]] = {
    "input_usd": ("prompt", "input", "inputPrice", "input_cost_per_token"),
    "output_usd": ("completion", "output", "outputPrice", "output_cost_per_token"),
    "cached_input_usd": (
        "input_cache_read",
        "cacheReadInputPrice",
        "cachedInputPrice",
        "cached_input",
        "cache_read_input_token_cost",
    ),
    "cache_write_usd": (
        "input_cache_write",
        "cacheWriteInputPrice",
        "cache_creation_input_token_cost",
    ),
    "cache_write_1h_usd": ("cache_creation_input_token_cost_above_1hr",),
    "reasoning_usd": (
        "internal_reasoning",
        "reasoningPrice",
        "output_cost_per_reasoning_token",
    ),
}
_REQUEST = ("request", "requestPrice", "input_cost_per_request")
_CONTEXT = ("contextSize", "context_length", "context_size", "context_window", "max_input_tokens")
_MOST_OUTPUT = (
    "maxOutput",
    "max_output_tokens",
    "max_output",
    "max_completion_tokens",
    "max_tokens",
)
_MOST_TOKENS = 1_000_000_000
"""No limit is higher; a list that says so knows none."""
_ABOVE = re.compile(r"input_cost_per_token_above_(\d+)k_tokens")
"""LiteLLM has a field per step."""


def metadata_of(
    entry: Mapping[str, Any], model: Mapping[str, Any], *, source: str
) -> TargetMetadata:
    """Return what an offer says, else what the model's entry says of all its offers.

    Args:
        entry: Of the offer, or of the model itself.
        model: Of the model.
        source: Whose prices they are.
    """
    top = model.get("top_provider")
    limits = top if isinstance(top, Mapping) else {}
    return TargetMetadata(
        prices=prices_of(entry, source=source),
        context_size=_count(entry, _CONTEXT) or _count(model, _CONTEXT),
        max_output_tokens=_count(entry, _MOST_OUTPUT)
        or _count(model, _MOST_OUTPUT)
        or _count(limits, _MOST_OUTPUT),
        quantization=text(entry, "quantization"),
        stability=text(entry, "stability") or text(model, "stability"),
        deactivated_at=text(entry, "deactivatedAt", "deactivated_at")
        or text(model, "deactivatedAt", "deactivated_at"),
        upstream_model=text(entry, "externalId", "modelName"),
    )


def prices_of(entry: Mapping[str, Any], *, source: str) -> Prices | None:
    """Return the prices of an entry; they stand in it or in its `pricing`."""
    inner = entry.get("pricing")
    listed = inner if isinstance(inner, Mapping) else entry
    peak = entry.get("peakPricing")
    rates = _rates(listed)
    windows: tuple[PriceWindow, ...] = ()
    if isinstance(peak, Mapping):
        rates, windows = _by_hour(peak, rates)
    tiers = tuple(_tiers(entry.get("pricingTiers") or listed)) if not windows else ()
    prices = Prices(
        **rates, request_usd=price(listed, _REQUEST), tiers=tiers, windows=windows, source=source
    )
    return prices if prices.input_usd or prices.output_usd or prices.request_usd else None


def _rates(listed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: price(listed, spellings) for name, spellings in _RATES.items()}


def _tiers(listed: object) -> Iterator[PriceTier]:
    if isinstance(listed, list):
        above = 0
        for step in listed:
            if isinstance(step, Mapping):
                if above:
                    yield PriceTier(above_prompt_tokens=above, **_rates(step))
                above = _count(step, ("upToTokens",)) or 0
    elif isinstance(listed, Mapping):
        for name in listed:
            step = _ABOVE.fullmatch(name)
            if step is not None:
                suffix = name.removeprefix("input_cost_per_token")
                known = {
                    rate: price(listed, tuple(f"{spelling}{suffix}" for spelling in spellings))
                    for rate, spellings in _RATES.items()
                }
                yield PriceTier(above_prompt_tokens=int(step[1]) * 1_000, **known)


def _by_hour(
    peak: Mapping[str, Any], otherwise: dict[str, Any]
) -> tuple[dict[str, Any], tuple[PriceWindow, ...]]:
    """Return prices outside the peak, and the peak's windows; days of the week are not told apart."""
    dear, cheap, hours = peak.get("peak"), peak.get("offPeak"), peak.get("hoursUtc")
    if not (isinstance(dear, Mapping) and isinstance(cheap, Mapping) and isinstance(hours, list)):
        return otherwise, ()
    windows = tuple(
        PriceWindow(begins=f"{span[0]:02d}:00", ends=f"{span[1] % 24:02d}:00", **_rates(dear))
        for span in hours
        if isinstance(span, list) and len(span) == 2 and all(_is_hour(hour) for hour in span)  # noqa: PLR2004  begin and end
    )
    return _rates(cheap), windows


def _is_hour(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 24  # noqa: PLR2004  hours


def price(listed: Mapping[str, Any], spellings: tuple[str, ...]) -> float | None:
    """Return the first price that is one."""
    for name in spellings:
        value = listed.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        try:
            amount = float(value)
        except ValueError:
            continue
        if 0 < amount < 1:
            return amount
    return None


def text(entry: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these fields that is text."""
    found = (entry.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)


def _count(entry: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS:
            return value
    return None
