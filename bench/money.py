"""What requests cost: estimates from usage, reserves before a send, and the limit of a run.

All amounts are US dollars; prices are dollars per token. ``None`` = unknown, never 0.
Prices that a catalogue or gateway lists as 0 are turned into ``None`` before they come here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bench.model.record import Value
from bench.model.target import Prices, Target
from bench.model.trial import Response, ResponseError, Trial, Usage
from bench.prices import dearest, tokens_usd

REPORTED = "gateway"
"""Source of a cost that the gateway told with the answer."""

NEVER_SENT = frozenset(
    {
        "connect_refused",
        "connect_failed",
        "dns_error",
        "tls_error",
        "proxy_error",
        "client_limit",
        "connect_timeout",
    }
)
"""Errors after which no byte of the request can have reached a provider."""

_REFUSED = range(400, 500)
_MAYBE_SERVED = (408, 499)
"""Statuses of the refusing kind that a gateway also sends when an answer was under way."""

SLACK_USD = 1e-12
"""Sums of many small floats differ in their last digits; a limit is not refused for that."""


def reserve_usd(*, target: Target, request_bytes: int, max_tokens: int | None) -> float | None:
    """Return the most that one request can cost, or ``None`` when there is no bound.

    Where prices differ by length of the prompt, hour or kind of token, the dearest that the
    request can meet counts.

    Args:
        target: Its prices and its maximum output, as the catalogue has them.
        request_bytes: UTF-8 bytes of the request body: never fewer than its tokens.
        max_tokens: What the request asks for at most; ``None`` = the catalogue's maximum output.
    """
    prices = target.metadata.prices
    output = max_tokens if max_tokens is not None else target.metadata.max_output_tokens
    if prices is None or output is None:
        return None
    input_usd, output_usd = dearest(prices, most_prompt_tokens=request_bytes)
    if input_usd is None or output_usd is None:
        return None
    return request_bytes * input_usd + output * output_usd + (prices.request_usd or 0.0)


def computed_cost_usd(
    usage: Usage | None, prices: Prices | None, *, at: datetime | None = None
) -> float | None:
    """Return what the token counts cost at known prices; ``None`` when a part is unknown.

    An unlisted price per request adds nothing: catalogues list it only where there is one.

    Args:
        usage: Of one answer.
        prices: Of its target.
        at: When the request was sent (UTC), for prices that depend on the hour.
    """
    if usage is None or prices is None:
        return None
    tokens = tokens_usd(usage, prices, at=at)
    return None if tokens is None else tokens + (prices.request_usd or 0.0)


def reported_cost_usd(response: Response) -> float | None:
    """Return what the gateway says the answer cost; ``None`` = nothing.

    In the usage object first (it is final there), then beside the answer. A reported 0 counts only
    in the usage object: headers are sent before a stream's cost is known, and some gateways send 0
    then.
    """
    usage = response.usage
    if usage is not None and usage.cost_usd is not None:
        return usage.cost_usd
    return response.gateway_cost_usd or None


class Cost(Value, frozen=True, kw_only=True):
    """What one answer cost, and who says so."""

    usd: float | None = None
    source: str | None = None
    """``gateway`` (it said so), ``gateway-list``, ``catalogue``, ``assumed``, ``genai-prices``."""
    computed_usd: float | None = None
    """Token counts at known prices, whoever the source is: what a reported cost is held against."""


def cost_of(
    response: Response,
    prices: Prices | None,
    *,
    at: datetime | None = None,
    is_other: bool | None = None,
) -> Cost:
    """Return the cost of a response: what the gateway reports, else its tokens at known prices.

    Args:
        response: As it arrived.
        prices: Of the target that was asked.
        at: When the request was sent (UTC).
        is_other: Somebody else than that target answered. Then, and where the gateway answered from
            its own cache, the target's prices say nothing.
    """
    foreign = is_other or response.fallback or response.cache_hit
    computed = None if foreign else computed_cost_usd(response.usage, prices, at=at)
    reported = reported_cost_usd(response)
    if reported is not None:
        return Cost(usd=reported, source=REPORTED, computed_usd=computed)
    if computed is None:
        return Cost()
    return Cost(usd=computed, source=source_of(prices), computed_usd=computed)


def source_of(prices: Prices | None) -> str:
    """Return the name of a price's source, told apart from what a gateway says of one answer."""
    named = (prices.source if prices is not None else None) or "catalogue"
    return "gateway-list" if named == "gateway" else named


