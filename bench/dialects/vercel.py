"""Vercel AI Gateway. Its metadata stands in the delta or message, or at the top of the answer."""

from bench.dialects.shape import Dialect, Words

_METADATA = ("body:provider_metadata.gateway", "body:providerMetadata.gateway")


def _at(path: str) -> tuple[str, ...]:
    return tuple(f"{root}.{path}" for root in _METADATA)


VERCEL = Dialect(
    name="vercel",
    title="Vercel AI Gateway",
    documents=(
        "https://vercel.com/docs/ai-gateway/models-and-providers/provider-options",
        "https://vercel.com/docs/ai-gateway/sdks-and-apis/openai-chat-completions",
        "https://vercel.com/docs/ai-gateway/observability-and-spend/custom-reporting",
    ),
    cannot=(
        "it has no response cache to bypass",
        "without a pinned provider nothing forbids another one",
        "the tag is the run's id alone; a trial is found by its generation id",
    ),
    pin=Words(fields={"providerOptions": {"gateway": {"only": ["{provider}"]}}}),
    tags=Words(fields={"providerOptions": {"gateway": {"tags": ["gateway-bench-{run}"]}}}),
    request_id=("header:x-vercel-id", "header:x-request-id"),
    generation_id=(*_at("generationId"), "body:id"),
    # The resolved one was planned; it counts where no final one is told.
    served_provider=_at("routing.finalProvider") + _at("routing.resolvedProvider"),
    served_model=("body:model",),
    # `cost` is 0 where a promotion pays; `marketCost` would not be billed.
    cost_usd=(*_at("cost"), "body:usage.cost"),
    cache_hit=(),
    attempts=(*_at("routing.totalProviderAttemptCount"), *_at("routing.modelAttemptCount")),
    asked_and_used=tuple(
        (f"{root}.routing.resolvedProvider", f"{root}.routing.finalProvider") for root in _METADATA
    ),
    hosts=("ai-gateway.vercel.sh",),
    offers_path="{model}/endpoints",
)
