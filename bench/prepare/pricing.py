"""Prices for targets that the gateway lists none for, from the price library where it is installed."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from bench.model.target import Prices, Target
from bench.price_library import PriceLibrary, Wanted


def with_library_prices(
    targets: tuple[Target, ...], library: PriceLibrary | None, *, url: str, now: datetime
) -> tuple[Target, ...]:
    """Return the targets, those without a whole price with the library's where it has one.

    Args:
        targets: As they were selected: listed and assumed prices go before the library's.
        library: ``None`` = it is not installed, or not wanted.
        url: Where requests go.
        now: For prices that have changed.
    """
    if library is None:
        return targets
    return tuple(
        target if is_priced(target) else _priced(target, library, url=url, now=now)
        for target in targets
    )


def is_priced(target: Target) -> bool:
    """Say whether a token in and a token out have a price."""
    prices = target.metadata.prices
    return prices is not None and None not in (prices.input_usd, prices.output_usd)


def price_note(targets: Iterable[Target]) -> str | None:
    """Return where library prices came from, for people; ``None`` = none is used."""
    found = [_told(target) for target in targets]
    told = [one for one in found if one is not None]
    return f"prices: {'; '.join(told)}" if told else None


def _told(target: Target) -> str | None:
    prices = target.metadata.prices
    if prices is None or prices.source_detail is None:
        return None
    return f"{target.id} from {prices.source} {prices.source_detail}"


def _priced(target: Target, library: PriceLibrary, *, url: str, now: datetime) -> Target:
    wanted = Wanted(
        model=target.model,
        model_id=target.model_id,
        provider=target.metadata.provider,
        url=url,
    )
    found: Prices | None = library.find(wanted, at=now)
    if found is None:
        return target
    metadata = msgspec.structs.replace(target.metadata, prices=found)
    return msgspec.structs.replace(target, metadata=metadata)
