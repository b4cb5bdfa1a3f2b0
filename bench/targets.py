"""From the models and mappings a person asked for to the targets that are measured. Pure."""

from collections.abc import Sequence
from datetime import date
from fnmatch import fnmatchcase

import msgspec

from bench.catalogue import ListedModel, Listing, Offer
from bench.catalogue.choosing import is_off
from bench.dialects import NameForm, pinned_name
from bench.errors import UnknownName, UsageFault
from bench.mappings import as_typed, choose
from bench.model.record import Value
from bench.model.target import Prices, Target, TargetMetadata


class Wanted(Value, frozen=True, kw_only=True):
    """What a person asked to measure."""

    models: tuple[str, ...]
    mappings: tuple[str, ...] = ()
    include_deactivated: bool = False
    name_form: NameForm | None
    """How the name that is sent pins a mapping; ``None`` = it doesn't."""
    assumed: Prices | None = None
    """Replaces an unknown price."""
    today: date


def make_targets(listing: Listing, wanted: Wanted) -> tuple[Target, ...]:
    """Return what is measured, in the order asked for, each once.

    Raises:
        UnknownName: A model or mapping that the gateway's list doesn't have.
        UsageFault: Every mapping of a model is deactivated, or a pattern without a list.
    """
    made = [target for name in wanted.models for target in _targets_of(name, listing, wanted)]
    return tuple({target.id: target for target in made}.values())


def _targets_of(name: str, listing: Listing, wanted: Wanted) -> Sequence[Target]:
    model, pinned = _find(name, listing)
    if model is None:
        mappings = as_typed(wanted.mappings)
        return [_target(name, name, mapping, TargetMetadata(), wanted) for mapping in mappings]
    if not model.offers:
        mappings = as_typed(wanted.mappings)
        metadata = model.metadata
        return [_target(name, model.display_name, each, metadata, wanted) for each in mappings]
    selectors = (pinned,) if pinned else wanted.mappings
    offers = _active(model, selectors, wanted)
    return [
        _target(model.id, model.display_name, offer.mapping, offer.metadata, wanted)
        for offer in offers
    ]


def _find(name: str, listing: Listing) -> tuple[ListedModel | None, str | None]:
    """Return the entry that ``name`` means, and the mapping inside ``provider/model[:region]``."""
    by_id = {model.id: model for model in listing.models}
    if not by_id or name in by_id:
        return by_id.get(name), None
    provider, slash, rest = name.partition("/")
    if slash:
        for model_id, region in ((rest, ""), (rest.rpartition(":")[0], rest.rpartition(":")[2])):
            if model_id in by_id and by_id[model_id].offers:
                return by_id[model_id], f"{provider}:{region}" if region else provider
    if any(fnmatchcase(name, pattern) for pattern in listing.patterns):
        return None, None
    raise UnknownName("model", name, tuple(by_id), listed_by=listing.listed_by)


def _active(model: ListedModel, selectors: Sequence[str], wanted: Wanted) -> tuple[Offer, ...]:
    by_mapping = {offer.mapping: offer for offer in model.offers}
    chosen = [by_mapping[mapping] for mapping in choose(model.id, selectors, tuple(by_mapping))]
    if wanted.include_deactivated:
        return tuple(chosen)
    active = tuple(
        offer for offer in chosen if not is_off(offer.metadata.deactivated_at, wanted.today)
    )
    if not active:
        names = ", ".join(offer.mapping for offer in chosen)
        msg = f"every chosen mapping of {model.id} is deactivated: {names}"
        raise UsageFault(
            msg,
            hint="`--include-deactivated` measures them all the same",
        )
    return active


def _target(
    model_id: str,
    display_name: str,
    mapping: str | None,
    metadata: TargetMetadata,
    wanted: Wanted,
) -> Target:
    provider, _, region = (mapping or "").partition(":")
    sent = pinned_name(wanted.name_form, model_id, mapping)
    prices = metadata.prices
    if prices is not None:
        prices = msgspec.structs.replace(prices, as_of=prices.as_of or wanted.today.isoformat())
    if prices is None or prices.input_usd is None or prices.output_usd is None:
        prices = wanted.assumed or prices
    return Target(
        id=f"{mapping}/{model_id}" if mapping and sent == model_id else sent,
        model=sent,
        model_id=model_id,
        mapping=mapping,
        display_name=display_name if mapping is None else f"{display_name} ({mapping})",
        metadata=msgspec.structs.replace(
            metadata,
            provider=metadata.provider or provider or None,
            region=metadata.region or region or None,
            prices=prices,
        ),
    )
