"""Asks a gateway for its list of models, and for what the list leaves out. The edge to the network.

A gateway without such a list is no error, it takes any model as typed.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from bench.authorities import SYSTEM, Authorities
from bench.catalogue.lists import is_list, parse_details, parse_models, parse_offers
from bench.catalogue.shape import ListedModel, Listing
from bench.endpoint import is_ip
from bench.errors import KeyRejected
from bench.model.target import TargetMetadata
from bench.proxies import Proxy

if TYPE_CHECKING:
    import ssl

    import httpx

TIMEOUT_S = 10.0
_MAX_BYTES = 32 * 1024 * 1024
_BAD_REQUEST = 400
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_UNAUTHORISED = frozenset({401, 403})
_MANY = 400
"""Characters of a refusal's body that are repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsQuery:
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
    # httpx has a command line of its own, which loads `rich` and `pygments` where they are installed.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    import httpx  # 60 ms that commands without network don't pay

    try:
        with _client(query) as client, ExitStack() as stack:
            answer = _asked(stack, client, query, query.url)
            body = _read(answer.iter_bytes())
    except httpx.HTTPError as fault:
        said = _ERRNO.sub("", str(fault)) or type(fault).__name__
        return Listing(headers={}, problem=f"{query.url}: {said[:1].lower()}{said[1:]}")
    headers = {name.lower(): value for name, value in answer.headers.items()}
    if _is_refused(answer.status_code, body, query.refusals):
        said = body[:_MANY].decode(errors="replace").strip()
        raise KeyRejected(
            variable=query.key_variable, url=query.url, status=answer.status_code, said=said
        )
    if not answer.is_success:
        problem = f"{query.url} answered HTTP {answer.status_code}"
        return Listing(headers=headers, problem=problem)
    models = parse_models(body)
    return Listing(
        models=models,
        headers=headers,
        url=query.url,
        problem=None if models else f"{query.url} {_nothing_in(body)}",
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
    import httpx

    try:
        with _client(query) as client, ExitStack() as stack:
            answer = _asked(stack, client, query, url)
            return _read(answer.iter_bytes()) if answer.is_success else b""
    except httpx.HTTPError:
        return b""


@contextmanager
def _client(query: ModelsQuery) -> "Iterator[httpx.Client]":
    import httpx

    proxy, context = query.proxy, query.authorities.context()
    try:
        # Nothing from the environment: a proxy would see the key of a loopback gateway too.
        with httpx.Client(
            verify=context,
            timeout=TIMEOUT_S,
            trust_env=False,
            proxy=None if proxy is None else _as_httpx(proxy, context),
        ) as client:
            yield client
    except ImportError as missing:  # of `socksio`, by httpx
        message = "the list can't be asked through a SOCKS proxy: `socksio` is not installed"
        raise httpx.UnsupportedProtocol(message) from missing


def _as_httpx(proxy: Proxy, context: "ssl.SSLContext") -> "httpx.Proxy":
    import httpx

    auth = None if proxy.user is None else (proxy.user, proxy.password or "")
    return httpx.Proxy(
        proxy.shown, auth=auth, ssl_context=context if proxy.scheme == "https" else None
    )


def _asked(
    stack: ExitStack, client: "httpx.Client", query: ModelsQuery, address: str
) -> "httpx.Response":
    """Send the query to the first of the judged addresses that takes the connection."""
    import httpx

    url = httpx.URL(address)
    if query.proxy is not None:
        return stack.enter_context(client.stream("GET", url, headers=query.headers))
    # The name stays in `Host` and in TLS; the connection goes where the rules about keys looked.
    has_host = any(name.lower() == "host" for name, _ in query.headers)
    headers = [*query.headers, *([] if has_host else [("Host", url.netloc.decode())])]
    extensions = {} if is_ip(url.host) else {"sni_hostname": url.host}
    fault: httpx.TransportError = httpx.ConnectError(f"the name `{url.host}` was not found")
    for judged in query.addresses:
        each = url.copy_with(host=judged)
        try:
            return stack.enter_context(
                client.stream("GET", each, headers=headers, extensions=extensions)
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            fault = error
    raise fault


def _is_refused(status: int, body: bytes, words: Iterable[str]) -> bool:
    named = status == _BAD_REQUEST and any(word.encode() in body for word in words)
    return status in _UNAUTHORISED or named


def _read(parts: Iterable[bytes]) -> bytes:
    """Return the body, cut at 32 MB: no list of models is that long."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > _MAX_BYTES:
            break
    return bytes(body)
