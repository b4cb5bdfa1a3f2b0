"""The catalogue that a user keeps: a TOML or JSON file with models, mappings and prices.

```toml
[models."my-model"]
input = 0.15            # US dollars per million tokens
output = 0.60
context = 128000

[models."my-model".mappings."provider:region"]
input = 0.20
```

What a mapping leaves open is the model's. Only here a price of 0 means that it costs nothing: the
user says so. All faults of a file are told together.
"""

import math
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from bench.catalogue.lists import models_in
from bench.catalogue.shape import ListedModel, Offer
from bench.errors import UsageFault, reason_in
from bench.model.target import Prices, TargetMetadata

_PER_MILLION = 1_000_000
_MAX_BYTES = 32 * 1024 * 1024
_PRICES = {
    "input": "input_usd",
    "output": "output_usd",
    "cached_input": "cached_input_usd",
    "cache_write": "cache_write_usd",
    "cache_write_1h": "cache_write_1h_usd",
    "reasoning": "reasoning_usd",
}
_FACTS = {
    "context": "context_size",
    "max_output": "max_output_tokens",
    "quantization": "quantization",
    "stability": "stability",
    "deactivated": "deactivated_at",
    "upstream_model": "upstream_model",
}
_OWN = ("request", "as_of")
_MAPPING_KEYS = (*_PRICES, *_FACTS, *_OWN)
_MODEL_KEYS = (*_MAPPING_KEYS, "name", "mappings")


class CatalogueFaults(UsageFault):
    """A catalogue file says something that can't be; all of it in one message."""

    def __init__(self, path: Path, faults: list[str]) -> None:
        listed = faults[0] if len(faults) == 1 else "".join(f"\n  {fault}" for fault in faults)
        count = "" if len(faults) == 1 else f"{len(faults)} faults:"
        super().__init__(
            f"`{path}`: {count}{listed}",
            hint="docs/targets.md shows what a catalogue file may hold",
        )
        self.faults = tuple(faults)


def read_own_file(path: Path) -> tuple[ListedModel, ...]:
    """Return the models of a catalogue file, or of a gateway's list that was saved as JSON.

    Raises:
        CatalogueFaults: It holds what no catalogue holds.
        UsageFault: It can't be read.
    """
    read = _decoded(path)
    saved = models_in(read, source="catalogue") if _is_saved_list(read) else ()
    if saved:
        return saved
    faults: list[str] = []
    models = _models(read, faults)
    if not models and not faults:
        faults.append('there are no models in it; write `[models."ID"]`')
    if faults:
        raise CatalogueFaults(path, faults)
    return models


def _decoded(path: Path) -> object:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CatalogueFaults(path, ["it is larger than 32 MB"])
        content = path.read_bytes()
        if path.suffix.lower() == ".json":
            return msgspec.json.decode(content)
        return tomllib.loads(content.decode("utf-8"))
    except OSError as fault:
        message = f"the catalogue `{path}` can't be read: {reason_in(fault)}"
        raise UsageFault(message) from fault
    except (
        msgspec.DecodeError,
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
        RecursionError,
    ) as fault:
        kind = "JSON" if path.suffix.lower() == ".json" else "TOML"
        message = f"the catalogue `{path}` is no {kind}: {fault}"
        raise UsageFault(message) from fault


def _is_saved_list(read: object) -> bool:
    return isinstance(read, list) or (
        isinstance(read, Mapping) and isinstance(read.get("data"), list)
    )


def _models(read: object, faults: list[str]) -> tuple[ListedModel, ...]:
    if not isinstance(read, Mapping):
        faults.append("a table `models` is needed")
        return ()
    faults += [f"no `{key}` here{_meant(key, ('models',))}" for key in read if key != "models"]
    listed = read.get("models", {})
    if not isinstance(listed, Mapping):
        faults.append("`models` is no table of models")
        return ()
    return tuple(_model(name, entry, faults) for name, entry in listed.items())


def _model(name: str, entry: object, faults: list[str]) -> ListedModel:
    where = f'models."{name}"'
    table = _table(entry, where, _MODEL_KEYS, faults)
    values = _values(table, where, faults)
    mappings = table.get("mappings", {})
    if not isinstance(mappings, Mapping):
        faults.append(f"{where}.mappings is no table of mappings")
        mappings = {}
    offers = []
    for mapping, own in mappings.items():
        place = f'{where}.mappings."{mapping}"'
        told = _values(_table(own, place, _MAPPING_KEYS, faults), place, faults)
        offers.append(Offer(mapping=mapping, metadata=_at(mapping, _metadata({**values, **told}))))
    shown = table.get("name", name)
    if not isinstance(shown, str) or not shown:
        faults.append(f"{where}.name is `{shown}`: some text is needed")
        shown = name
    return ListedModel(
        id=name, display_name=shown, offers=tuple(offers), metadata=_metadata(values)
    )


def _at(mapping: str, metadata: TargetMetadata) -> TargetMetadata:
    provider, _, region = mapping.partition(":")
    return msgspec.structs.replace(metadata, provider=provider, region=region or None)


def _table(
    entry: object, where: str, known: tuple[str, ...], faults: list[str]
) -> Mapping[str, Any]:
    if not isinstance(entry, Mapping):
        faults.append(f"{where} is no table")
        return {}
    faults += [f"{where}: no `{key}` here{_meant(key, known)}" for key in entry if key not in known]
    return {key: value for key, value in entry.items() if key in known}


def _values(table: Mapping[str, Any], where: str, faults: list[str]) -> dict[str, Any]:
    """Return what a table says, read; what can't be read is a fault."""
    values = {}
    for key in _MAPPING_KEYS:
        if key in table:
            try:
                values[key] = _READERS.get(key, _words)(table[key])
            except ValueError as fault:
                faults.append(f"{where}.{key} is `{table[key]}`: {fault}")
    return values


def _metadata(values: Mapping[str, Any]) -> TargetMetadata:
    facts = {field: values.get(key) for key, field in _FACTS.items()}
    rates: dict[str, Any] = {
        field: values[key] / _PER_MILLION for key, field in _PRICES.items() if key in values
    }
    request = values.get("request")
    if not rates and request is None:
        return TargetMetadata(**facts)
    prices = Prices(**rates, request_usd=request, source="catalogue", as_of=values.get("as_of"))
    return TargetMetadata(**facts, prices=prices)


def _amount(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError("US dollars from 0 are needed")
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number of tokens from 1 is needed")
    return value


def _words(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("some text is needed")
    return value.strip()


def _day(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()[:10]
    try:
        return date.fromisoformat(str(value)[:10]).isoformat()
    except ValueError:
        raise ValueError("a date such as 2026-12-31 is needed") from None


_READERS: Mapping[str, Callable[[object], Any]] = {
    **dict.fromkeys((*_PRICES, "request"), _amount),
    "as_of": _day,
    "context": _whole,
    "max_output": _whole,
    "deactivated": _day,
}


def _meant(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(f'`{match}`' for match in near)}?" if near else ""
