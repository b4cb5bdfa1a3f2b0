"""Where requests go and with which secrets; every rule about keys is asked before any request."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec

from bench.authorities import Authorities
from bench.client.endpoint import Endpoint, HttpChoice, check_header
from bench.config import Config
from bench.dialects import DIALECTS
from bench.endpoint import EndpointUrl, Reach, is_loopback_name, parse_url, reach
from bench.errors import KeyMissing, UsageFault, reason_in
from bench.keys import PRODUCTION_KEYS, Address, Origin, Secret, may_send
from bench.model.record import Value
from bench.model.run_config import RunConfig
from bench.proxies import Goal, Proxy, proxy_for
from bench.wire import PROTOCOLS
from bench.wire.protocol import WireProtocol

_AUTHORIZATION = "Authorization"
Resolve = Callable[[str, int], tuple[str, ...]]
"""Host and port → addresses; ``bench.endpoint.resolve`` outside of tests."""


class Access(Value, frozen=True, kw_only=True):
    """A checked address and what may be sent to it."""

    endpoint: EndpointUrl
    address: Address
    addresses: tuple[str, ...]
    """What the host stood for when it was judged; empty = nobody knew it."""
    headers: tuple[tuple[str, str], ...]
    """Typed ones, secret ones and the key."""
    key_variable: str | None
    """``None`` = no key is sent."""
    secrets: tuple[str, ...]
    """Values to mask."""
    authorities: Authorities
    proxy: Proxy | None
    """What requests go through; of an endpoint on this machine only where one was typed."""
    hop: Reach
    """What the host that is connected to was judged to be: the endpoint's, or the proxy's."""
    notes: tuple[str, ...]
    """What a person should know of it."""


def find_access(config: Config, *, trusted_hosts: tuple[str, ...], resolve: Resolve) -> Access:
    """Return the address and the secrets that go there.

    Args:
        config: Resolved settings.
        trusted_hosts: Hosts that a person named with `--trust-url`.
        resolve: Looks a host up.

    Raises:
        UsageFault: No address, or one that can't be.
        KeyMissing: A variable that is needed is not set.
        Refused: A key would go where it doesn't belong.
    """
    settings = config.settings
    if settings.url is None:
        raise UsageFault(
            "no address to benchmark",
            hint="`--url URL`, `BENCHMARK_API_URL`, or a preset with an endpoint of its own",
        )
    wire = PROTOCOLS[settings.api]
    others = {each.path: name for name, each in PROTOCOLS.items() if name != settings.api}
    endpoint = parse_url(settings.url, path=wire.path, others=others)
    addresses = resolve(endpoint.host, endpoint.port)
    judged = reach(endpoint.host, addresses)
    proxy = _proxy(config, endpoint, judged)
    hop = judged if proxy is None else reach(proxy.host, resolve(proxy.host, proxy.port))
    if proxy is not None:
        judged = _through(endpoint, judged, hop)
    address = _address(config, endpoint, trusted_hosts, judged)
    _refuse_http_version(settings.http_version, endpoint, proxy)
    secrets = dict(_secret_headers(config))
    typed = {name.lower() for name in (*dict(settings.header), *secrets)}
    key_header = settings.key_header or _key_header(wire, endpoint.host)
    has_key = typed & {_AUTHORIZATION.lower(), key_header.lower(), *wire.key_header_hosts.values()}
    key, notes = (None, ()) if has_key else _key(config, address, key_header)
    for secret in (*secrets.values(), *([key] if key else []), *_typed_secrets(config)):
        refusal = may_send(secret, address, config.known_keys())
        if refusal is not None:
            raise refusal
    headers = [(name, value) for name, value in wire.headers if name not in typed]
    headers += [*settings.header, *((name, secret.value) for name, secret in secrets.items())]
    if key is not None:
        headers.append((key_header, _key_text(key_header, key.value.strip())))
    for name, value in headers:
        check_header(name, value)
    between = () if proxy is None else (f"proxy: {proxy.shown} ({proxy.given_by})",)
    return Access(
        endpoint=endpoint,
        address=address,
        addresses=addresses,
        headers=tuple(headers),
        key_variable=key.variable if key else None,
        secrets=(
            *(secret.value for secret in (*secrets.values(), *([key] if key else []))),
            *(proxy.secrets if proxy else ()),
        ),
        authorities=Authorities.found(config.path_of("cacert"), config.place.environ),
        proxy=proxy,
        hop=hop,
        notes=(f"address: {endpoint.url} ({config.label('url')})", *between, *notes),
    )


def find_base_access(config: Config, *, trusted_hosts: tuple[str, ...], resolve: Resolve) -> Access:
    """Return the same for what a gateway is held against; messages name its own options.

    Args:
        config: Settings with the base arm's in place of the other's.
        trusted_hosts: Hosts that a person named with `--trust-url`.
        resolve: Looks a host up.

    Raises:
        BenchError: As above.
    """
    try:
        return find_access(config, trusted_hosts=trusted_hosts, resolve=resolve)
    except KeyMissing as fault:
        option = fault.option.replace("--", "--baseline-", 1)
        raise KeyMissing(fault.names, option=option) from fault


def _proxy(config: Config, endpoint: EndpointUrl, judged: Reach) -> Proxy | None:
    """Return what is between; the environment's proxy is never asked for this machine."""
    typed = config.settings.proxy
    if typed is None and not judged.leaves:
        return None
    goal = Goal(scheme=endpoint.scheme, host=endpoint.host, port=endpoint.port)
    return proxy_for(goal, config.place.environ, typed=typed)


