"""Takes secrets out of what is written down, in case a server echoes them. Pure."""

import re
from collections.abc import Iterable

MASK = "[secret]"
_SHORTEST = 4
"""Shorter values are no secrets, and masking them would eat ordinary text."""
_PUBLIC = ("accept", "accept-encoding", "content-type", "user-agent", "host", "connection")
_SECRET_NAME = re.compile(
    r"(?:^|[-_])(?:auth\w*|(?:api)?key|\w*token|secret|password|credentials?|cookie|session|"
    r"signature)(?:$|[-_])"
)
"""Whole words of a header's name: ``x-api-key`` has one, ``x-portkey-provider`` has none."""
_LONG = 16
"""A header whose name says nothing: a value this long may be a secret, and no answer holds it by
chance. Shorter ones are words (``x-portkey-provider: openai``), which answers are full of."""
_PLAIN_URL = re.compile(r"https?://[^@?]+")


class Mask:
    """Replaces secret values of request headers, and keys without their ``Bearer``.

    Args:
        headers: Of the request; by name and length it is judged which of them are secrets.
        secrets: Values that are secret whatever their header is called.
    """

    def __init__(self, headers: Iterable[tuple[str, str]], secrets: Iterable[str] = ()) -> None:
        found = {secret.strip() for secret in secrets}
        for name, value in headers:
            if holds_secret(name.lower(), value.strip()):
                found.add(value.strip())
            if "authorization" in name.lower():
                found.add(value.strip().rpartition(" ")[2])
        # Longest first: a whole value goes before a part of it.
        self._secrets = sorted(
            (secret for secret in found if len(secret) >= _SHORTEST), key=len, reverse=True
        )

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text


def holds_secret(name: str, value: str) -> bool:
    """Return whether a header's value has to be masked.

    Args:
        name: Of the header, in lower case.
        value: Without white space around it.
    """
    if name in _PUBLIC:
        return False
    if _SECRET_NAME.search(name):
        return True
    return len(value) >= _LONG and not _PLAIN_URL.fullmatch(value)
