"""Which secret may go to which address: the rules, decided before anything is sent. Pure.

Reading variables is the business of ``bench.config``; here are names, values and addresses only.

    production key   `LLM_GATEWAY_API_KEY`, `LLMGATEWAY_API_KEY`: never to a loopback address
    local key        `LOCAL_...` or named by a preset: never to a remote address
    any key          never over plain http to a remote host, and from the environment only to a
                     preset's production host or a URL from a flag or the environment

The first two give way to a variable that is named on the command line (`--api-key-env NAME`). They
look at values too: another name for the same secret is the same secret.
"""

import html.entities
import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from urllib.parse import quote, quote_plus

from bench.errors import Refused
from bench.model.record import Value

PRODUCTION_KEYS = ("LLM_GATEWAY_API_KEY", "LLMGATEWAY_API_KEY")
"""Looked for in this order when no variable is named."""
LOCAL_PREFIX = "LOCAL_"
MASK = "[key]"
_SHORTEST_SECRET = 4
"""Characters; masking anything shorter would only make the text unreadable."""


Pairs = tuple[tuple[str, str], ...]


class Origin(StrEnum):
    """Where a value came from, as far as trust goes."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    DOTENV = ".env"
    FILE = "file"
    PRESET = "preset"
    DEFAULT = "default"


class Secret(Value, frozen=True, kw_only=True):
    """A value that goes into a request header."""

    variable: str
    value: str
    origin: Origin
    """Where the value stands: the environment or a `.env`."""
    named_by: Origin | None = None
    """What named the variable; ``None`` = it is a default name."""


class Address(Value, frozen=True, kw_only=True):
    """Where a request would go."""

    scheme: str
    host: str
    origin: Origin
    """What gave the URL."""
    given_by: str
    """The same for people: ``--url``, ``BENCHMARK_API_URL in .env``."""
    is_loopback: bool
    """At least one of the addresses that the host stands for is this machine."""
    is_remote: bool
    """At least one of them is not."""
    is_trusted: bool = False
    """A person named the host with `--trust-url`."""


class KnownKeys(Value, frozen=True, kw_only=True):
    """All keys that can be seen, by variable: what values are compared with."""

    production: Pairs = ()
    """Variable and value; a name may come twice, with the environment's value and a `.env`'s."""
    local: Pairs = ()
    """`LOCAL_...` variables, those that presets name, and the tokens that presets seed."""


def may_send(secret: Secret, address: Address, known: KnownKeys) -> Refused | None:
    """Return why ``secret`` must not go to ``address``, or ``None`` if it may."""
    if address.scheme == "http" and address.is_remote:
        return Refused(
            f"the key in `{secret.variable}` would go to {address.host} over plain http",
            hint="use https:// in the address",
        )
    if address.is_loopback and (name := _same(secret, PRODUCTION_KEYS, known.production)):
        return Refused(
            f"{_is_key(secret, name, 'production')} and {address.host} is this machine",
            hint="name the local gateway's key with `--api-key-env LOCAL_GATEWAY_KEY`, send none "
            f"with `--no-key`, or say that you mean it with `--api-key-env {name}`",
        )
    if address.is_remote and (name := _same(secret, _local_names(secret), known.local)):
        return Refused(
            f"{_is_key(secret, name, 'local')} and {address.host} is not this machine",
            hint="name the key of that endpoint with `--api-key-env NAME`, or say that you mean "
            f"it with `--api-key-env {name}`",
        )
    return _untrusted_url(secret, address)


def _untrusted_url(secret: Secret, address: Address) -> Refused | None:
    """A folder's files are a stranger's: they may not send the user's key where they like."""
    same_file = secret.origin is Origin.DOTENV and address.origin is Origin.DOTENV
    if address.origin not in {Origin.DOTENV, Origin.FILE} or address.is_trusted or same_file:
        return None
    return Refused(
        f"the key in `{secret.variable}` would go to {address.host}, which {address.given_by} names",
        hint=f"type the address with `--url`, or trust this host with `--trust-url {address.host}`",
    )


def _same(secret: Secret, names: Iterable[str], known: Pairs) -> str | None:
    """Return the key that ``secret`` is, by name or value, unless a flag named exactly that."""
    told = secret.variable if secret.named_by is Origin.FLAG else None
    if secret.variable in names:
        return None if told == secret.variable else secret.variable
    twins = [name for name, value in known if value == secret.value]
    return None if not twins or told in twins else twins[0]


def _local_names(secret: Secret) -> tuple[str, ...]:
    return (secret.variable,) if secret.variable.startswith(LOCAL_PREFIX) else ()


def _is_key(secret: Secret, name: str, kind: str) -> str:
    if secret.variable == name:
        return f"`{name}` holds a {kind} key"
    return f"`{secret.variable}` holds the same {kind} key as `{name}`"