def spent_on(trial: Trial, reserve: float | None) -> float | None:
    """Return what a finished trial counts for in spend; ``None`` = unknown.

    Without usage (timeout, cut, cancel) the whole reserve counts, unless nothing was ever sent or
    the request was refused outright: nobody bills a 401 or a 429.
    """
    if trial.agent is not None:
        return trial.estimated_cost_usd  # its requests are counted turn by turn
    return spent_for(trial.estimated_cost_usd, trial.response.error, reserve)


def spent_for(
    cost: float | None, error: ResponseError | None, reserve: float | None
) -> float | None:
    """Return what one request with an end counts for in spend, as ``spent_on`` does."""
    if cost is not None:
        return cost
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
    """The money limit of one run: ``spent + reserved`` never passes ``limit_usd`` by a reserve.

    One of several processes has a slice of it, which is topped up before it is empty: until the last
    top-up has come nothing is refused, and what doesn't fit waits.
    """

    limit_usd: float | None
    spent_usd: float = 0.0
    """Known spend so far, a resumed journal's included."""
    unknown: int = 0
    """Answers whose cost nobody knows."""
    reserved_usd: float = 0.0
    open_reserves: int = 0
    ask: Callable[[float], None] | None = None
    """Asks for more, with what the next request lacks (0 = it goes, but half of the slice is gone);
    ``None`` = there is no more."""
    _asked_at_usd: float | None = None
    """The slice at which more was asked for: once is enough."""

    @property
    def left_usd(self) -> float | None:
        """What neither is spent nor reserved; ``None`` = there is no limit."""
        if self.limit_usd is None:
            return None
        return self.limit_usd - self.spent_usd - self.reserved_usd

    def admit(self, reserve: float | None) -> Admission:
        """Take ``reserve`` out of what is left, whole or not at all.

        Returns:
            ``wait`` when it could fit once a request in flight turns out cheaper than its reserve.
            A request without a bound is admitted: who allows unknown cost did so before the run.
        """
        amount = reserve or 0.0
        refusal = self._refusal(amount)
        if refusal is None:
            self.reserved_usd += amount
            self.open_reserves += 1
        if self.ask is None or self.limit_usd is None:
            return refusal or "admitted"
        left = self.limit_usd - self.spent_usd - self.reserved_usd
        if refusal is not None or left < self.limit_usd / 2:
            self._ask_once(self.ask, 0.0 if refusal is None else max(amount - left, SLACK_USD))
        return "admitted" if refusal is None else "wait"

    def settle(self, reserve: float | None, spent: float | None) -> None:
        """Give an admitted ``reserve`` back and count what was really ``spent``."""
        self.open_reserves -= 1
        self.reserved_usd = self.reserved_usd - (reserve or 0.0) if self.open_reserves else 0.0
        if spent is None:
            self.unknown += 1
        else:
            self.spent_usd += spent

    def grant(self, slice_usd: float, *, is_last: bool) -> None:
        """Take more money: what may be spent in all."""
        self.limit_usd, self._asked_at_usd = slice_usd, None
        if is_last:
            self.ask = None

    def _refusal(self, amount: float) -> Literal["wait", "refused"] | None:
        if self.limit_usd is None:
            return None
        over = self.spent_usd + amount > self.limit_usd + SLACK_USD
        if over or self.spent_usd >= self.limit_usd:
            return "refused"
        if self.spent_usd + self.reserved_usd + amount > self.limit_usd + SLACK_USD:
            return "wait" if self.open_reserves else "refused"
        return None

    def _ask_once(self, ask: Callable[[float], None], lacks_usd: float) -> None:
        if self._asked_at_usd != self.limit_usd:
            self._asked_at_usd = self.limit_usd
            ask(lacks_usd)
