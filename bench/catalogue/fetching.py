"""Asks a gateway for its list of models, and for what the list leaves out. The edge to the network.

A gateway without such a list is no error, it takes any model as typed.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

import msgspec

from bench.authorities import SYSTEM, Authorities
from bench.catalogue.asking import Answered, Unanswered, get
from bench.catalogue.lists import is_list, parse_details, parse_models, parse_offers
from bench.catalogue.shape import ListedModel, Listing
from bench.errors import KeyRejected
from bench.model.record import Value
from bench.model.target import TargetMetadata
from bench.proxies import Proxy

_SUCCESS = range(200, 300)
_BAD_REQUEST = 400
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_UNAUTHORISED = frozenset({401, 403})
_MANY = 400
"""Characters of a refusal's body that are repeated."""


class ModelsQuery(Value, frozen=True, kw_only=True):
    """Where and how to ask."""

    url: str
    headers: tuple[tuple[str, str], ...]
    """With the key."""
    key_variable: str | None
    authorities: Authorities = SYSTEM
    proxy: Proxy | None = None
    """What it goes through: the proxy then looks the name up."""
    addresses: tuple[str, ...]
    """What its host was judged to stand for: nothing else is connected to, in this order."""
    refusals: tuple[str, ...] = ()
    """What the body of an HTTP 400 holds when it is the key that was refused."""

    def beside(self, path: str) -> str:
        """Return the address of what stands beside the list, ``/v1/models`` → ``/v1/PATH``."""
        return f"{self.url.partition('?')[0].removesuffix('/models')}/{path}"


def fetch_listing(query: ModelsQuery) -> Listing:
    """Ask a gateway for its models: one request, no redirects, ten seconds at most.

    Raises:
        KeyRejected: The gateway refused the key; nothing else needs to be sent.
        UsageFault: The certificate authority's file can't be read.
    """
    try:
        answer = _asked(query, query.url)
    except Unanswered as fault:
        said = _ERRNO.sub("", fault.message)
        return Listing(headers={}, problem=f"{query.url}: {said[:1].lower()}{said[1:]}")
    if _is_refused(answer.status, answer.body, query.refusals):
        said = answer.body[:_MANY].decode(errors="replace").strip()
        raise KeyRejected(
            variable=query.key_variable, url=query.url, status=answer.status, said=said
        )
    if answer.status not in _SUCCESS:
        problem = f"{query.url} answered HTTP {answer.status}"
        return Listing(headers=answer.headers, problem=problem)
    models = parse_models(answer.body)
    return Listing(
        models=models,
        headers=answer.headers,
        url=query.url,
        problem=None if models else f"{query.url} {_nothing_in(answer.body)}",
        names_providers=any(model.offers for model in models),
    )


def _nothing_in(body: bytes) -> str:
    return "lists no models" if is_list(body) else "answered with something else than a list"


def with_details(listing: Listing, query: ModelsQuery, path: str) -> Listing:
    """Return the list with what stands at ``path`` beside it; as it is where nothing stands there."""
    known = parse_details(_body_of(query, query.beside(path)))
    models = tuple(_over(model, known) for model in listing.models)
    return replace(listing, models=models)


def with_offers(
    listing: Listing, query: ModelsQuery, path: str, *, names: Iterable[str]
) -> Listing:
    """Return the list with the providers of the named models, one request for each."""
    wanted = set(names)
    base = query.url.partition("?")[0]
    models = []
    for model in listing.models:
        offers = model.offers
        if model.id in wanted and not offers:
            below = path.replace("{model}", quote(model.id, safe="/:.-_~@"))
            offers = parse_offers(_body_of(query, f"{base}/{below}"))
        models.append(replace(model, offers=offers))
    return replace(listing, models=tuple(models))


def _over(model: ListedModel, known: dict[str, TargetMetadata]) -> ListedModel:
    details = known.get(model.id)
    if details is None:
        return model
    said = {
        name: value
        for name in details.__struct_fields__
        if (value := getattr(details, name)) is not None
    }
    return replace(model, metadata=msgspec.structs.replace(model.metadata, **said))


def _body_of(query: ModelsQuery, url: str) -> bytes:
    """Return what an address answers; nothing for any failure, what it would add is optional."""
    try:
        answer = _asked(query, url)
    except Unanswered:
        return b""
    return answer.body if answer.status in _SUCCESS else b""


def _asked(query: ModelsQuery, url: str) -> Answered:
    if query.proxy is not None:
        from bench.catalogue.proxied import get_through  # with httpx, as much as all the rest

        context = query.authorities.context()
        return get_through(query.proxy, url, headers=query.headers, tls=context)
    # A context takes longer than the request. What was typed is read in any case, to tell a fault.
    is_typed = query.authorities.is_typed
    is_secure = url.startswith("https:")
    tls = query.authorities.context() if is_typed or is_secure else None
    return get(
        url, headers=query.headers, addresses=query.addresses, tls=tls if is_secure else None
    )


def _is_refused(status: int, body: bytes, words: Iterable[str]) -> bool:
    named = status == _BAD_REQUEST and any(word.encode() in body for word in words)
    return status in _UNAUTHORISED or named
