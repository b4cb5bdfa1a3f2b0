"""What an answer says about itself, read where its dialect says it stands. Pure."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from bench.dialects.names import same_provider
from bench.dialects.shape import Claims, Dialect
from bench.model.record import Value

_T = TypeVar("_T")
_AMOUNTS = (int, float, str)


def read_claims(dialect: Dialect, headers: Mapping[str, str], body: Mapping[str, Any]) -> Claims:
    """Return what an answer says about itself.

    Args:
        dialect: Where to look.
        headers: Of the response, names in lower case.
        body: Top-level fields of the answer (of a stream: each as last seen).
    """
    seen = _Answer(headers=headers, body=body)
    return Claims(
        request_id=seen.first(dialect.request_id, _as_text),
        generation_id=seen.first(dialect.generation_id, _as_text),
        created_s=seen.first(dialect.created_s, _as_amount),
        served_provider=_provider(seen, dialect),
        served_region=seen.first(dialect.served_region, _as_text),
        served_model=seen.first(dialect.served_model, _as_text),
        cost_usd=seen.first(dialect.cost_usd, _as_cost),
        overhead_ms=seen.first(dialect.overhead_ms, _as_amount),
        cache_hit=_cache_hit(seen, dialect),
        fallback=_fallback(seen, dialect),
    )


def _provider(seen: "_Answer", dialect: Dialect) -> str | None:
    """Return who is said to have answered: both where body and headers contradict each other."""
    said: list[str] = []
    for kind in ("body:", "header:"):
        sources = [source for source in dialect.served_provider if source.startswith(kind)]
        name = seen.first(sources, _as_text)
        if name is not None:
            known = dialect.provider_names.get(name.strip().lower(), name)
            if not any(same_provider(known, other) for other in said):
                said.append(known)
    return " and ".join(said) or None


def _cache_hit(seen: "_Answer", dialect: Dialect) -> bool | None:
    said = seen.all(dialect.cache_hit, _as_hit)
    if dialect.cache_key and seen.headers.get(dialect.cache_key):
        said.append(True)
    return any(said) if said else None


def _fallback(seen: "_Answer", dialect: Dialect) -> bool | None:
    said = seen.all(dialect.fallback, _as_flag) + seen.all(dialect.attempts, _as_several)
    if any(seen.differ(*pair) for pair in dialect.asked_and_used):
        said.append(True)
    return any(said) if said else None


class _Answer(Value, frozen=True, kw_only=True):
    """Headers and body of one answer, addressed by source."""

    headers: Mapping[str, str]
    body: Mapping[str, Any]

    def at(self, source: str) -> object:
        kind, _, path = source.partition(":")
        if kind == "header":
            return self.headers.get(path)
        value: object = self.body
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def all(self, sources: Sequence[str], read: Callable[[object], _T | None]) -> list[_T]:
        return [value for source in sources if (value := read(self.at(source))) is not None]

    def first(self, sources: Sequence[str], read: Callable[[object], _T | None]) -> _T | None:
        for source in sources:
            if (value := read(self.at(source))) is not None:
                return value
        return None

    def differ(self, asked: str, used: str) -> bool:
        before, after = _as_text(self.at(asked)), _as_text(self.at(used))
        return before is not None and after is not None and not same_provider(before, after)


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _as_amount(value: object) -> float | None:
    """A number from JSON or a header; what is none, negative or endless counts as not said."""
    if isinstance(value, bool) or not isinstance(value, _AMOUNTS):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
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


def _as_several(value: object) -> bool | None:
    if isinstance(value, list):
        return len(value) > 1 if value else None
    count = _as_amount(value)
    return None if count is None else count > 1


def _as_hit(value: object) -> bool | None:
    if isinstance(value, str):
        words = value.lower().split()
        if "hit" in words:
            return True
        if {"miss", "disabled", "refresh", "bypass"} & set(words):
            return False
    return _as_flag(value)
