"""The fingerprint of a prompt: one definition, shared by the benchmark and the simulator."""

import hashlib
from collections.abc import Iterable


def prompt_hash(contents: Iterable[str]) -> str:
    """Return the SHA-256 (hex) of a conversation's text.

    Args:
        contents: The text of each message in order, roles left out: gateways rename roles
            (``system`` to ``developer``) but pass text on.
    """
    digest = hashlib.sha256()
    for content in contents:
        data = content.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()
