"""Which mappings of a model are meant: `*`, `provider`, `provider:region`, `provider:*`. Pure."""

from collections.abc import Iterable, Sequence

from bench.errors import UnknownName, UsageFault

EVERY = "*"
_SHOWN = 12
"""Mappings that a hint names."""


class UnknownMapping(UnknownName):
    """A selector that fits no mapping of its model."""

    def __init__(self, model_id: str, selector: str, known: Sequence[str]) -> None:
        super().__init__(f"mapping of {model_id}", selector, known, listed_by="")
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        self.hint = f"its mappings: {', '.join(known[:_SHOWN])}{more}"


def split_lists(typed: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of comma lists in order, each once, blanks dropped."""
    entries = (entry.strip() for text in typed for entry in text.split(","))
    return tuple(dict.fromkeys(entry for entry in entries if entry))


def choose(model_id: str, selectors: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the mappings that ``selectors`` mean, in the order of ``known``.

    Args:
        model_id: Named in errors.
        selectors: None at all means `*`: every provider, in the region that the gateway takes.
        known: Mappings of the model: `provider` or `provider:region`.

    Raises:
        UnknownMapping: A selector that fits no mapping.
    """
    wanted: set[str] = set()
    for selector in selectors or (EVERY,):
        fitting = _fitting(selector, known)
        if not fitting:
            raise UnknownMapping(model_id, selector, known)
        wanted.update(fitting)
    return tuple(mapping for mapping in known if mapping in wanted)


def _fitting(selector: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return what one selector means.

    `provider` is its mapping without a region; where it has regions only, it is all of them.
    `provider:*` is each of its regions; where it has none, its one mapping.
    """
    if selector == EVERY:
        return tuple(mapping for provider in _providers(known) for mapping in _own(provider, known))
    if selector in known:
        return (selector,)
    provider, colon, region = selector.partition(":")
    regions = tuple(mapping for mapping in known if mapping.startswith(f"{provider}:"))
    if region == EVERY:
        return regions or _own(provider, known)
    return () if colon else _own(provider, known)


def _providers(known: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mapping.partition(":")[0] for mapping in known))


def _own(provider: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return a provider's mapping without region, else all it has."""
    if provider in known:
        return (provider,)
    return tuple(mapping for mapping in known if mapping.startswith(f"{provider}:"))


def as_typed(selectors: Sequence[str]) -> tuple[str | None, ...]:
    """Return the mappings for a gateway that lists none: taken as they were typed.

    Raises:
        UsageFault: A pattern, which only a list could resolve.
    """
    for selector in selectors:
        if EVERY in selector and selector != EVERY:
            msg = f"the gateway lists no mappings, so `{selector}` can't be resolved"
            raise UsageFault(
                msg,
                hint="name each one: `--mapping provider:region,provider:region`",
            )
    named = tuple(selector for selector in selectors if selector != EVERY)
    return named or (None,)
