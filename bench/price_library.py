"""List prices of providers, from the package `genai-prices` where it is installed (extra `prices`).

Its data are in the package: nothing is fetched. It is asked after the gateway's own list and after
prices that a person gives, and every price says that it came from here.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from bench.model.record import Value
from bench.model.target import Prices, PriceTier, PriceWindow

if TYPE_CHECKING:
    import genai_prices.types

SOURCE = "genai-prices"
_PER_MILLION = 1_000_000
_PER_THOUSAND = 1_000
_KEYS = {
    "input_usd": "input_mtok",
    "output_usd": "output_mtok",
    "cached_input_usd": "cache_read_mtok",
    "cache_write_usd": "cache_write_mtok",
    "reasoning_usd": "output_reasoning_mtok",
}


class Wanted(Value, frozen=True, kw_only=True):
    """Whose prices are looked for."""

    model: str
    """As it is sent."""
    model_id: str
    provider: str | None
    """The one that is pinned; ``None`` = nobody said."""
    url: str
    """Where requests go."""


class PriceLibrary:
    """The installed package."""

    def __init__(self, version: str) -> None:
        self.version = version

    @classmethod
    def load(cls) -> Self | None:
        """Return the library; ``None`` = the extra is not installed. Takes a third of a second."""
        try:
            import genai_prices
        except ImportError:
            return None
        return cls(genai_prices.__version__)

    def find(self, wanted: Wanted, *, at: datetime) -> Prices | None:
        """Return the prices of a model at its provider; ``None`` = the library doesn't know them.

        A provider that is pinned and unknown here has no price: another one's would be a guess.
        Where nobody names a provider the address decides, then the model's own name.

        Args:
            wanted: Whose.
            at: The day decides where a price has changed.
        """
        for way in _ways(wanted):
            found = _looked_up(way, at)
            if found is not None:
                return self._prices(found, at, is_by_name=way.is_by_name)
        return None

    def _prices(
        self, found: "genai_prices.types.PriceCalculation", at: datetime, *, is_by_name: bool
    ) -> Prices | None:
        base, windows = _conditions(found.model, at)
        rates = _rates(base)
        if rates["input_usd"] is None or rates["output_usd"] is None:
            return None
        told = ", by its name" if is_by_name else ""
        return Prices(
            **rates,
            request_usd=_amount(base.requests_kcount, _PER_THOUSAND),
            tiers=_tiers(base),
            windows=tuple(_window(window) for window in windows),
            source=SOURCE,
            source_detail=f"{self.version}: {found.provider.id}/{found.model.id}{told}",
        )


class _Way(Value, frozen=True, kw_only=True):
    """One way to ask for a model."""

    model: str
    provider: str | None = None
    url: str | None = None

    @property
    def is_by_name(self) -> bool:
        return self.provider is None and self.url is None


def _ways(wanted: Wanted) -> Iterator[_Way]:
    """Yield ways to ask, the surest first."""
    if wanted.provider is not None:
        yield _Way(model=wanted.model_id, provider=wanted.provider)
        return
    yield _Way(model=wanted.model, url=wanted.url)
    provider, slash, rest = wanted.model.partition("/")
    yield _Way(model=rest, provider=provider) if slash else _Way(model=wanted.model)


def _looked_up(way: _Way, at: datetime) -> "genai_prices.types.PriceCalculation | None":
    import genai_prices

    usage = genai_prices.Usage(input_tokens=1, output_tokens=1)
    ask = partial(genai_prices.calc_price, usage, way.model, genai_request_timestamp=at)
    try:
        return ask(provider_api_url=way.url) if way.url else ask(provider_id=way.provider)
    except (LookupError, ValueError):  # unknown, or priced by something else than tokens
        return None


def _conditions(
    model: "genai_prices.types.ModelInfo", at: datetime
) -> "tuple[genai_prices.types.ModelPrice, tuple[genai_prices.types.ConditionalPrice, ...]]":
    """Return the prices of the day, and those of its hours that go before them."""
    if not isinstance(model.prices, list):
        return model.prices, ()
    windows: list[Any] = []
    for one in reversed(model.prices):
        if hasattr(one.constraint, "start_time"):
            windows.insert(0, one)
        elif one.constraint is None or one.constraint.active(at):
            return one.prices, tuple(windows)
    return model.prices[0].prices, tuple(windows)


def _window(priced: "genai_prices.types.ConditionalPrice") -> PriceWindow:
    hours: Any = priced.constraint
    return PriceWindow(
        begins=_clock(hours.start_time),
        ends=_clock(hours.end_time),
        tiers=_tiers(priced.prices),
        **_rates(priced.prices),
    )


def _clock(hour: time) -> str:
    moment = datetime.combine(datetime(1970, 1, 1, tzinfo=UTC), hour)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return f"{moment:%H:%M}"


def _rates(listed: "genai_prices.types.ModelPrice") -> dict[str, Any]:
    """Return the plain prices, below all steps."""
    return {name: _amount(_base(getattr(listed, key)), _PER_MILLION) for name, key in _KEYS.items()}


def _tiers(listed: "genai_prices.types.ModelPrice") -> tuple[PriceTier, ...]:
    """Return the steps of all kinds of tokens as steps of the prompt's length, ascending."""
    priced = {name: _steps(getattr(listed, key)) for name, key in _KEYS.items()}
    starts = sorted({start for steps in priced.values() for start in steps})
    return tuple(
        PriceTier(
            above_prompt_tokens=start,
            **{name: _reached(steps, start) for name, steps in priced.items()},
        )
        for start in starts
    )


def _steps(price: Any) -> dict[int, float | None]:  # noqa: ANN401  a number, steps, or nothing
    tiers = getattr(price, "tiers", ())
    return {tier.start: _amount(tier.price, _PER_MILLION) for tier in tiers}


def _reached(steps: dict[int, float | None], start: int) -> float | None:
    below = [at for at in steps if at <= start]
    return steps[max(below)] if below else None


def _base(price: Any) -> Decimal | None:  # noqa: ANN401  a number, steps, or nothing
    base: Decimal | None = getattr(price, "base", price)
    return base


def _amount(price: Any, per: int) -> float | None:  # noqa: ANN401  a number, steps, or nothing
    """Dollars for one. 0 is what lists say where they know no price, so it is unknown here."""
    base = _base(price)
    return float(base / per) if base else None
