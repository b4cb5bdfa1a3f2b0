"""OpenRouter."""

from bench.dialects.shape import Dialect, Words

OPENROUTER = Dialect(
    name="openrouter",
    title="OpenRouter",
    documents=(
        "https://openrouter.ai/docs/features/provider-routing",
        "https://openrouter.ai/docs/guides/features/response-caching",
        "https://openrouter.ai/docs/use-cases/usage-accounting",
        "https://openrouter.ai/docs/api-reference/list-endpoints-for-a-model",
    ),
    cannot=("the tag is the run's id alone; a trial is found by its generation id",),
    # Only then does the answer say how many attempts it took.
    always=Words(headers={"x-openrouter-metadata": "enabled"}),
    pin=Words(fields={"provider": {"only": ["{offer}"]}}),
    no_cache=Words(headers={"x-openrouter-cache": "false"}),
    no_fallback=Words(fields={"provider": {"allow_fallbacks": False}}),
    tags=Words(fields={"user": "gateway-bench-{run}"}),
    request_id=("header:x-generation-id", "header:x-request-id"),
    served_provider=("body:provider",),
    served_model=("body:model",),
    provider_names={"google": "google-vertex"},
    # In credits, which are dollars.
    cost_usd=("body:usage.cost",),
    cache_hit=("header:x-openrouter-cache-status",),
    attempts=("body:openrouter_metadata.attempt",),
    marks=("x-openrouter-",),
    hosts=("openrouter.ai",),
    offers_path="{model}/endpoints",
)
