"""LiteLLM's proxy. Names read from its source, version 1.108.7, and from recorded answers."""

from bench.dialects.shape import Dialect, Words

LITELLM = Dialect(
    name="litellm",
    title="LiteLLM proxy",
    documents=(
        "https://docs.litellm.ai/docs/proxy/response_headers",
        "https://docs.litellm.ai/docs/proxy/request_headers",
        "https://docs.litellm.ai/docs/proxy/caching",
        "https://docs.litellm.ai/docs/proxy/reliability",
    ),
    cannot=(
        "a request can't choose among the deployments behind one name: give each its own name in "
        "the proxy's configuration",
    ),
    # Its proxy reads cache controls from the body; `Cache-Control` only sets a time to live.
    no_cache=Words(fields={"cache": {"no-cache": True, "no-store": True}}),
    no_fallback=Words(fields={"disable_fallbacks": True}),
    # Not `x-litellm-tags`: where tag routing is on, that would choose the deployment.
    tags=Words(headers={"x-litellm-spend-logs-metadata": "{tags}"}),
    request_id=("header:x-litellm-call-id", "header:x-request-id"),
    # The group is the name asked for; the deployment behind it has other names.
    served_model=("header:x-litellm-model-group",),
    cost_usd=("body:usage.cost", "header:x-litellm-response-cost"),
    overhead_ms=("header:x-litellm-overhead-duration-ms",),
    cache_hit=("header:x-litellm-cache-hit",),
    cache_key="x-litellm-cache-key",
    fallback=("header:x-litellm-attempted-fallbacks",),
    # It passes a provider's headers on under a name of its own.
    retry_after=("retry-after", "llm_provider-retry-after"),
    # Without a database it can't look up a key that is not its master key.
    key_refusals=("no_db_connection",),
    marks=("x-litellm-",),
    # Else a `*` in its configuration is listed as OpenAI's models, and takes any name.
    models_query="return_wildcard_routes=true",
    details_path="model/info",
)
