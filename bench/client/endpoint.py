"""Where requests go and what every one of them carries. Checked when it is built, not when it runs."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from bench.authorities import SYSTEM, Authorities
from bench.dialects import Dialect
from bench.endpoint import Reach
from bench.errors import UsageFault
from bench.model.record import Value
from bench.proxies import Proxy
from bench.wire.protocol import WireProtocol

_DEFAULT_PORTS = {"http": 80, "https": 443}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_FRAMING = ("content-length", "transfer-encoding")
_LOOPBACK = re.compile(r"localhost|.*\.localhost|127\.\d+\.\d+\.\d+|::1")

HttpChoice = Literal["1.1", "2", "auto"]
"""``auto``: what the server chooses in TLS; HTTP/1.1 without TLS."""


class UnusableUrl(UsageFault):
    """The address can't be asked."""

    def __init__(self, url: str, why: str, *, hint: str | None = None) -> None:
        # What stands before an @ may be a password.
        super().__init__(f"`{url.rpartition('@')[2]}` {why}", hint=hint)


class UnusableHeader(UsageFault):
    """A header can't be sent."""

    def __init__(self, name: str, why: str, *, hint: str | None = None) -> None:
        super().__init__(f"header `{name}` {why}", hint=hint)


class Address(Value, frozen=True, kw_only=True):
    """A URL taken apart."""

    scheme: str
    host: str
    """Name or IP address, without brackets."""
    port: int
    target: str
    """Path and query, as in the request line."""
    authority: str
    """Value of the ``Host`` header."""

    @property
    def is_loopback(self) -> bool:
        """The host is this machine by its name; what it resolves to is not looked up."""
        return _LOOPBACK.fullmatch(self.host) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One completions address and how it is spoken to.

    Raises:
        UnusableUrl: The URL can't be asked.
        UnusableHeader: A header can't be sent.
    """

    url: str
    """Full address, path included."""
    headers: tuple[tuple[str, str], ...]
    """Sent with every request, ``Authorization`` included; they win over all others."""
    stream: bool
    wire: WireProtocol
    dialect: Dialect
    allow_cache: bool = False
    allow_fallback: bool = False
    raw_body: bytes | None = None
    """Sent byte for byte in place of the encoded request."""
    authorities: Authorities = SYSTEM
    """Whose certificates are believed."""
    http_version: HttpChoice = "1.1"
    proxy: Proxy | None = None
    """What connections go through; ``None`` = straight to the endpoint."""
    secrets: tuple[str, ...] = ()
    """Values of ``headers`` that are secret whatever the header is called."""
    reach: Reach | None = None
    """What the host that is connected to (the endpoint's or the proxy's) was judged to be when the
    key was let go there; ``None`` = it was not judged."""

    def __post_init__(self) -> None:
        address_of(self.url)
        for name, value in self.headers:
            check_header(name, value)

    @property
    def asks_for_stream(self) -> bool:
        """Whether the body asks for a stream; of a raw body its own ``stream`` field decides."""
        if self.raw_body is None:
            return self.stream
        try:
            fields = msgspec.json.decode(self.raw_body)
        except msgspec.DecodeError:
            return False
        return isinstance(fields, dict) and fields.get("stream") is True


def address_of(url: str) -> Address:
    """Take a URL apart.

    Raises:
        UnusableUrl: No http or https URL with a host, or one with a name and password in it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode() if parts.hostname else ""
    except (ValueError, UnicodeError) as error:
        raise UnusableUrl(url, f"is no URL: {error}") from error
    if parts.scheme not in _DEFAULT_PORTS or not host:
        hint = "write it in full, for example `http://127.0.0.1:4000/v1`"
        raise UnusableUrl(url, "is no http or https URL", hint=hint)
    if parts.username is not None or parts.password is not None:
        hint = "send a key with `--api-key-env`, another secret with `--header-env`"
        raise UnusableUrl(url, "is written with a name or password in front", hint=hint)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if not target.isascii() or not target.isprintable() or " " in target:
        raise UnusableUrl(url, "has characters in its path that must be percent-encoded")
    default = _DEFAULT_PORTS[parts.scheme]
    shown = f"[{host}]" if ":" in host else host
    return Address(
        scheme=parts.scheme,
        host=host,
        port=port or default,
        target=target,
        authority=shown if port in (None, default) else f"{shown}:{port}",
    )


def check_header(name: str, value: str) -> None:
    """Refuse a header that would change the request around it.

    Raises:
        UnusableHeader: A line break or other control character, one beyond ASCII, or a header that
            frames the body.
    """
    if not _HEADER_NAME.fullmatch(name):
        raise UnusableHeader(name, "has no valid name")
    if not _HEADER_VALUE.fullmatch(value):
        raise UnusableHeader(name, "has control characters in its value")
    if not value.isascii():
        # RFC 9110, 5.5: beyond ASCII a value is bytes without a meaning; Node and Starlette read
        # them as Latin-1, so what was typed would arrive as something else. The character itself
        # is not shown: the value may be a key.
        at = next(number for number, char in enumerate(value, start=1) if not char.isascii())
        why = f"has a character in its value (number {at}) that HTTP can't send: only ASCII can be"
        raise UnusableHeader(name, why, hint="copy it anew, or write it percent-encoded")
    if name.lower() in _FRAMING:
        raise UnusableHeader(name, "is set by the client, from the body")
