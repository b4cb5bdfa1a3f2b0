"""What there is to choose from: the gateway's list, completed, and the user's own catalogues."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.catalogue import (
    NO_LISTING,
    Listing,
    ModelsQuery,
    fetch_listing,
    with_details,
    with_offers,
)
from bench.client.endpoint import address_of
from bench.config import Config
from bench.dialects import DIALECTS, Dialect, recognise
from bench.errors import UsageFault
from bench.keys import Origin
from bench.model.target import Target
from bench.prepare.access import Access

if TYPE_CHECKING:
    from bench.catalogue.merging import Source

_USERS_OWN = (Origin.FLAG, Origin.ENVIRONMENT)


def offered(config: Config, access: Access | None, *, models: tuple[str, ...]) -> Listing:
    """Return everything that can be asked for, with who says so.

    Args:
        config: Resolved settings.
        access: Of the gateway; ``None`` = only the catalogues are read.
        models: That will be asked; of these the providers are looked up where mappings are wanted
            and the list has none.

    Raises:
        KeyRejected: The gateway refused the key.
        UsageFault: A catalogue that can't be read.
    """
    sources = [read_source(path) for path in config.paths_of("catalogue")]
    settings = config.settings
    listing = NO_LISTING
    if access is not None:
        listing = ask_gateway(
            access, dialect=settings.dialect, with_deactivated=settings.include_deactivated
        )
        listing = _completed(
            listing, access, dialect=settings.dialect, models=models if settings.mapping else ()
        )
    if not sources:
        return listing
    from bench.catalogue.merging import merged_listing  # most users have no catalogue

    return merged_listing(listing, sources)


def ask_gateway(access: Access, *, dialect: str, with_deactivated: bool = False) -> Listing:
    """Return the gateway's list of models, empty where its address doesn't tell one.

    Args:
        access: The address and what may be sent there.
        dialect: Name of one, or ``auto``.
        with_deactivated: Ask for what is switched off too.

    Raises:
        KeyRejected: It refused the key.
    """
    host = access.endpoint.host
    told = _told(dialect, NO_LISTING, host)
    query = _query(access, told, with_deactivated=with_deactivated)
    if query is None:
        return replace(NO_LISTING, host=host)
    return replace(fetch_listing(query), host=host)


def read_source(path: Path) -> "Source":
    """Return one of the user's catalogues: a file, or a folder with the npm package.

    Raises:
        UsageFault: It is neither, or can't be read.
    """
    from bench.catalogue.merging import Source
    from bench.catalogue.npm_package import find_package, read_package
    from bench.catalogue.own_file import read_own_file

    if path.is_dir():
        if find_package(path) is None and (own := path / "catalogue.toml").is_file():
            return Source(label=str(own), models=read_own_file(own), kind="own")
        label, models = read_package(path)
        return Source(label=label, models=models, kind="package")
    if not path.exists():
        message = f"the catalogue `{path}` does not exist"
        raise UsageFault(
            message, hint="`--catalogue` takes a TOML or JSON file, or a folder of an npm package"
        )
    return Source(label=str(path), models=read_own_file(path), kind="own")


def free_by_catalogue(config: Config, targets: Iterable[Target]) -> str | None:
    """Return why requests cost nothing by the user's own word, or ``None``.

    A file that a worktree names is a stranger's: its zeros don't count.
    """
    if config.trust["catalogue"] not in _USERS_OWN:
        return None
    prices = [target.metadata.prices for target in targets]
    free = [
        each is not None
        and each.source == "catalogue"
        and each.input_usd == each.output_usd == 0
        and not each.request_usd
        for each in prices
    ]
    return "your catalogue sets its prices to 0" if free and all(free) else None


def _completed(
    listing: Listing, access: Access, *, dialect: str, models: tuple[str, ...]
) -> Listing:
    """Return the list with what this gateway tells elsewhere."""
    told = _told(dialect, listing, access.endpoint.host)
    query = _query(access, told, with_deactivated=False)
    if query is None or not listing.models:
        return listing
    if told.details_path is not None:
        listing = with_details(listing, query, told.details_path)
    if told.offers_path is not None and models:
        listing = with_offers(listing, query, told.offers_path, names=models)
    return listing


def _told(dialect: str, listing: Listing, host: str) -> Dialect:
    found = dialect if dialect in DIALECTS else recognise(listing.headers, host=host)
    return DIALECTS[found or "plain"]


def _query(access: Access, told: Dialect, *, with_deactivated: bool) -> ModelsQuery | None:
    url = access.endpoint.models_url
    if url is None:
        return None
    address_of(url)  # what can't be asked for an answer is not asked for a list either
    asked = [told.models_query, told.deactivated_query if with_deactivated else None]
    words = "&".join(word for word in asked if word)
    return ModelsQuery(
        url=f"{url}?{words}" if words and "?" not in url else url,
        headers=access.headers,
        key_variable=access.key_variable,
        authorities=access.authorities,
        proxy=access.proxy,
        refusals=told.key_refusals,
        addresses=access.addresses,
    )
