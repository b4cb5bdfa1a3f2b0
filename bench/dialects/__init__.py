"""What each gateway calls the same things: data, and a few functions that read it.

A dialect says which header or body field pins a provider, bypasses the response cache, forbids
fallback and carries a tag, and where an answer tells who really served it and what it cost. A new
gateway is a new module of data here, entered in ``DIALECTS``, never a new code path. Pure.
"""

from collections.abc import Mapping

from bench.dialects.asking import Intent, merged, pinned_name, request_words
from bench.dialects.cloudflare import CLOUDFLARE
from bench.dialects.helicone import HELICONE
from bench.dialects.litellm import LITELLM
from bench.dialects.llmgateway import LLMGATEWAY
from bench.dialects.names import same_model, same_provider, same_region
from bench.dialects.openrouter import OPENROUTER
from bench.dialects.plain import PLAIN
from bench.dialects.portkey import PORTKEY
from bench.dialects.shape import Claims, Dialect, NameForm, Words
from bench.dialects.telling import read_claims
from bench.dialects.vercel import VERCEL

__all__ = [
    "DIALECTS",
    "Claims",
    "Dialect",
    "Intent",
    "NameForm",
    "Words",
    "merged",
    "pinned_name",
    "read_claims",
    "recognise",
    "request_words",
    "same_model",
    "same_provider",
    "same_region",
]

DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        PLAIN,
        LLMGATEWAY,
        LITELLM,
        PORTKEY,
        OPENROUTER,
        VERCEL,
        CLOUDFLARE,
        HELICONE,
    )
}


def recognise(headers: Mapping[str, str], *, host: str = "") -> str | None:
    """Return the dialect of an answer, or ``None``.

    Args:
        headers: Of the response, names in lower case.
        host: That was asked. It goes first: gateways pass on headers of gateways behind them.
    """
    for dialect in DIALECTS.values():
        if any(host == known or host.endswith(f".{known}") for known in dialect.hosts):
            return dialect.name
    for dialect in DIALECTS.values():
        if any(name.startswith(mark) for name in headers for mark in dialect.marks):
            return dialect.name
    return None
