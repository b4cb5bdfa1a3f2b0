"""LLMGateway, hosted or self-hosted, and the embedded simulator, which speaks the same."""

from bench.dialects.shape import Dialect, NameForm, Words

LLMGATEWAY = Dialect(
    name="llmgateway",
    title="LLMGateway",
    documents=(
        "https://docs.llmgateway.io/features/routing",
        "https://docs.llmgateway.io/features/caching/gateway-caching",
        "https://docs.llmgateway.io/features/cost-breakdown",
        "https://docs.llmgateway.io/features/metadata",
    ),
    name_form=NameForm(pinned="{provider}/{model}", region=":{region}"),
    no_cache=Words(headers={"x-no-cache": "true"}),
    no_fallback=Words(headers={"x-no-fallback": "true"}),
    tags=Words(headers={"x-llmgateway-bench-run": "{run}", "x-llmgateway-bench-trial": "{trial}"}),
    request_id=("header:x-request-id", "body:metadata.request_id"),
    served_provider=("body:metadata.used_provider", "header:x-served-provider"),
    served_region=("body:metadata.used_region", "header:x-served-region"),
    served_model=("body:metadata.used_model", "header:x-served-model"),
    cost_usd=(
        "body:usage.cost_details.total_cost",
        "body:usage.cost_usd_total",
        "body:usage.cost",
    ),
    overhead_ms=("header:x-gateway-overhead-ms",),
    cache_hit=("body:metadata.cached", "header:x-llmgateway-cache", "header:x-cache"),
    fallback=("body:metadata.fallback", "header:x-fallback"),
    # One entry per provider that was tried, the one that answered included.
    attempts=("body:metadata.routing",),
    asked_and_used=(("body:metadata.requested_provider", "body:metadata.used_provider"),),
    marks=("x-llmgateway-", "x-gateway-bench-simulator"),
    hosts=("llmgateway.io",),
    deactivated_query="include_deactivated=true",
)
