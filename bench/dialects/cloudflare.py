"""Cloudflare AI Gateway, its OpenAI-compatible endpoint."""

from bench.dialects.shape import Dialect, NameForm, Words

CLOUDFLARE = Dialect(
    name="cloudflare",
    title="Cloudflare AI Gateway",
    documents=(
        "https://developers.cloudflare.com/ai-gateway/glossary/",
        "https://developers.cloudflare.com/ai-gateway/usage/chat-completion/",
        "https://developers.cloudflare.com/ai-gateway/features/caching/",
        "https://developers.cloudflare.com/ai-gateway/features/dynamic-routing/usage/",
        "https://developers.cloudflare.com/ai-gateway/observability/custom-metadata/",
    ),
    cannot=(
        "fallback is part of a dynamic route: a `provider/model` name has none",
        "it reports no cost with an answer",
    ),
    name_form=NameForm(pinned="{provider}/{model}"),
    no_cache=Words(headers={"cf-aig-skip-cache": "true"}),
    # One attempt at one provider: its own retries would be measured as the provider's time.
    no_fallback=Words(headers={"cf-aig-max-attempts": "1"}),
    tags=Words(headers={"cf-aig-metadata": "{tags}"}),
    request_id=("header:cf-aig-log-id", "header:cf-aig-event-id", "header:cf-ray"),
    served_provider=("header:cf-aig-provider",),
    served_model=("header:cf-aig-model",),
    cache_hit=("header:cf-aig-cache-status",),
    # The number of the step that answered; the first is 0.
    fallback=("header:cf-aig-step",),
    marks=("cf-aig-",),
    hosts=("gateway.ai.cloudflare.com",),
)
