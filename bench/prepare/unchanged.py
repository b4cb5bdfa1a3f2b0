"""Whether what a run measured is still what the gateway offers: a resumed run must not mix two things."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.catalogue import ListedModel, Listing
from bench.errors import UsageFault
from bench.ledger import Ledger
from bench.model.target import Target, TargetMetadata

_WHAT_IT_IS = ("provider", "region", "upstream_model", "quantization")
"""A difference in one of these makes it another target; sizes, prices and stability do not."""
_PRICES = ("input_usd", "output_usd", "request_usd")


def refuse_changed_targets(path: Path, ledger: Ledger, listing: Listing) -> tuple[str, ...]:
    """Hold the targets that have something missing against the gateway's list as it is now.

    A target that no list knew when the run began, and a gateway without a list, prove nothing either
    way; nor does the gateway's word alone where the run also read the user's catalogues.

    Args:
        path: The journal, for the message.
        ledger: What it says.
        listing: The gateway's list, empty where it has none.

    Returns:
        What is to be known though it does not matter for the figures.

    Raises:
        UsageFault: A target is gone or has changed; says which and how.
    """
    missing = {trial.target_id for trial in ledger.missing}
    targets = [target for target in ledger.header.targets if target.id in missing]
    catalogues = ledger.header.options.get("catalogue")
    if not listing.models or (catalogues is not None and catalogues.value):
        return ()
    said: list[str] = []
    notes: list[str] = []
    for target in targets:
        now = _listed(target, listing)
        if now is None:
            said += [_gone(target)] if _was_listed(target) else []
        else:
            said += _differences(target, now)
            notes += _other_prices(target, now)
    if said:
        message = f"`{path}` can't be resumed: {'; '.join(said)}"
        hint = "start a new run: its answers would come from something else than the recorded ones"
        raise UsageFault(message, hint=hint)
    return tuple(notes)


def _was_listed(target: Target) -> bool:
    """Say whether the gateway's list knew the target: a price may be assumed, or a library's."""
    facts = target.metadata
    prices = facts.prices
    has_own_price = prices is not None and prices.source == "gateway"
    return has_own_price or msgspec.structs.replace(facts, prices=None) != TargetMetadata()


def _listed(target: Target, listing: Listing) -> TargetMetadata | None:
    entry = _entry(target, listing)
    if entry is None or target.mapping is None or not entry.offers:
        return None if entry is None else entry.metadata
    offers = {offer.mapping: offer.metadata for offer in entry.offers}
    return offers.get(target.mapping)


def _entry(target: Target, listing: Listing) -> ListedModel | None:
    by_id = {model.id: model for model in listing.models}
    return by_id.get(target.model_id) or by_id.get(target.model)


def _gone(target: Target) -> str:
    offer = f" by `{target.mapping}`" if target.mapping else ""
    return f"the gateway no longer lists `{target.model_id}`{offer}"


def _differences(target: Target, now: TargetMetadata) -> Iterator[str]:
    """Yield what both lists told, differently."""
    for name in _WHAT_IT_IS:
        before, after = getattr(target.metadata, name), getattr(now, name)
        if before is not None and after is not None and before != after:
            words = name.replace("_", " ")
            yield f"{words} of target `{target.id}` was `{before}` and is now `{after}`"


def _other_prices(target: Target, now: TargetMetadata) -> Iterator[str]:
    before, after = target.metadata.prices, now.prices
    if before is None or after is None or before.source != after.source:
        return
    if any(getattr(before, name) != getattr(after, name) for name in _PRICES):
        yield (
            f"note: the gateway now lists other prices for `{target.id}`; costs of this run are "
            "computed at those that it began with"
        )
