"""For each dialect: how an honest answer of the pinned target looks, and each way not to be one.

The target is `writer-1` at provider `acme`, with a region where the dialect can pin one. Keys of a
lie are those of an answer of `tests.lying_gateway`; its name says what the run has to make of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Answer = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """One gateway's honest answer and its lies."""

    mapping: str | None
    honest: Answer
    pin_violated: tuple[Answer, ...] = ()
    fallback: tuple[Answer, ...] = ()
    cache_hit: tuple[Answer, ...] = ()
    sent_model: str = "writer-1"
    sent_headers: Mapping[str, str] = field(default_factory=dict)
    """Of each request, besides the tag."""
    sent_fields: Mapping[str, Any] = field(default_factory=dict)


def _metadata(**changed: object) -> dict[str, Any]:
    return {
        "fields": {
            "metadata": {
                "requested_provider": "acme",
                "used_provider": "acme",
                "used_region": "eu",
                "used_model": "writer-1",
                **changed,
            }
        }
    }


def _routed(**routing: object) -> dict[str, Any]:
    told = {"finalProvider": "acme", "totalProviderAttemptCount": 1, **routing}
    return {"delta": {"provider_metadata": {"gateway": {"routing": told}}}}


_ATTEMPT = {"provider": "acme", "status_code": 200, "succeeded": True}

DIALOGUES: Mapping[str, Dialogue] = {
    "llmgateway": Dialogue(
        mapping="acme:eu",
        honest=_metadata(routing=[_ATTEMPT], cached=False),
        pin_violated=(
            _metadata(used_provider="cheap", requested_provider=None),
            _metadata(used_region="us"),
            _metadata(used_model="writer-1-mini"),
            # The body says what it should, the header what it did.
            {**_metadata(), "headers": {"x-served-provider": "cheap"}},
        ),
        fallback=(
            _metadata(routing=[{**_ATTEMPT, "succeeded": False}, _ATTEMPT]),
            {**_metadata(), "headers": {"x-fallback": "true"}},
        ),
        cache_hit=(
            _metadata(cached=True),
            {**_metadata(cached=False), "headers": {"x-llmgateway-cache": "HIT"}},
        ),
        sent_model="acme/writer-1:eu",
        sent_headers={"x-no-cache": "true", "x-no-fallback": "true"},
    ),
    "litellm": Dialogue(
        mapping=None,
        honest={
            "headers": {
                "x-litellm-model-group": "writer-1",
                "x-litellm-attempted-fallbacks": "0",
                "x-litellm-overhead-duration-ms": "1.5",
            }
        },
        pin_violated=({"headers": {"x-litellm-model-group": "writer-2"}},),
        fallback=({"headers": {"x-litellm-attempted-fallbacks": "1"}},),
        cache_hit=(
            {"headers": {"x-litellm-cache-key": "k1"}},
            {"headers": {"x-litellm-cache-hit": "True"}},
        ),
        sent_fields={
            "cache": {"no-cache": True, "no-store": True},
            "disable_fallbacks": True,
        },
    ),
    "portkey": Dialogue(
        mapping="acme",
        honest={"headers": {"x-portkey-provider": "acme", "x-portkey-cache-status": "DISABLED"}},
        pin_violated=(
            {"headers": {"x-portkey-provider": "cheap"}},
            {"headers": {"x-portkey-provider": "acme"}, "fields": {"provider": "cheap"}},
        ),
        fallback=({"headers": {"x-portkey-retry-attempt-count": "2"}},),
        cache_hit=({"headers": {"x-portkey-cache-status": "SEMANTIC HIT"}},),
        sent_headers={
            "x-portkey-provider": "acme",
            "x-portkey-cache-force-refresh": "true",
        },
    ),
    "openrouter": Dialogue(
        mapping="acme",
        honest={
            "fields": {"provider": "Acme", "openrouter_metadata": {"attempt": 1}},
            "headers": {"x-openrouter-cache-status": "MISS"},
        },
        pin_violated=(
            {"fields": {"provider": "Cheap Cloud"}},
            {"model": "x/writer-1-mini", "fields": {"provider": "Acme"}},
        ),
        fallback=({"fields": {"provider": "Acme", "openrouter_metadata": {"attempt": 2}}},),
        cache_hit=({"headers": {"x-openrouter-cache-status": "HIT"}},),
        sent_headers={"x-openrouter-cache": "false", "x-openrouter-metadata": "enabled"},
        sent_fields={"provider": {"only": ["acme"], "allow_fallbacks": False}},
    ),
    "vercel": Dialogue(
        mapping="acme",
        honest=_routed(),
        pin_violated=(_routed(finalProvider="cheap"), {**_routed(), "model": "x/writer-9"}),
        fallback=(
            _routed(totalProviderAttemptCount=2),
            _routed(resolvedProvider="other-first", finalProvider="acme"),
        ),
    ),
    "cloudflare": Dialogue(
        mapping="acme",
        honest={
            "headers": {
                "cf-aig-provider": "acme",
                "cf-aig-model": "writer-1",
                "cf-aig-step": "0",
                "cf-aig-cache-status": "MISS",
            }
        },
        pin_violated=(
            {"headers": {"cf-aig-provider": "cheap"}},
            {"headers": {"cf-aig-model": "writer-1-mini"}},
        ),
        fallback=({"headers": {"cf-aig-step": "1"}},),
        cache_hit=({"headers": {"cf-aig-cache-status": "HIT"}},),
        sent_model="acme/writer-1",
        sent_headers={"cf-aig-skip-cache": "true", "cf-aig-max-attempts": "1"},
    ),
    "helicone": Dialogue(
        mapping="acme",
        honest={"headers": {"helicone-provider": "acme", "helicone-model": "writer-1-20260101"}},
        pin_violated=(
            {"headers": {"helicone-provider": "cheap"}},
            {"headers": {"helicone-model": "writer-2"}},
        ),
        cache_hit=({"headers": {"helicone-cache": "HIT"}},),
        sent_model="writer-1/acme",
        sent_headers={"helicone-cache-enabled": "false"},
    ),
    "plain": Dialogue(
        mapping=None,
        honest={},
        cache_hit=({"headers": {"x-cache": "HIT from edge"}},),
    ),
}
