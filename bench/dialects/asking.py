"""What a request says to a gateway: the words of its dialect, filled in. Pure."""

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any
from urllib.parse import quote

from bench.dialects.shape import Dialect, NameForm, Words
from bench.model.record import Value
from bench.model.target import Target

_PRINTABLE = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


class Intent(Value, frozen=True, kw_only=True):
    """What one request wants besides its answer."""

    target: Target
    allow_cache: bool
    """Leave the cache bypass out."""
    allow_fallback: bool
    """Leave the ban on fallback out."""
    tags: Mapping[str, str]
    """``run`` and ``trial`` id; empty = no tag is sent."""


def request_words(dialect: Dialect, intent: Intent) -> Words:
    """Return the headers and body fields that pin, tag and keep from cache and fallback.

    The fields are meant to lie under the request's own; a body that is sent byte for byte has none.
    """
    chosen = [dialect.always]
    if not intent.allow_cache:
        chosen.append(dialect.no_cache)
    if not intent.allow_fallback:
        chosen.append(dialect.no_fallback)
    # A name that pins its provider itself needs no second pin.
    if intent.target.mapping and intent.target.model == intent.target.model_id:
        chosen.append(dialect.pin)
    if intent.tags:
        chosen.append(dialect.tags)
    headers: dict[str, str] = {}
    fields: dict[str, Any] = {}
    chosen = [words for words in chosen if words.headers or words.fields]
    values = {**_of_mapping(intent.target), **_of_tags(intent.tags)} if chosen else {}
    for words in chosen:
        for name, text in words.headers.items():
            headers[name] = _in_header(_filled(text, values))
        if words.fields:
            fields = merged(fields, _filled_in(words.fields, values))
    return Words(headers=headers, fields=fields)


def pinned_name(form: NameForm | None, model_id: str, mapping: str | None) -> str:
    """Return the string to send as ``model`` for a model and mapping."""
    if form is None or not mapping:
        return model_id
    provider, _, region = mapping.partition(":")
    name = form.pinned.replace("{provider}", provider).replace("{model}", model_id)
    return name + form.region.replace("{region}", region) if region else name


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both, object by object; where they differ, ``over`` counts."""
    result = dict(under)
    for key, value in over.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result


def _of_mapping(target: Target) -> dict[str, str]:
    provider, _, region = (target.mapping or "").partition(":")
    offer = f"{provider}/{region}" if region else provider
    return {"{provider}": provider, "{region}": region, "{offer}": offer}


def _of_tags(tags: Mapping[str, str]) -> dict[str, str]:
    named = [
        f'"gateway-bench-{tag}":{encode_basestring_ascii(value)}' for tag, value in tags.items()
    ]
    return {
        **{f"{{{tag}}}": value for tag, value in tags.items()},
        "{tags}": f"{{{','.join(named)}}}",
    }


def _in_header(value: str) -> str:
    is_plain = value.isascii() and value.isprintable() and "%" not in value
    return value if is_plain else quote(value, safe=_PRINTABLE)


def _filled(text: str, values: Mapping[str, str]) -> str:
    # A value is not looked at again: it may hold braces itself.
    whole = values.get(text)
    if whole is not None:
        return whole
    for name, value in values.items():
        before, found, after = text.partition(name)
        if found:
            return _filled(before, values) + value + _filled(after, values)
    return text


def _filled_in(value: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, str):
        return _filled(value, values)
    if isinstance(value, Mapping):
        return {key: _filled_in(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each, values) for each in value]
    return value
