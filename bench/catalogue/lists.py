"""From the body of a gateway's list to models: every shape that gateways really send. Pure.

LLMGateway: models with `providers`, prices per provider. OpenAI, Portkey and LiteLLM: ids only.
OpenRouter and Vercel: prices per model; the providers of one model in a list of their own. LiteLLM:
prices in `/model/info`. What is none of these lists nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from bench.catalogue.facts import metadata_of, text
from bench.catalogue.shape import ListedModel, Offer
from bench.model.target import TargetMetadata

GATEWAY = "gateway"
_LISTS = ("data", "models")
_LONGEST_NAME = 256
"""Characters. A longer name, or one with characters that don't show, is none that anybody asks for."""


def parse_models(body: bytes, *, source: str = GATEWAY) -> tuple[ListedModel, ...]:
    """Return the models in a list of any shape; nothing for what is no such list."""
    return models_in(_decoded(body), source=source)


def models_in(read: object, *, source: str) -> tuple[ListedModel, ...]:
    """Return the models of a decoded list: an array, or an object with `data` or `models`."""
    models = (_model(entry, source) for entry in _entries(read, *_LISTS))
    return tuple(model for model in models if model is not None)


def is_list(body: bytes) -> bool:
    """Return whether a body is a list of models at all, be it an empty one."""
    read = _decoded(body)
    named = [read[name] for name in _LISTS if name in read] if isinstance(read, Mapping) else [read]
    return any(isinstance(listed, list) for listed in named)


def parse_details(body: bytes) -> dict[str, TargetMetadata]:
    """Return what LiteLLM's `/model/info` says of each name.

    A name may stand for several deployments: what they disagree on is not known.
    """
    found: dict[str, list[TargetMetadata]] = {}
    for entry in _entries(_decoded(body), "data"):
        info, name = entry.get("model_info"), text(entry, "model_name")
        if name is not None and isinstance(info, Mapping):
            found.setdefault(name, []).append(metadata_of(info, {}, source=GATEWAY))
    return {name: _agreed(several) for name, several in found.items()}


def parse_offers(body: bytes) -> tuple[Offer, ...]:
    """Return who offers one model, from OpenRouter's or Vercel's list of its endpoints."""
    read = _decoded(body)
    inner = read.get("data") if isinstance(read, Mapping) else None
    offers: dict[str, Offer] = {}
    for entry in _entries(inner, "endpoints"):
        tag = _name(entry, "tag", "provider_name")
        if tag is not None:
            mapping = tag.strip().lower().replace(" ", "-")
            offers[mapping] = Offer(
                mapping=mapping, metadata=metadata_of(entry, {}, source=GATEWAY)
            )
    return tuple(offers.values())


def _decoded(body: bytes) -> object:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None


def _entries(read: object, *names: str) -> Iterator[Mapping[str, Any]]:
    listed = read
    if isinstance(read, Mapping):
        listed = next((read[name] for name in names if name in read), None)
    if isinstance(listed, list):
        yield from (entry for entry in listed if isinstance(entry, Mapping))


def _agreed(several: list[TargetMetadata]) -> TargetMetadata:
    first = several[0]
    disputed = {
        name: None
        for name in first.__struct_fields__
        if any(getattr(other, name) != getattr(first, name) for other in several)
    }
    return msgspec.structs.replace(first, **disputed)


def _model(entry: Mapping[str, Any], source: str) -> ListedModel | None:
    name = _name(entry, "id")
    if name is None or _is_not_for_text(entry):
        return None
    listed = entry.get("providers")
    providers = (
        [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    offers = {offer.mapping: offer for each in providers for offer in _offers(each, entry, source)}
    return ListedModel(
        id=name,
        display_name=_name(entry, "name") or name,
        offers=tuple(offers.values()),
        metadata=metadata_of(entry, entry, source=source),
    )


def _name(entry: Mapping[str, Any], *keys: str) -> str | None:
    found = text(entry, *keys)
    if found is None or len(found) > _LONGEST_NAME or not found.isprintable():
        return None
    return found


def _is_not_for_text(entry: Mapping[str, Any]) -> bool:
    """Whether the model answers with something else than text, so that no case could ask it."""
    made = entry.get("output")
    return isinstance(made, list) and bool(made) and "text" not in made


def _offers(provider: Mapping[str, Any], model: Mapping[str, Any], source: str) -> Iterator[Offer]:
    """Yield a provider's offer, and one for each region that can be pinned."""
    name = _name(provider, "providerId", "provider_id", "provider", "id")
    if name is None:
        return
    bare, _, inline = name.partition(":")
    own = _name(provider, "region") or inline or None
    yield _offer(provider, model, source, at=(bare, own))
    listed = provider.get("regions")
    for region in listed if isinstance(listed, list) else ():
        told = region if isinstance(region, Mapping) else {"id": region}
        id_ = _name(told, "id")
        if id_ is not None:
            entry = provider if told is not region else _regional(provider, told)
            yield _offer(entry, model, source, at=(bare, id_))


def _regional(provider: Mapping[str, Any], region: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a region's entry: the provider's, with what the region has of its own.

    Bedrock's regions outside `global` cost more than listed, by a rule in the package's program and
    not in its data: their prices are unknown.
    """
    own = {key: value for key, value in region.items() if value is not None}
    entry = {**provider, **own}
    dearer = provider.get("providerId") == "aws-bedrock" and region.get("id") != "global"
    if dearer and not {"inputPrice", "pricingTiers"} & own.keys():
        return {key: value for key, value in entry.items() if not key.lower().endswith(_PRICED)}
    if "inputPrice" in own and "pricingTiers" not in own:
        entry.pop("pricingTiers", None)
    return entry


_PRICED = ("price", "pricing", "pricingtiers")


def _offer(
    entry: Mapping[str, Any],
    model: Mapping[str, Any],
    source: str,
    *,
    at: tuple[str, str | None],
) -> Offer:
    provider, region = at
    metadata = msgspec.structs.replace(
        metadata_of(entry, model, source=source), provider=provider, region=region
    )
    return Offer(mapping=f"{provider}:{region}" if region else provider, metadata=metadata)