class Redactor:
    r"""Takes secrets out of texts, however they are written there.

    As they are; URL-encoded, JSON-escaped, as ``\\u`` and HTML escapes of all characters or of some,
    each once or several times over; in base64 wherever they begin in it; in hexadecimal digits.

    Args:
        secrets: Their values; those shorter than four characters are left alone.
        mask: What stands in their place.
    """

    def __init__(self, secrets: Iterable[str], mask: str = MASK) -> None:
        listed = sorted({one for one in secrets if len(one) >= _SHORTEST_SECRET}, key=len)[::-1]
        self.forms = forms_of(listed)
        """Longest first."""
        self._mask = mask
        self._listed = listed
        self._shortest = min(map(len, (*listed, *self.forms)), default=0)
        self._spelt: re.Pattern[str] | None = None

    def prepare(self) -> None:
        """Make the pattern of all spellings, which takes 10 ms; else the first text that needs it does."""
        if self._spelt is None and self._listed:
            spelt = "|".join("".join(map(_spellings, secret)) for secret in self._listed)
            self._spelt = re.compile(spelt)

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        if not self._listed or len(text) < self._shortest:
            return text  # most are a word: no spelling of a secret is shorter than all of them
        for form in self.forms:
            if form in text:
                text = text.replace(form, self._mask)
        # A search by pattern costs a hundred times a search for a word: most texts need none.
        if "\\" in text or "%" in text or "&" in text:  # as every escape begins
            self.prepare()
            if self._spelt is not None:
                text = self._spelt.sub(lambda _: self._mask, text)
        return text


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` with every secret masked, as a ``Redactor`` does."""
    return _redactor(frozenset(secrets)).text(text)


@lru_cache(maxsize=8)
def _redactor(secrets: frozenset[str]) -> Redactor:
    """Making one takes milliseconds, and every line that is said needs it."""
    return Redactor(secrets)


def forms_of(secrets: Iterable[str]) -> tuple[str, ...]:
    """Return what secrets look like in texts, longest first: a whole goes before its parts.

    Args:
        secrets: Their values; those shorter than four characters are left out.
    """
    forms = {form for secret in secrets for form in _forms(secret)}
    return tuple(sorted(forms, key=len, reverse=True))


def _forms(secret: str) -> Iterator[str]:
    if len(secret) < _SHORTEST_SECRET:
        return
    # A variable of the environment may hold bytes that are no text; they are masked as such.
    octets = secret.encode(errors="surrogateescape" if _is_escaped(secret) else "surrogatepass")
    yield secret
    yield quote(octets)
    yield quote(octets, safe="")
    yield quote_plus(octets)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield from _inside_base64(octets)
    yield octets.hex()
    yield octets.hex().upper()


def _is_escaped(text: str) -> bool:
    """Say whether every lone surrogate stands for a byte of the environment (PEP 383)."""
    return all("\udc80" <= one <= "\udcff" for one in text if "\ud800" <= one <= "\udfff")


def _spellings(character: str) -> str:
    """Return a pattern of all that a character may be written as."""
    code, units = ord(character), character.encode("utf-16-be", "surrogatepass").hex()
    words = [units[place : place + 4] for place in range(0, len(units), 4)]
    octets = [f"{byte:02x}" for byte in character.encode("utf-8", "surrogatepass")]
    ways = [
        rf"\\*{re.escape(character)}",
        "".join(rf"\\+u(?i:{word})" for word in words),
        rf"\\+u\{{0*(?i:{code:x})\}}",
        "".join(rf"%(?:25)*(?i:{octet})" for octet in octets),
        "".join(rf"\\+x(?i:{octet})" for octet in octets),
        rf"&(?:amp;)*#0*{code};",
        rf"&(?:amp;)*#[xX]0*(?i:{code:x});",
        *(rf"&(?:amp;)*{re.escape(name)}" for name in _entities().get(character, ())),
    ]
    return f"(?:{'|'.join(ways)})"


@lru_cache(maxsize=1)
def _entities() -> dict[str, list[str]]:
    """Return the names of each character in HTML, with their semicolon."""
    found: dict[str, list[str]] = {}
    for name, named in html.entities.html5.items():
        if name.endswith(";"):
            found.setdefault(named, []).append(name)
    return found


def _inside_base64(data: bytes) -> Iterator[str]:
    """What of ``data`` shows in base64 at each of the three places where it can begin.

    `Basic` credentials encode `user:key`, so the key's own base64 need not be in there.
    """
    for before in range(3):
        padded = b"\0" * before + data
        begin = 4 if before else 0
        whole = len(padded) // 3 * 4
        for encode in (b64encode, urlsafe_b64encode):
            inner = encode(padded).decode()[begin:whole]
            if len(inner) >= _SHORTEST_SECRET:
                yield inner
    yield b64encode(data).decode()
    yield urlsafe_b64encode(data).decode().rstrip("=")
