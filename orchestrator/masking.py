"""Take secrets out of text that people will see: log tails, command lines, health bodies. Pure."""

import re
from collections.abc import Iterable

MASK = "***"
# Shorter values would blank out half of a log: a "secret" of `1` or `on` hides nothing worth it.
_SHORTEST_SECRET = 6

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
