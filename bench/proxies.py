"""Which proxy requests go through: from this process's environment or `--proxy`. Pure.

Never from a `.env` or a toml file: a folder's files are a stranger's, and a proxy sees who is asked.
"""

import ipaddress
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from bench.errors import UsageFault
from bench.model.record import Value

NONE = "none"
"""Typed for `--proxy`: connect directly, whatever the environment says."""
_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_LONGEST_SOCKS_WORD = 255


class UnusableProxy(UsageFault):
    """What is named as a proxy is none that this client can use."""

    def __init__(self, given_by: str, why: str) -> None:
        super().__init__(
            f"the proxy that {given_by} names {why}",
            hint="write `http://HOST:PORT`, `https://HOST:PORT` or `socks5://HOST:PORT`; "
            "`--proxy none` connects directly",
        )


class Proxy(Value, frozen=True, kw_only=True):
    """A proxy and what is shown to it."""

    scheme: str
    """``http``, ``https`` or ``socks5``."""
    host: str
    port: int
    user: str | None = None
    password: str | None = None
    given_by: str
    """For people: ``HTTPS_PROXY``, ``--proxy``."""

    @property
    def shown(self) -> str:
        """Its address without the password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def authorization(self) -> str | None:
        """Value of ``Proxy-Authorization`` (RFC 7617)."""
        if self.user is None:
            return None
        pair = f"{self.user}:{self.password or ''}"
        return f"Basic {b64encode(pair.encode()).decode()}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be written anywhere."""
        return tuple(one for one in (self.password, self.authorization) if one)


def parse_proxy(typed: str, *, given_by: str) -> Proxy:
    """Take the address of a proxy apart; without a scheme it is http, as curl and httpx have it.

    Raises:
        UnusableProxy: No host, no port that is one, another scheme. Its text is not repeated, it
            may hold a password.
    """
    text = typed.strip()
    try:
        parts = urlsplit(text if _SCHEME.match(text) else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise UnusableProxy(given_by, "is no address") from error
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise UnusableProxy(given_by, f"is of the kind `{scheme}`, which is not known")
    if not parts.hostname or not parts.hostname.isascii() or port == 0:
        raise UnusableProxy(given_by, "names no host and port")
    user = None if parts.username is None else unquote(parts.username)
    password = None if parts.password is None else unquote(parts.password)
    if max(len((user or "").encode()), len((password or "").encode())) > _LONGEST_SOCKS_WORD:
        raise UnusableProxy(given_by, "has a name or password of more than 255 bytes")
    return Proxy(
        scheme="socks5" if scheme == "socks5h" else scheme,
        host=parts.hostname,
        port=port or _PORTS[scheme],
        user=user,
        password=password,
        given_by=given_by,
    )


def typed_proxy(text: str) -> str:
    """Return the text of `--proxy`, which everybody on this machine can read.

    Raises:
        ValueError: It is no proxy, or one with a password.
    """
    if text.strip().lower() == NONE:
        return NONE
    try:
        proxy = parse_proxy(text, given_by="this option")
    except UnusableProxy as fault:
        raise ValueError("`http://HOST:PORT`, `socks5://HOST:PORT` or `none` is needed") from fault
    if proxy.user is not None:
        raise ValueError("a password belongs into `HTTPS_PROXY`, not into the command line")
    return proxy.shown


class Goal(Value, frozen=True, kw_only=True):
    """Where requests are to end up."""

    scheme: str
    host: str
    port: int


def proxy_for(goal: Goal, environ: Mapping[str, str], *, typed: str | None) -> Proxy | None:
    """Return the proxy for an endpoint that is not this machine; ``None`` = connect directly.

    A small letter's variable wins over its twin; `NO_PROXY` is for the environment's proxies only.

    Args:
        goal: Where requests go.
        environ: Of this process.
        typed: Value of `--proxy`.

    Raises:
        UnusableProxy: It names none that can be used.
    """
    if typed is not None:
        return None if typed == NONE else parse_proxy(typed, given_by="`--proxy`")
    for name, value in _named((goal.scheme, "all"), environ):
        exceptions = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
        is_excepted = _is_excepted(goal, exceptions)
        return None if is_excepted else parse_proxy(value, given_by=f"`{name}`")
    return None


def proxy_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secrets of every proxy that the environment names, whoever uses it."""
    secrets: list[str] = []
    for name, value in _named(("http", "https", "all"), environ):
        with suppress(UnusableProxy):
            secrets += parse_proxy(value, given_by=name).secrets
    return tuple(secrets)


def _named(schemes: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the variables that name a proxy, and what they hold, the first to count first."""
    for scheme in schemes:
        for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper()):
            if value := environ.get(name, "").strip():
                yield name, value


def _is_excepted(goal: Goal, exceptions: str) -> bool:
    host = goal.host.rstrip(".").lower()
    return any(_matches(each.strip().lower(), host, goal.port) for each in exceptions.split(","))


def _matches(exception: str, host: str, port: int) -> bool:
    """Say whether an entry of `NO_PROXY` names the host: `*`, a domain, an address, a network."""
    if not exception:
        return False
    if exception == "*":
        return True
    name, colon, named_port = exception.rpartition(":")
    if colon and named_port.isdecimal() and (":" not in name or name.endswith("]")):
        if int(named_port) != port:
            return False
        exception = name
    exception = exception.strip("[]")
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(exception, strict=False)
    except ValueError:
        domain = exception.removeprefix("*").lstrip(".")
        return bool(domain) and (host == domain or host.endswith(f".{domain}"))
