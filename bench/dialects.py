"""What each gateway calls the same things: data, and four functions that read it.

A dialect says which header or body field bypasses the response cache, forbids fallback, pins a
provider and carries a tag, and where an answer tells who really served it and what it cost.
A new gateway is a new entry in ``DIALECTS``, never a new code path. Pure.

Sources of the names: recorded answers (tests), https://docs.llmgateway.io,
https://docs.litellm.ai/docs/proxy and https://portkey.ai/docs/api-reference.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from bench.model.target import Target

_T = TypeVar("_T")

_PRINTABLE = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "%")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The words of one gateway. Sources of claims are ``header:NAME`` or ``body:PATH.TO.FIELD``.

    Of several sources the first that has something to say wins.
    """

    name: str
    no_cache_headers: tuple[tuple[str, str], ...] = ()
    no_cache_fields: Mapping[str, Any]
    """Body fields that keep the answer out of the gateway's response cache."""
    no_fallback_headers: tuple[tuple[str, str], ...] = ()
    no_fallback_fields: Mapping[str, Any]
    """Body fields that forbid another provider or model in place of the one asked for."""
    provider_header: str | None = None
    """Carries the provider; ``None`` where the ``model`` string pins it."""
    tag_headers: Mapping[str, str]
    """Tag (``run``, ``trial``) → header that carries it alone."""
    tags_header: str | None = None
    """One header that carries all tags as a JSON object."""
    request_id: tuple[str, ...] = ("header:x-request-id", "header:request-id")
    generation_id: tuple[str, ...] = ("body:id",)
    """What the answer calls itself: the name that a provider's bill has for it."""
    served_provider: tuple[str, ...] = ()
    served_model: tuple[str, ...] = ()
    cost_usd: tuple[str, ...] = ()
    overhead_ms: tuple[str, ...] = ()
    cache_hit: tuple[str, ...] = ("header:x-cache",)
    """A flag, or words with ``hit``, ``miss``, ``disabled``, ``refresh`` or ``bypass`` in them."""
    cache_key: str | None = None
    """Header that is there only when the response cache answered."""
    fallback: tuple[str, ...] = ()
    """A flag, or a count of fallbacks tried."""
    asked_and_used: tuple[tuple[str, str], ...] = ()
    """Pairs of sources that differ when another provider than the one asked for answered."""
    retry_after: tuple[str, ...] = ("retry-after",)
    """Headers that say how long to wait, best first."""
    key_refusals: tuple[str, ...] = ()
    """What the body of an HTTP 400 holds when it is the key that was refused."""
    models_query: str | None = None
    """Query under which its list of models also names wildcards."""
    marks: tuple[str, ...] = ()
    """Beginnings of response header names by which the dialect is recognised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a gateway says about its own answer; ``None`` = it says nothing."""

    request_id: str | None = None
    generation_id: str | None = None
    served_provider: str | None = None
    served_model: str | None = None
    cost_usd: float | None = None
    overhead_ms: float | None = None
    cache_hit: bool | None = None
    fallback: bool | None = None


_OWN_TAGS = {"run": "x-gateway-bench-run", "trial": "x-gateway-bench-trial"}

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="plain",
            no_cache_fields={},
            no_fallback_fields={},
            tag_headers=_OWN_TAGS,
            cost_usd=("body:usage.cost",),
        ),
        Dialect(
            name="llmgateway",
            no_cache_headers=(("x-no-cache", "true"),),
            no_cache_fields={},
            no_fallback_headers=(("x-no-fallback", "true"),),
            no_fallback_fields={},
            tag_headers={"run": "x-llmgateway-bench-run", "trial": "x-llmgateway-bench-trial"},
            served_provider=("body:metadata.used_provider", "header:x-served-provider"),
            served_model=("body:metadata.used_model", "header:x-served-model"),
            cost_usd=("body:usage.cost_usd_total", "body:usage.cost"),
            overhead_ms=("header:x-gateway-overhead-ms",),
            cache_hit=("body:metadata.cached", "header:x-cache"),
            fallback=("body:metadata.fallback", "header:x-fallback"),
            asked_and_used=(("body:metadata.requested_provider", "body:metadata.used_provider"),),
            marks=("x-llmgateway-", "x-gateway-bench-simulator"),
        ),
        Dialect(
            name="litellm",
            # Its proxy reads cache controls from the body; `Cache-Control` only sets a time to live.
            no_cache_fields={"cache": {"no-cache": True, "no-store": True}},
            no_fallback_fields={"disable_fallbacks": True},
            tag_headers={},
            # Not `x-litellm-tags`: where tag routing is on, that would choose the deployment.
            tags_header="x-litellm-spend-logs-metadata",
            request_id=("header:x-litellm-call-id", "header:x-request-id"),
            # The group is the name asked for; the deployment behind it has other names.
            served_model=("header:x-litellm-model-group",),
            cost_usd=("body:usage.cost", "header:x-litellm-response-cost"),
            overhead_ms=("header:x-litellm-overhead-duration-ms",),
            cache_hit=("header:x-litellm-cache-hit",),
            cache_key="x-litellm-cache-key",
            fallback=("header:x-litellm-attempted-fallbacks",),
            # It passes a provider's headers on under a name of its own.
            retry_after=("retry-after", "llm_provider-retry-after"),
            # Without a database it can't look up a key that is not its master key.
            key_refusals=("no_db_connection",),
            # Else a `*` in its configuration is listed as OpenAI's models, and takes any name.
            models_query="return_wildcard_routes=true",
            marks=("x-litellm-",),
        ),
        Dialect(
            name="portkey",
            no_cache_headers=(("x-portkey-cache-force-refresh", "true"),),
            no_cache_fields={},
            # Fallback is part of the configuration a request names; no header forbids it.
            no_fallback_fields={},
            provider_header="x-portkey-provider",
            tag_headers={},
            tags_header="x-portkey-metadata",
            request_id=("header:x-portkey-trace-id", "header:x-request-id"),
            served_provider=("body:provider", "header:x-portkey-provider"),
            cache_hit=("header:x-portkey-cache-status",),
            marks=("x-portkey-",),
        ),
    )
}


