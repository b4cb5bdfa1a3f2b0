"""Which models and offers of a list are meant: by words, by mapping, by date. Pure."""

from collections.abc import Iterator, Sequence
from datetime import date

from bench.catalogue.shape import ListedModel, Listing, Offer
from bench.errors import UnknownName
from bench.mappings import EVERY, UnknownMapping, choose
from bench.model.record import Value


class Choice(Value, frozen=True, kw_only=True):
    """One model in one offer."""

    model: ListedModel
    offer: Offer | None
    """``None`` where the gateway chooses the provider itself."""
    is_active: bool

    @property
    def mapping(self) -> str | None:
        """The offer's name."""
        return self.offer.mapping if self.offer else None


def is_off(deactivated_at: str | None, today: date) -> bool:
    """Whether a date of deactivation has come; a date that can't be read is no reason."""
    if deactivated_at is None:
        return False
    try:
        return date.fromisoformat(deactivated_at[:10]) <= today
    except ValueError:
        return False


def choices(
    listing: Listing,
    *,
    words: Sequence[str],
    selectors: Sequence[str],
    today: date,
) -> tuple[Choice, ...]:
    """Return what fits every word and any selector, in the order of the list.

    Args:
        listing: Everything there is.
        words: Each has to stand in a model's id or name, or in a mapping; case doesn't matter.
        selectors: As `--mapping` takes them; none = every offer, each region too.
        today: For deactivations.

    Raises:
        UnknownName: Nothing fits, though there are models.
    """
    everything = [each for model in listing.models for each in _of_model(model, today)]
    fitting = [each for each in everything if all(_fits(each, word) for word in words)]
    if words and everything and not fitting:
        names = dict.fromkeys(n for e in everything for n in (e.model.id, e.mapping) if n)
        for word in words:
            if not any(_fits(each, word) for each in everything):
                raise UnknownName("model or mapping", word, tuple(names), listed_by=_ALL)
        typed = " ".join(words)
        raise UnknownName("model or mapping", typed, tuple(names), listed_by=_ALL)
    return tuple(_selected(fitting, selectors))


_ALL = "gateway-bench models"


def _of_model(model: ListedModel, today: date) -> Iterator[Choice]:
    if not model.offers:
        active = not is_off(model.metadata.deactivated_at, today)
        yield Choice(model=model, offer=None, is_active=active)
    for offer in model.offers:
        active = not is_off(offer.metadata.deactivated_at, today)
        yield Choice(model=model, offer=offer, is_active=active)


def _fits(choice: Choice, word: str) -> bool:
    told = f"{choice.model.id} {choice.model.display_name} {choice.mapping or ''}".lower()
    return word.lower() in told


def _selected(fitting: Sequence[Choice], selectors: Sequence[str]) -> Iterator[Choice]:
    """Yield what the selectors choose; a selector may fit some models and others not."""
    if not selectors:
        yield from fitting
        return
    wanted: set[tuple[str, str | None]] = set()
    for selector in selectors:
        found = {(e.model.id, e.mapping) for e in fitting if _is_chosen(e, selector)}
        if not found and selector != EVERY:
            known = dict.fromkeys(each.mapping for each in fitting if each.mapping)
            raise UnknownName("mapping", selector, tuple(known), listed_by=_ALL)
        wanted |= found
    yield from (each for each in fitting if (each.model.id, each.mapping) in wanted)


def _is_chosen(choice: Choice, selector: str) -> bool:
    if choice.mapping is None:
        return selector == EVERY
    known = tuple(offer.mapping for offer in choice.model.offers)
    try:
        return choice.mapping in choose(choice.model.id, (selector,), known)
    except UnknownMapping:
        return False