def _through(endpoint: EndpointUrl, judged: Reach, hop: Reach) -> Reach:
    """Return how far a request gets that goes through a proxy: who looks the name up is the proxy.

    Args:
        endpoint: With TLS, the proxy sees no key; a plain request it reads.
        judged: What the endpoint's host stands for here.
        hop: What the proxy's host stands for.
    """
    stays_here = is_loopback_name(endpoint.host) and not hop.leaves
    return Reach(stays=judged.stays, leaves=not stays_here)


def _refuse_http_version(version: HttpChoice, endpoint: EndpointUrl, proxy: Proxy | None) -> None:
    """Refuse what this installation or the way to the endpoint can't speak."""
    if version == "1.1":
        return
    if find_spec("h2") is None:
        message = f"`--http-version {version}` needs the package `h2`"
        raise UsageFault(message, hint="pip install 'gateway-bench[http2]'")
    if version == "2" and endpoint.scheme == "http" and proxy and proxy.scheme != "socks5":
        raise UsageFault(
            "HTTP/2 without TLS can't go through a proxy that passes requests on",
            hint="use https:// in the address, `--proxy none`, or `--http-version 1.1`",
        )


def _address(
    config: Config, endpoint: EndpointUrl, trusted: tuple[str, ...], judged: Reach
) -> Address:
    return Address(
        scheme=endpoint.scheme,
        host=endpoint.host,
        origin=config.trust["url"],
        given_by=config.label("url"),
        is_loopback=judged.stays,
        is_remote=judged.leaves,
        is_trusted=endpoint.host in trusted,
    )


def _secret_headers(config: Config) -> Iterator[tuple[str, Secret]]:
    for name, variable in config.settings.header_env:
        secret = config.secret(variable, named_by=config.trust["header_env"])
        if secret is None:
            raise KeyMissing([variable], option="--header-env")
        yield name, secret


def _typed_secrets(config: Config) -> Iterator[Secret]:
    """Yield known keys that stand in a typed header: the rules look at values, however they came."""
    known = config.known_keys()
    for _, value in config.settings.header:
        for variable, secret in (*known.production, *known.local):
            if secret in value:
                yield Secret(variable=variable, value=secret, origin=Origin.FLAG)


def _key_header(wire: WireProtocol, host: str) -> str:
    """Return the header that carries the key where nobody typed one."""
    for domain, header in wire.key_header_hosts.items():
        if host == domain or host.endswith(f".{domain}"):
            return header
    return _AUTHORIZATION


def _key_text(header: str, key: str) -> str:
    return f"Bearer {key}" if header.lower() == _AUTHORIZATION.lower() else key


def _key(config: Config, address: Address, header: str) -> tuple[Secret | None, tuple[str, ...]]:
    """Return the key, and what there is to say about it."""
    settings = config.settings
    if not settings.key:
        return None, ()
    carried = "" if header == _AUTHORIZATION else f", in the header {header}"
    if settings.api_key_env is not None:
        secret = config.secret(settings.api_key_env, named_by=config.trust["api_key_env"])
        if secret is None:
            raise KeyMissing([settings.api_key_env])
        return secret, (f"key: {secret.variable} ({secret.origin}){carried}",)
    for name in PRODUCTION_KEYS:
        secret = config.secret(name, named_by=None)
        if secret is not None:
            return secret, (f"key: {name} ({secret.origin}){carried}",)
    if address.is_loopback and not address.is_remote:
        return None, ("key: none is sent, no variable holds one",)
    raise KeyMissing(PRODUCTION_KEYS)


def read_body(config: Config) -> bytes | None:
    """Return the bytes of `--body`.

    Raises:
        UsageFault: The file can't be read.
    """
    path = config.path_of("body")
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as fault:
        message = f"`{path}` can't be read: {reason_in(fault)}"
        raise UsageFault(message) from fault


def make_endpoint(run: RunConfig, access: Access, *, body: bytes | None) -> Endpoint:
    """Return what the client needs to speak to the checked address as ``run`` says."""
    return Endpoint(
        url=access.endpoint.url,
        headers=access.headers,
        stream=run.stream,
        wire=PROTOCOLS[run.api],
        dialect=DIALECTS[run.dialect],
        allow_cache=run.allow_cache,
        allow_fallback=run.allow_fallback,
        raw_body=body,
        authorities=access.authorities,
        http_version=run.http_version,
        proxy=access.proxy,
        secrets=access.secrets,
        reach=access.hop,
    )
