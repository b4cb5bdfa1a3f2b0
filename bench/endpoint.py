"""From what a person types as `--url` to the address that is used, and what it stands for."""

import ipaddress
import re
import socket
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import SplitResult, urlsplit, urlunsplit

from bench.errors import UsageFault
from bench.model.record import Value

COMPLETIONS = "/chat/completions"
_VERSION = re.compile(r"v\d+(beta\d*)?")
_SCHEMES = ("http", "https")
_NO_OTHERS: Mapping[str, str] = MappingProxyType({})


class EndpointUrl(Value, frozen=True, kw_only=True):
    """One normalised address that takes requests."""

    url: str
    """What requests are sent to."""
    models_url: str | None
    """Where the gateway lists its models; ``None`` where the path doesn't tell."""
    scheme: str
    host: str
    port: int


def parse_url(
    typed: str, *, path: str = COMPLETIONS, others: Mapping[str, str] = _NO_OTHERS
) -> EndpointUrl:
    """Return the address for a host, a `/v1` base or a full path.

    Args:
        typed: As given. Anything that ends neither in a version nor in ``path`` is a full path.
        path: The wire protocol's, appended to a base.
        others: Paths of the other wire protocols → their names.

    Raises:
        UsageFault: No scheme, no host, a password inside, a port that is none, the path of
            another protocol.
    """
    parts = _split(typed.strip())
    trail = parts.path.rstrip("/")
    _refuse_other(trail, path, others)
    if not trail:
        trail = f"/v1{path}"
    elif _VERSION.fullmatch(trail.rpartition("/")[2]):
        trail += path
    listed = trail.removesuffix(path) + "/models" if trail.endswith(path) else None
    return EndpointUrl(
        url=urlunsplit(parts._replace(path=trail)),
        models_url=urlunsplit(parts._replace(path=listed)) if listed else None,
        scheme=parts.scheme,
        host=parts.hostname or "",
        port=parts.port or (443 if parts.scheme == "https" else 80),
    )


def _refuse_other(trail: str, path: str, others: Mapping[str, str]) -> None:
    other = next((each for each in others if trail.endswith(each)), None)
    if other is None or trail.endswith(path):
        return
    message = f"the address ends in `{other}`, the path of `--api {others[other]}`"
    base = trail.removesuffix(other) or "/"
    raise UsageFault(message, hint=f"add `--api {others[other]}`, or end the address with `{base}`")


def _split(typed: str) -> SplitResult:
    if "://" not in typed:
        msg = f"the address `{typed}` has no scheme"
        raise UsageFault(msg, hint=f"write `{_likely_scheme(typed)}{typed}`")
    if " " in typed or not typed.isprintable():
        # Line breaks and tabs are taken out by `urlsplit`: another host would be asked than typed.
        msg = f"the address `{typed}` has a blank or a line break in it"
        raise UsageFault(msg)
    try:
        parts = urlsplit(typed)
        port = parts.port
    except ValueError as fault:
        message = f"the address `{typed}` can't be read: {fault}"
        raise UsageFault(message) from fault
    scheme = parts.scheme.lower()
    if scheme not in _SCHEMES:
        msg = f"the address `{typed}` is neither http:// nor https://"
        raise UsageFault(msg)
    if not parts.hostname or port == 0:
        msg = f"the address `{typed}` names no host and port"
        raise UsageFault(msg)
    if parts.username or parts.password:
        msg = f"the address of {parts.hostname} holds a user name or password"
        raise UsageFault(
            msg,
            hint="keep secrets out of the command line: `--header-env Authorization=VARIABLE`",
        )
    if parts.fragment:
        msg = f"the address `{typed}` has a `#` part, which is never sent"
        raise UsageFault(msg)
    return parts._replace(scheme=scheme)


def _likely_scheme(typed: str) -> str:
    host = typed.split("/", maxsplit=1)[0].rpartition(":")[0] or typed.split("/", maxsplit=1)[0]
    return "http://" if is_loopback_name(host) or _ip(host) else "https://"


def is_loopback_name(host: str) -> bool:
    """Whether ``host`` is this machine by its name alone (RFC 6761) or as an address."""
    bare = host.rstrip(".").lower()
    return bare == "localhost" or bare.endswith(".localhost") or _is_loopback(bare)


def resolve(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses that ``host`` stands for; empty when the name can't be resolved."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class Reach(Value, frozen=True, kw_only=True):
    """What a host was judged to stand for; the rules about keys were asked for this."""

    stays: bool
    """A request may stay on this machine."""
    leaves: bool
    """A request may leave this machine."""

    def allows(self, address: str) -> bool:
        """Whether a connection to the IP ``address`` is of a kind that was judged."""
        return self.stays if _is_loopback(address) else self.leaves


def reach(host: str, addresses: tuple[str, ...]) -> Reach:
    """Return whether a request to ``host`` may stay on this machine, and whether it may leave it.

    Args:
        host: Its name decides where it is a loopback name.
        addresses: What it resolves to. A name that nobody knows may turn out to be anywhere: remote.
    """
    if is_loopback_name(host):
        return Reach(stays=True, leaves=False)
    stays = any(_is_loopback(address) for address in addresses)
    leaves = not addresses or any(not _is_loopback(address) for address in addresses)
    return Reach(stays=stays, leaves=leaves)


def is_ip(host: str) -> bool:
    """Whether ``host`` is an IP address: nothing has to be looked up."""
    return _ip(host) is not None


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _is_loopback(host: str) -> bool:
    address = _ip(host)
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    # The unspecified address connects to this machine too.
    return bool(mapped.is_loopback or mapped.is_unspecified)
