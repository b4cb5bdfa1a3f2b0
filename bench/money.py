"""What requests cost: estimates from usage, reserves before a send, and the limit of a run.

All amounts are US dollars; prices are dollars per token. ``None`` = unknown, never 0.
Prices that a catalogue or gateway lists as 0 are turned into ``None`` before they come here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from bench.model.target import Prices, Target
from bench.model.trial import Response, ResponseError, Trial, Usage

NEVER_SENT = frozenset(
    {"connect_refused", "connect_failed", "dns_error", "tls_error", "connect_timeout"}
)
"""Errors after which no byte of the request can have reached a provider."""

_REFUSED = range(400, 500)
_MAYBE_SERVED = (408, 499)
"""Statuses of the refusing kind that a gateway also sends when an answer was under way."""

SLACK_USD = 1e-12
"""Sums of many small floats differ in their last digits; a limit is not refused for that."""


def reserve_usd(*, target: Target, request_bytes: int, max_tokens: int | None) -> float | None:
    """Return the most that one request can cost, or ``None`` when there is no bound.

    Args:
        target: Its prices and its maximum output, as the catalogue has them.
        request_bytes: UTF-8 bytes of the request body: never fewer than its tokens.
        max_tokens: What the request asks for at most; ``None`` = the catalogue's maximum output.
    """
    prices = target.metadata.prices
    output = max_tokens if max_tokens is not None else target.metadata.max_output_tokens
    if prices is None or prices.input_usd is None or prices.output_usd is None or output is None:
        return None
    return (
        request_bytes * prices.input_usd + output * prices.output_usd + (prices.request_usd or 0.0)
    )


def computed_cost_usd(usage: Usage | None, prices: Prices | None) -> float | None:
    """Return what the token counts cost at listed prices; ``None`` when a part is unknown.

    Tokens read from a provider's prompt cache cost the listed cached price, else the full one.
    An unlisted price per request adds nothing: catalogues list it only where there is one.
    """
    if usage is None or prices is None or prices.input_usd is None or prices.output_usd is None:
        return None
    if usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = min(usage.cached_prompt_tokens or 0, usage.prompt_tokens)
    cached_usd = prices.input_usd if prices.cached_input_usd is None else prices.cached_input_usd
    return (
        (usage.prompt_tokens - cached) * prices.input_usd
        + cached * cached_usd
        + usage.completion_tokens * prices.output_usd
        + (prices.request_usd or 0.0)
    )


def estimated_cost(response: Response, prices: Prices | None) -> tuple[float | None, str | None]:
    """Return the cost of a response and who says so.

    What the gateway reports comes first: in the usage object (it is final there), then beside the
    answer. A reported 0 counts only in the usage object: headers are sent before a stream's cost is
    known, and some gateways send 0 then. Then the token counts at listed prices.
    """
    usage = response.usage
    if usage is not None and usage.cost_usd is not None:
        return usage.cost_usd, "gateway"
    if response.gateway_cost_usd:
        return response.gateway_cost_usd, "gateway"
    cost = computed_cost_usd(usage, prices)
    if cost is None:
        return None, None
    return cost, (prices.source if prices is not None else None) or "catalogue"


def spent_on(trial: Trial, reserve: float | None) -> float | None:
    """Return what a finished trial counts for in spend; ``None`` = unknown.

    Without usage (timeout, cut, cancel) the whole reserve counts, unless nothing was ever sent or
    the request was refused outright: nobody bills a 401 or a 429.
    """
    if trial.estimated_cost_usd is not None:
        return trial.estimated_cost_usd
    error = trial.response.error
    return 0.0 if error is not None and _is_unbilled(error) else reserve


def _is_unbilled(error: ResponseError) -> bool:
    if error.code in NEVER_SENT:
        return True
    return error.status in _REFUSED and error.status not in _MAYBE_SERVED


def total(amounts: Iterable[float | None]) -> tuple[float, int]:
    """Return the sum of the known amounts, and how many are unknown."""
    known, unknown = 0.0, 0
    for amount in amounts:
        if amount is None:
            unknown += 1
        else:
            known += amount
    return known, unknown


Admission = Literal["admitted", "wait", "refused"]


@dataclass(slots=True, kw_only=True)
class Purse:
    """The money limit of one run: ``spent + reserved`` never passes ``limit_usd`` by a reserve."""

    limit_usd: float | None
    spent_usd: float = 0.0
    """Known spend so far, a resumed journal's included."""
    unknown: int = 0
    """Answers whose cost nobody knows."""
    reserved_usd: float = 0.0
    open_reserves: int = 0

    def admit(self, reserve: float | None) -> Admission:
        """Take ``reserve`` out of what is left, whole or not at all.

        Returns:
            ``wait`` when it could fit once a request in flight turns out cheaper than its reserve.
            A request without a bound is admitted: who allows unknown cost did so before the run.
        """
        amount = reserve or 0.0
        if self.limit_usd is not None:
            over = self.spent_usd + amount > self.limit_usd + SLACK_USD
            if over or self.spent_usd >= self.limit_usd:
                return "refused"
            if self.spent_usd + self.reserved_usd + amount > self.limit_usd + SLACK_USD:
                return "wait" if self.open_reserves else "refused"
        self.reserved_usd += amount
        self.open_reserves += 1
        return "admitted"

    def settle(self, reserve: float | None, spent: float | None) -> None:
        """Give an admitted ``reserve`` back and count what was really ``spent``."""
        self.open_reserves -= 1
        self.reserved_usd = self.reserved_usd - (reserve or 0.0) if self.open_reserves else 0.0
        if spent is None:
            self.unknown += 1
        else:
            self.spent_usd += spent
