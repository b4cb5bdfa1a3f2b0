"""Several lists made one, fact by fact: who comes first is believed, the others fill gaps. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from bench.catalogue.shape import ListedModel, Listing, Offer
from bench.model.target import Prices, TargetMetadata

Kind = Literal["own", "package"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One list and what it is called."""

    label: str
    """For people: a path, or a package with its version."""
    models: tuple[ListedModel, ...]
    kind: Kind
    """``own``: the user's word, which goes before the gateway's and may add models. ``package``:
    fills gaps of what the gateway lists, and is the list where the gateway has none."""


def merged_listing(listing: Listing, sources: Sequence[Source]) -> Listing:
    """Return the gateway's list with the user's catalogues over and under it."""
    if not sources:
        return listing
    own = [source for source in sources if source.kind == "own"]
    under = [source for source in sources if source.kind == "package"]
    gateway = _Ranked(label=listing.url or "the gateway", models=_by_id(listing.models))
    ranked = [*map(_ranked, own), gateway, *map(_ranked, under)]
    adding = [*map(_ranked, own), gateway, *([] if listing.models else map(_ranked, under))]
    ids = dict.fromkeys(id_ for part in (gateway, *adding) for id_ in part.models)
    models = tuple(
        _model([_Told(part, part.models[id_]) for part in ranked if id_ in part.models])
        for id_ in ids
    )
    return replace(
        listing,
        models=models,
        catalogues=tuple(source.label for source in sources),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    label: str
    models: Mapping[str, ListedModel]
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class _Told:
    """What one source tells of a model."""

    by: _Ranked
    model: ListedModel

    def of(self, mapping: str) -> TargetMetadata | None:
        """Return what it tells of one offer.

        A list without offers tells of the model, whoever serves it; what one provider takes for it
        only the user may say so.
        """
        found = next((offer for offer in self.model.offers if offer.mapping == mapping), None)
        if found is not None:
            return found.metadata
        if self.model.offers and not self.by.is_own:
            return None
        metadata = self.model.metadata
        return metadata if self.by.is_own else msgspec.structs.replace(metadata, prices=None)


def _ranked(source: Source) -> _Ranked:
    return _Ranked(label=source.label, models=_by_id(source.models), is_own=source.kind == "own")


def _by_id(models: Iterable[ListedModel]) -> dict[str, ListedModel]:
    return {model.id: model for model in models}


def _model(told: Sequence[_Told]) -> ListedModel:
    """Return one model from what each source tells of it, the most believed first."""
    first = told[0].model
    mappings = dict.fromkeys(offer.mapping for each in told for offer in each.model.offers)
    metadata, origins = _facts([(each.by.label, each.model.metadata) for each in told])
    names = (each.model.display_name for each in told)
    return ListedModel(
        id=first.id,
        display_name=next((name for name in names if name != first.id), first.id),
        offers=tuple(_offer(mapping, told) for mapping in mappings),
        metadata=metadata,
        origins=origins,
    )


def _offer(mapping: str, told: Sequence[_Told]) -> Offer:
    said = [(each.by.label, each.of(mapping)) for each in told]
    known = [(label, metadata) for label, metadata in said if metadata is not None]
    metadata, origins = _facts(known)
    return Offer(mapping=mapping, metadata=metadata, origins=origins)


def _facts(said: Sequence[tuple[str, TargetMetadata]]) -> tuple[TargetMetadata, dict[str, str]]:
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for label, metadata in said:
        for name in metadata.__struct_fields__:
            value = getattr(metadata, name)
            if value is None or name in values:
                continue
            values[name] = _named(value, label) if isinstance(value, Prices) else value
            origins[name] = label
    return msgspec.structs.replace(TargetMetadata(), **values), origins


def _named(prices: Prices, label: str) -> Prices:
    if prices.source != "catalogue" or prices.source_detail is not None:
        return prices
    return msgspec.structs.replace(prices, source_detail=label)