def request_headers(
    dialect: Dialect,
    *,
    target: Target,
    allow_cache: bool,
    allow_fallback: bool,
    tags: Mapping[str, str],
) -> dict[str, str]:
    """Return the headers that pin, tag and keep from cache and fallback one request.

    Args:
        dialect: Words to use.
        target: Whose mapping is pinned, where the dialect pins by header.
        allow_cache: Leave the cache bypass out.
        allow_fallback: Leave the ban on fallback out.
        tags: ``run`` and ``trial`` id; empty = no tag is sent.
    """
    headers: dict[str, str] = {}
    if not allow_cache:
        headers.update(dialect.no_cache_headers)
    if not allow_fallback:
        headers.update(dialect.no_fallback_headers)
    provider = (target.mapping or "").partition(":")[0]
    # A name that pins its provider itself is for the gateway behind this one.
    if dialect.provider_header and provider and not target.model.startswith(f"{provider}/"):
        headers[dialect.provider_header] = provider
    for tag, name in dialect.tag_headers.items():
        if tag in tags:
            headers[name] = quote(tags[tag], safe=_PRINTABLE)
    if dialect.tags_header and tags:
        named = {f"gateway-bench-{tag}": value for tag, value in tags.items()}
        headers[dialect.tags_header] = json.dumps(named, separators=(",", ":"))
    return headers


def request_fields(dialect: Dialect, *, allow_cache: bool, allow_fallback: bool) -> dict[str, Any]:
    """Return the body fields that say the same where the dialect has no header for it.

    They are merged under the fields of the request; a body that is sent byte for byte has none.
    """
    fields: dict[str, Any] = {}
    if not allow_cache:
        fields.update(dialect.no_cache_fields)
    if not allow_fallback:
        fields.update(dialect.no_fallback_fields)
    return fields


def read_claims(dialect: Dialect, headers: Mapping[str, str], body: Mapping[str, Any]) -> Claims:
    """Return what an answer says about itself.

    Args:
        dialect: Where to look.
        headers: Of the response, names in lower case.
        body: Top-level fields of the answer (of a stream: each as last seen).
    """
    seen = _Answer(headers=headers, body=body)
    hit = seen.first(dialect.cache_hit, _as_hit)
    if hit is None and dialect.cache_key and headers.get(dialect.cache_key):
        hit = True
    fallback = seen.first(dialect.fallback, _as_flag)
    if not fallback and any(seen.differ(*pair) for pair in dialect.asked_and_used):
        fallback = True
    return Claims(
        request_id=seen.first(dialect.request_id, _as_text),
        generation_id=seen.first(dialect.generation_id, _as_text),
        served_provider=seen.first(dialect.served_provider, _as_text),
        served_model=seen.first(dialect.served_model, _as_text),
        cost_usd=seen.first(dialect.cost_usd, _as_cost),
        overhead_ms=seen.first(dialect.overhead_ms, _as_amount),
        cache_hit=hit,
        fallback=fallback,
    )


def sniff(headers: Mapping[str, str]) -> str | None:
    """Return the dialect whose marks stand in ``headers`` (lower case), or ``None``."""
    for dialect in DIALECTS.values():
        if any(name.startswith(mark) for name in headers for mark in dialect.marks):
            return dialect.name
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """Headers and body of one answer, addressed by source."""

    headers: Mapping[str, str]
    body: Mapping[str, Any]

    def at(self, source: str) -> object:
        kind, _, path = source.partition(":")
        if kind == "header":
            return self.headers.get(path)
        value: object = self.body
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def first(self, sources: tuple[str, ...], read: Callable[[object], _T | None]) -> _T | None:
        found = (read(self.at(source)) for source in sources)
        return next((value for value in found if value is not None), None)

    def differ(self, asked: str, used: str) -> bool:
        before, after = _as_text(self.at(asked)), _as_text(self.at(used))
        return before is not None and after is not None and before != after


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _as_amount(value: object) -> float | None:
    """A number from JSON or a header; what is none, negative or endless counts as not said."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = float(value)
    except ValueError:
        return None
    return amount if 0 <= amount < math.inf else None


def _as_cost(value: object) -> float | None:
    """Dollars. 0 is what gateways say when they know no price, or before the tokens exist."""
    return _as_amount(value) or None


def _as_flag(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    count = _as_amount(value)
    return None if count is None else count > 0


def _as_hit(value: object) -> bool | None:
    if isinstance(value, str):
        words = value.lower().split()
        if "hit" in words:
            return True
        if {"miss", "disabled", "refresh", "bypass"} & set(words):
            return False
    return _as_flag(value)
