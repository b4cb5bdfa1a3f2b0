"""What a gateway offers: its list of models with their mappings and prices.

Reads `GET …/models` in the shapes that gateways really send; a gateway without such a list is no
error, it takes any model as typed. A price of 0 in a list counts as unknown.
"""

import re
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bench.endpoint import is_ip
from bench.errors import KeyRejected, UsageFault
from bench.model.target import Prices, TargetMetadata

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 10.0
_MAX_BYTES = 32 * 1024 * 1024
SIMULATOR_HEADER = "x-gateway-bench-simulator"
_BAD_REQUEST = 400
_ERRNO = re.compile(r"\[Errno -?\d+\] ")
_UNAUTHORISED = frozenset({401, 403})
_MANY = 400
"""Characters of a refusal's body that are repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One provider's offer of a model."""

    mapping: str
    metadata: TargetMetadata


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """One entry of a gateway's list."""

    id: str
    display_name: str
    offers: tuple[Offer, ...] = ()
    """Empty where the gateway chooses the provider itself."""
    metadata: TargetMetadata = field(default_factory=TargetMetadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The answer of a gateway's models path; ``models`` is empty when it lists none."""

    models: tuple[ListedModel, ...] = ()
    headers: Mapping[str, str]
    """Of the answer, names in lower case; empty when there was none."""
    url: str | None = None
    """Where it came from."""
    host: str = ""
    """That was asked."""
    problem: str | None = None
    """Why there is no list, for people; ``None`` when there is one."""

    @property
    def is_simulator(self) -> bool:
        """Whether the embedded simulator itself answered: what it does costs nothing."""
        return self.headers.get(SIMULATOR_HEADER) == "1"

    @property
    def patterns(self) -> tuple[str, ...]:
        """Names that are accepted though no entry has them, as wildcards."""
        listed = tuple(model.id for model in self.models if "*" in model.id)
        return (*listed, "sim-*", "*/sim-*") if self.is_simulator else listed

    @property
    def names_providers(self) -> bool:
        """Whether the list is of the kind that pins a provider in the model's name."""
        return any(model.offers for model in self.models)


NO_LISTING = Listing(headers={})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsQuery:
    """Where and how to ask."""

    url: str
    headers: tuple[tuple[str, str], ...]
    """With the key."""
    key_variable: str | None
    cacert: Path | None = None
    addresses: tuple[str, ...]
    """What its host was judged to stand for: nothing else is connected to, in this order."""
    refusals: tuple[str, ...] = ()
    """What the body of an HTTP 400 holds when it is the key that was refused."""


def fetch_listing(query: ModelsQuery) -> Listing:
    """Ask a gateway for its models: one request, no redirects, ten seconds at most.

    Raises:
        KeyRejected: The gateway refused the key; nothing else needs to be sent.
        UsageFault: The certificate authority's file can't be read.
    """
    import httpx  # 60 ms that commands without network don't pay

    try:
        with (
            # Nothing from the environment: a proxy would see the key of a loopback gateway too.
            httpx.Client(verify=_trust(query.cacert), timeout=TIMEOUT_S, trust_env=False) as client,
            ExitStack() as stack,
        ):
            answer = _asked(stack, client, query)
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
    empty = None if models else f"{query.url} lists no models"
    return Listing(models=models, headers=headers, url=query.url, problem=empty)


def _asked(stack: ExitStack, client: "httpx.Client", query: ModelsQuery) -> "httpx.Response":
    """Send the query to the first of the judged addresses that takes the connection."""
    import httpx

    url = httpx.URL(query.url)
    # The name stays in `Host` and in TLS; the connection goes where the rules about keys looked.
    has_host = any(name.lower() == "host" for name, _ in query.headers)
    headers = [*query.headers, *([] if has_host else [("Host", url.netloc.decode())])]
    extensions = {} if is_ip(url.host) else {"sni_hostname": url.host}
    fault: httpx.TransportError = httpx.ConnectError(f"the name `{url.host}` was not found")
    for address in query.addresses:
        each = url.copy_with(host=address)
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


def _trust(cacert: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=cacert)
    except OSError as fault:
        message = f"the certificates in `{cacert}` can't be used: {fault}"
        raise UsageFault(message, hint="`--cacert` takes a PEM file") from fault


def _read(parts: Iterable[bytes]) -> bytes:
    """Return the body, cut at 32 MB: no list of models is that long."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > _MAX_BYTES:
            break
    return bytes(body)


def parse_models(body: bytes) -> tuple[ListedModel, ...]:
    """Return the models in a list of either shape; nothing for what is no such list."""
    try:
        read = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return ()
    entries = read.get("data") if isinstance(read, dict) else read
    if not isinstance(entries, list):
        return ()
    models = (_model(entry) for entry in entries if isinstance(entry, dict))
    return tuple(model for model in models if model is not None)


def _model(entry: Mapping[str, Any]) -> ListedModel | None:
    name = entry.get("id")
    if not isinstance(name, str) or not name:
        return None
    listed = entry.get("providers")
    providers = (
        [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    offers = {offer.mapping: offer for each in providers for offer in _offers(each, entry)}
    shown = entry.get("name")
    return ListedModel(
        id=name,
        display_name=shown if isinstance(shown, str) and shown else name,
        offers=tuple(offers.values()),
        metadata=_metadata(entry, entry, provider=None, region=None),
    )


def _offers(provider: Mapping[str, Any], model: Mapping[str, Any]) -> Iterator[Offer]:
    """Yield a provider's offer, and one for each region that can be pinned."""
    name = _text(provider, "providerId", "provider_id", "provider", "id")
    if name is None:
        return
    bare, _, inline = name.partition(":")
    own = _text(provider, "region") or inline or None
    listed = provider.get("regions")
    regions = (
        [region for region in listed if isinstance(region, str) and region]
        if isinstance(listed, list)
        else []
    )
    for region in (own, *regions):
        metadata = _metadata(provider, model, provider=bare, region=region)
        yield Offer(mapping=f"{bare}:{region}" if region else bare, metadata=metadata)


def _metadata(
    entry: Mapping[str, Any],
    model: Mapping[str, Any],
    *,
    provider: str | None,
    region: str | None,
) -> TargetMetadata:
    """Return what an offer says, else what the model's entry says of all its offers."""
    return TargetMetadata(
        provider=provider,
        region=region,
        prices=_prices(entry.get("pricing")),
        context_size=_count(entry, "contextSize", "context_length", "context_size")
        or _count(model, "context_length", "contextSize", "context_size"),
        max_output_tokens=_count(entry, "maxOutput", "max_output_tokens", "max_output")
        or _count(model, "maxOutput", "max_output_tokens", "max_output"),
        quantization=_text(entry, "quantization"),
        stability=_text(entry, "stability") or _text(model, "stability"),
        deactivated_at=_text(entry, "deactivatedAt", "deactivated_at")
        or _text(model, "deactivatedAt", "deactivated_at"),
    )


def _prices(listed: object) -> Prices | None:
    if not isinstance(listed, Mapping):
        return None
    prices = Prices(
        input_usd=_price(listed, "prompt", "input"),
        output_usd=_price(listed, "completion", "output"),
        cached_input_usd=_price(listed, "input_cache_read", "cached_input"),
        request_usd=_price(listed, "request"),
        source="gateway",
    )
    return prices if prices.input_usd or prices.output_usd or prices.request_usd else None


def _price(listed: Mapping[str, Any], *names: str) -> float | None:
    """Dollars per token; lists give numbers or text (`"1.5e-7"`). 0 and nonsense = unknown."""
    for name in names:
        value = listed.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            continue
        try:
            price = float(value)
        except ValueError:
            continue
        if 0 < price < 1:
            return price
    return None


def _text(entry: Mapping[str, Any], *names: str) -> str | None:
    found = (entry.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), None)


def _count(entry: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = entry.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None
