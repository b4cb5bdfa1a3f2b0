"""Which targets and cases a run has: what was asked for, held against what the gateway lists."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Self

import msgspec

from bench.catalogue import Listing
from bench.config import Config
from bench.dialects import DIALECTS, Dialect, NameForm, recognise
from bench.errors import UnknownName, UsageFault
from bench.load.levels import Levels
from bench.model.case import Case
from bench.model.load import Stage, Sweep
from bench.model.paired import Pairing
from bench.model.run_config import ExternalSource
from bench.model.target import Prices, Target
from bench.prepare.offering import free_by_catalogue
from bench.prepare.sources import find_sources
from bench.targets import Wanted, make_targets

_PER_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is asked of whom."""

    targets: tuple[Target, ...]
    cases: tuple[Case, ...]
    profile: str | None
    suite: str | None
    user_cases: tuple[str, ...] = ()
    """Sources of the user's own cases."""
    external: ExternalSource | None = None
    dialect: Dialect
    listing: Listing
    notes: tuple[str, ...]
    load: tuple[Stage, ...] | Sweep | None = None
    """In place of the cases' own runs."""
    pairing: Pairing | None = None
    """The targets are two arms that are asked in turn."""
    is_base_paid: bool = False
    """Nothing proves that the base arm costs nothing, whatever the other one does."""
    free_because: str | None = None
    """The user's own catalogue says that all of it costs nothing."""
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Cases that were left out, by id, and why."""

    def of_case(self, case: Case) -> Self:
        """Return the same targets with ``case`` as all that is asked."""
        return replace(self, cases=(case,), profile=None, suite=None, user_cases=(), external=None)


def select(config: Config, listing: Listing, *, models: tuple[str, ...], today: date) -> Selection:
    """Return targets and cases.

    Args:
        config: Resolved settings.
        listing: What the gateway offers.
        models: Asked for; at least one.
        today: For deactivations and the date of the prices.

    Raises:
        UnknownName: A model, mapping, case, profile, suite or reference that nobody knows.
    """
    if not models:
        raise UsageFault("no model to benchmark", hint="`gateway-bench bench MODEL --url URL`")
    unprintable = next((model for model in models if not model.isprintable()), None)
    if unprintable is not None:
        message = f"a model's name has no line break or control character: {unprintable!a}"
        raise UsageFault(message, hint="was more than its name copied?")
    settings = config.settings
    sources = find_sources(config)
    dialect, found = _dialect(config, listing)
    wanted = Wanted(
        models=models,
        mappings=settings.mapping,
        include_deactivated=settings.include_deactivated,
        name_form=_name_form(dialect, listing),
        assumed=_assumed(config, today),
        today=today,
    )
    targets = make_targets(listing, wanted)
    _check_reference(settings.reference, targets)
    notes = [*sources.notes, *([found] if found else [])]
    notes += [f"{dialect.name}: {each}" for each in dialect.cannot if found and dialect.marks]
    if listing.problem:
        taken = "" if listing.models else "; names are taken as typed"
        notes.append(f"no list of models: {listing.problem}{taken}")
    if listing.catalogues:
        notes.append(f"catalogue: {', '.join(listing.catalogues)}")
    return Selection(
        targets=targets,
        cases=tuple(_at_concurrency(case, settings.concurrency) for case in sources.cases),
        profile=sources.profile,
        suite=sources.suite,
        user_cases=sources.user_cases,
        external=sources.external,
        dialect=dialect,
        listing=listing,
        notes=tuple(notes),
        free_because=free_by_catalogue(config, targets),
    )


def _dialect(config: Config, listing: Listing) -> tuple[Dialect, str | None]:
    """Return the dialect, and what to say when it was found out."""
    name = config.settings.dialect
    if name != "auto":
        return DIALECTS[name], None
    found = recognise(listing.headers, host=listing.host) or (
        "llmgateway" if listing.names_providers else None
    )
    if found is None:
        return DIALECTS["plain"], "dialect: plain (nothing tells another one)"
    return DIALECTS[found], f"dialect: {found} (found by its answer)"


def _name_form(dialect: Dialect, listing: Listing) -> NameForm | None:
    """Return how names pin; a list of LLMGateway's kind counts behind any other gateway too."""
    if dialect.name_form is None and listing.names_providers:
        return DIALECTS["llmgateway"].name_form
    return dialect.name_form


def _assumed(config: Config, today: date) -> Prices | None:
    pair = config.settings.assume_price
    if pair is None:
        return None
    return Prices(
        input_usd=pair[0] / _PER_MILLION,
        output_usd=pair[1] / _PER_MILLION,
        source="assumed",
        as_of=today.isoformat(),
    )


def _check_reference(reference: str | None, targets: tuple[Target, ...]) -> None:
    ids = tuple(target.id for target in targets)
    if reference is not None and reference not in ids:
        raise UnknownName("target", reference, ids, listed_by="gateway-bench bench … --reference")


def _at_concurrency(case: Case, levels: Levels | None) -> Case:
    if levels is None or levels.single is None:  # several are stages of load
        return case
    info = msgspec.structs.replace(case.info, concurrency=int(levels.single))
    return replace(case, info=info)
