"""Models as a table for people, and as values for programs. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from bench.catalogue.choosing import Choice
from bench.model.target import Prices, TargetMetadata
from bench.report.escaping import display_width, fit, visible

_PER_MILLION = 1_000_000
_HEADINGS = ("model", "mapping", "$/M in", "$/M out", "context", "most out", "state", "from")
_RIGHT = frozenset({"$/M in", "$/M out", "context", "most out"})
_LEAST_WANTED = ("most out", "from", "state", "context")
"""Columns that a narrow terminal does without, first one first."""
_SHORTEST = 12
"""Characters of a cell below which cutting it further makes it useless."""
_LONGEST = 256
"""Columns of a cell where there is room for any."""
_GAP = "  "
_NOT_KNOWN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """One line's facts."""

    metadata: TargetMetadata
    origins: Mapping[str, str]


def _told(choice: Choice) -> _Told:
    if choice.offer is not None:
        return _Told(metadata=choice.offer.metadata, origins=choice.offer.origins)
    return _Told(metadata=choice.model.metadata, origins=choice.model.origins)


def table(choices: Sequence[Choice], *, source: str, width: int | None) -> str:
    """Return one line per offer under headings.

    Args:
        choices: In the order to show.
        source: Who says what no origin is noted for.
        width: Columns of the terminal; ``None`` = as wide as it needs.
    """
    rows = [
        {name: _cell(text) for name, text in zip(_HEADINGS, _cells(choice, source), strict=True)}
        for choice in choices
    ]
    headings = _fitting(rows, width)
    sizes = {name: _widest(rows, name) for name in headings}
    if width is not None:
        _narrow(sizes, width)
    lines = [{name: name for name in headings}, *rows]
    return "\n".join(_line(line, sizes) for line in lines)


def _cell(text: str) -> str:
    return fit(visible(text), _LONGEST)


def _cells(choice: Choice, source: str) -> tuple[str, ...]:
    told = _told(choice)
    facts, prices = told.metadata, told.metadata.prices
    return (
        choice.model.id,
        choice.mapping or _NOT_KNOWN,
        _dollars(prices.input_usd if prices else None, _has_steps(prices)),
        _dollars(prices.output_usd if prices else None, _has_steps(prices)),
        _count(facts.context_size),
        _count(facts.max_output_tokens),
        _state(choice, facts),
        _sources(told, source),
    )


def _dollars(price: float | None, has_steps: bool) -> str:
    """Return dollars per million tokens; `+` = more for long prompts or at some hours."""
    if price is None:
        return _NOT_KNOWN
    return f"{price * _PER_MILLION:.10g}{'+' if has_steps else ''}"


def _has_steps(prices: Prices | None) -> bool:
    return prices is not None and bool(prices.tiers or prices.windows)


def _count(tokens: int | None) -> str:
    return _NOT_KNOWN if tokens is None else f"{tokens:,}"


def _state(choice: Choice, facts: TargetMetadata) -> str:
    parts = [facts.stability, facts.quantization]
    if facts.deactivated_at:
        verb = "until" if choice.is_active else "off since"
        parts.append(f"{verb} {facts.deactivated_at[:10]}")
    return ", ".join(part for part in parts if part) or _NOT_KNOWN


def _sources(told: _Told, source: str) -> str:
    """Return who tells the line's facts: shortly, each once."""
    labels = [
        told.origins.get(name, source)
        for name in ("prices", "context_size", "stability")
        if getattr(told.metadata, name) is not None
    ]
    return " + ".join(dict.fromkeys(map(_short, labels or [source])))


def _short(label: str) -> str:
    if "://" in label:
        return "gateway"
    return label if label.startswith("@") else PurePath(label).name or label


def _widest(rows: Sequence[Mapping[str, str]], name: str) -> int:
    return max(len(name), *(display_width(row[name]) for row in rows))


def _fitting(rows: Sequence[Mapping[str, str]], width: int | None) -> tuple[str, ...]:
    """Return the headings for which there is room."""
    headings = list(_HEADINGS)
    for name in _LEAST_WANTED:
        sizes = [_widest(rows, each) for each in headings]
        if width is None or sum(sizes) + len(_GAP) * (len(sizes) - 1) <= width:
            break
        headings.remove(name)
    return tuple(headings)


def _narrow(sizes: dict[str, int], width: int) -> None:
    """Take what is too much from the widest column, again and again."""
    while sum(sizes.values()) + len(_GAP) * (len(sizes) - 1) > width:
        widest = max(sizes, key=lambda name: sizes[name])
        if sizes[widest] <= _SHORTEST:
            return
        sizes[widest] -= 1


def _line(cells: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    made = []
    for name, size in sizes.items():
        cell = fit(cells[name], size)
        blank = " " * (size - display_width(cell))
        made.append(blank + cell if name in _RIGHT else cell + blank)
    return _GAP.join(made).rstrip()


def as_values(choice: Choice, *, source: str) -> dict[str, Any]:
    """Return one line's facts with their units in the names, and who says each; unknown is absent."""
    told = _told(choice)
    facts, prices = told.metadata, told.metadata.prices
    known = {
        "model": choice.model.id,
        "name": choice.model.display_name if choice.model.display_name != choice.model.id else None,
        "mapping": choice.mapping,
        "inputUsdPerMillion": _million(prices.input_usd if prices else None),
        "outputUsdPerMillion": _million(prices.output_usd if prices else None),
        "cachedInputUsdPerMillion": _million(prices.cached_input_usd if prices else None),
        "requestUsd": prices.request_usd if prices else None,
        "pricesDependOnLengthOrHour": _has_steps(prices) or None,
        "contextTokens": facts.context_size,
        "maxOutputTokens": facts.max_output_tokens,
        "stability": facts.stability,
        "quantization": facts.quantization,
        "deactivatedAt": facts.deactivated_at,
        "isActive": choice.is_active,
        "from": _by_source(told, source),
    }
    return {name: value for name, value in known.items() if value is not None}


def _million(price: float | None) -> float | None:
    return None if price is None else round(price * _PER_MILLION, 9)


def _by_source(told: _Told, source: str) -> dict[str, list[str]]:
    """Return source → facts it tells."""
    names = {
        "prices": "prices",
        "context_size": "context",
        "max_output_tokens": "maxOutput",
        "stability": "stability",
        "quantization": "quantization",
        "deactivated_at": "deactivatedAt",
    }
    found: dict[str, list[str]] = {}
    for field, name in names.items():
        if getattr(told.metadata, field) is not None:
            found.setdefault(told.origins.get(field, source), []).append(name)
    return found
