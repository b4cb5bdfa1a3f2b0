"""Take secrets out of text that people will see: log tails, command lines, health bodies. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

MASK = "***"
# Shorter values would blank out half of a log: a "secret" of `1` or `on` hides nothing worth it.
_SHORTEST_SECRET = 6

SECRET_WORDS = (
    *("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTHORIZATION"),
    "DATABASE_URL",
)
"""What the name of a variable holds whose value is a secret."""
# One letter of the scheme: with all of them a long value without an address took seconds.
_PASSWORD_IN_URL = re.compile(r"\w://[^/\s:@]*:([^@\s/]+)@")
_SHAPES = (
    re.compile(r"(?i)(\bauthorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic)?\s*)[^\s'\"]+"),
    re.compile(r"(?i)(\bbearer\s+)[^\s'\"]{6,}"),
    re.compile(
        r"(?i)([\w-]*(?:api[_-]?key|token|secret|passw(?:or)?d)['\"]?\s*[=:]\s*['\"]?)[^\s'\",;&]+"
    ),
    re.compile(r"(?i)(--[\w-]*(?:key|token|secret|password)\s+)\S+"),
    re.compile(r"(\w+://[^/\s:@]*:)[^@\s/]+(?=@)"),
    re.compile(r"(\bsk-)[\w-]{8,}"),
)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace known secret values, and what has the shape of one, by ``***``.

    Args:
        text: Anything that came from a gateway, its command line or its log.
        secrets: Values that must not be seen; those under six characters are left alone.
    """
    for value in sorted(set(secrets), key=len, reverse=True):
        if len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, MASK)
    for shape in _SHAPES:
        text = shape.sub(lambda found: f"{found[1]}{MASK}", text)
    return text


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values whose variables' names speak of secrets, and every password of an address.

    A proxy's or a database's address is no secret, and may be named anything; its password is one,
    as it is written there and as a program sees it that took the address apart.
    """
    return tuple(dict.fromkeys(_secrets_of(environment)))


def _secrets_of(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if value and any(word in name.upper() for word in SECRET_WORDS):
            yield value
        for password in _PASSWORD_IN_URL.findall(value):
            yield from (password, unquote(password))
