"""Token counts of chat completions, as gateways spell them, to one normal form."""

from collections.abc import Mapping
from typing import Any

from bench.model.trial import Usage

_COST_KEYS = ("cost", "cost_usd", "total_cost", "cost_usd_total")
_NUMBERS = (int, float)
_MOST = 1e12
"""Tokens or dollars of one answer: a larger number, up to thousands of digits, is neither."""


def read_usage(raw: Mapping[str, Any]) -> Usage | None:
    """Return the counts in a ``usage`` object, ``None`` when it holds none.

    Counts are inclusive in this protocol: prompt tokens contain the cached ones, completion
    tokens the reasoning. A gateway that counts reasoning beside the completion is known by its
    own total, and put right; one that counts cached tokens beside the prompt's too, or because
    there are more of them. Estimates with fractions are rounded; ``raw`` keeps them.
    """
    prompt = count(raw.get("prompt_tokens"))
    completion = count(raw.get("completion_tokens"))
    if prompt is None and completion is None:
        return None
    reasoning = count(inside(raw, "completion_tokens_details", "reasoning_tokens"))
    if reasoning is None:
        reasoning = count(raw.get("reasoning_tokens"))
    cached = count(inside(raw, "prompt_tokens_details", "cached_tokens"))
    if cached is None:
        cached = count(raw.get("prompt_cache_hit_tokens"))
    written = count(inside(raw, "prompt_tokens_details", "cache_write_tokens"))
    if written is None:
        written = count(raw.get("cache_creation_input_tokens"))
    total = count(raw.get("total_tokens"))
    if prompt is not None and _is_beside(prompt, cached, written, total, completion):
        prompt += (cached or 0) + (written or 0)
    if completion is not None and reasoning and total == (prompt or 0) + completion + reasoning:
        completion += reasoning
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        visible_completion_tokens=visible(completion, reasoning),
        cached_prompt_tokens=cached,
        cache_write_tokens=written,
        cache_write_1h_tokens=_for_an_hour(raw),
        cost_usd=cost_usd(raw),
        raw=dict(raw),
    )


def _for_an_hour(raw: Mapping[str, Any]) -> int | None:
    """Return the tokens written for an hour, as LiteLLM passes Anthropic's count on."""
    details = inside(raw, "prompt_tokens_details", "cache_creation_token_details")
    return hour_writes(details if isinstance(details, dict) else raw.get("cache_creation"))


def _is_beside(
    prompt: int, cached: int | None, written: int | None, total: int | None, completion: int | None
) -> bool:
    """Say whether cached tokens are counted beside the prompt's and not in them."""
    apart = (cached or 0) + (written or 0)
    if not apart:
        return False
    return apart > prompt or total == prompt + apart + (completion or 0)


def merge_usage(earlier: Mapping[str, Any] | None, later: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ``usage`` object that stands after a further one: never a sum.

    The same counts told twice are one object with the details of both; other counts replace
    (servers that report progress send growing ones); an object without counts adds nothing to
    one that has them.
    """
    if not earlier:
        return later
    known, told = _counts(earlier), _counts(later)
    if told == (None, None):
        return {**later, **earlier}
    if known in (told, (None, None)):
        return {**earlier, **{key: value for key, value in later.items() if value is not None}}
    return later


def _counts(raw: Mapping[str, Any]) -> tuple[int | None, int | None]:
    return count(raw.get("prompt_tokens")), count(raw.get("completion_tokens"))


def visible(completion: int | None, reasoning: int | None) -> int | None:
    """Return the completion tokens that are no reasoning; reasoning nobody counts is none."""
    return None if completion is None else max(0, completion - (reasoning or 0))


def hour_writes(kinds: object) -> int | None:
    """Return the tokens written for an hour, of Anthropic's count by kind."""
    return count(kinds.get("ephemeral_1h_input_tokens")) if isinstance(kinds, dict) else None


def inside(raw: Mapping[str, Any], outer: str, inner: str) -> object:
    """Return a field of an object that may be missing."""
    details = raw.get(outer)
    return details.get(inner) if isinstance(details, dict) else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, _NUMBERS):
        return None
    return float(value) if 0 <= value <= _MOST else None


def count(value: object) -> int | None:
    """Return a token count, estimates rounded; ``None`` for what is none."""
    if type(value) is int:  # nearly always
        return value if 0 <= value <= _MOST else None
    number = _number(value)
    return None if number is None else int(number + 0.5)


def cost_usd(raw: Mapping[str, Any]) -> float | None:
    """Return the cost that a gateway put beside the counts, in US dollars."""
    for key in _COST_KEYS:
        # 0 is what gateways say when they know no price.
        if (value := raw.get(key)) and (cost := _number(value)):
            return cost
    return None
