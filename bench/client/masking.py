"""Takes secrets out of what is written down, in case a server echoes them. Pure."""

from collections.abc import Iterable

MASK = "[secret]"
_SHORTEST = 4
"""Shorter values are no secrets, and masking them would eat ordinary text."""
_PUBLIC = ("accept", "accept-encoding", "content-type", "user-agent", "host", "connection")


class Mask:
    """Replaces the values of request headers, and keys without their ``Bearer``."""

    def __init__(self, headers: Iterable[tuple[str, str]]) -> None:
        secrets: set[str] = set()
        for name, value in headers:
            if name.lower() in _PUBLIC:
                continue
            secrets.add(value.strip())
            if "authorization" in name.lower():
                secrets.add(value.strip().rpartition(" ")[2])
        # Longest first: a whole value goes before a part of it.
        self._secrets = sorted(
            (secret for secret in secrets if len(secret) >= _SHORTEST), key=len, reverse=True
        )

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text
