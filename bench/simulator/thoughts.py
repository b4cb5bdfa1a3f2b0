"""Proof that reasoning came from here: what a client must send back unchanged. Pure.

Anthropic signs its thinking, OpenAI encrypts its reasoning; both refuse what they did not write.
"""

import hashlib
from base64 import b64encode

from bench.simulator.errors import RequestRefused

_PREFIX = "sim-thought-"


def sealed(thinking: str) -> str:
    """Return the signature of a piece of reasoning."""
    digest = hashlib.sha256(b"thought\0" + thinking.encode()).digest()
    return _PREFIX + b64encode(digest).decode()


def check_seal(thinking: object, seal: object, *, where: str) -> None:
    """Refuse reasoning that is not as it was sent.

    Raises:
        RequestRefused: 400.
    """
    if not isinstance(thinking, str) or seal != sealed(thinking):
        raise RequestRefused(400, "invalid_request", f"{where}: not the reasoning that was sent")
