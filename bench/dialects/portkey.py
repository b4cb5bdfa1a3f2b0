"""Portkey, hosted and open source. Names read from its source, version 1.15.2, too."""

from bench.dialects.shape import Dialect, Words

PORTKEY = Dialect(
    name="portkey",
    title="Portkey",
    documents=(
        "https://portkey.ai/docs/api-reference/inference-api/headers",
        "https://portkey.ai/docs/api-reference/inference-api/response-schema",
    ),
    cannot=(
        "no word forbids fallback: it is part of the configuration that a request names",
        "it tells the provider that answered, not the model",
    ),
    pin=Words(headers={"x-portkey-provider": "{provider}"}),
    no_cache=Words(headers={"x-portkey-cache-force-refresh": "true"}),
    tags=Words(headers={"x-portkey-metadata": "{tags}"}),
    request_id=("header:x-portkey-trace-id", "header:x-request-id"),
    served_provider=("body:provider", "header:x-portkey-provider"),
    cache_hit=("header:x-portkey-cache-status",),
    fallback=("header:x-portkey-retry-attempt-count",),
    marks=("x-portkey-",),
    hosts=("portkey.ai",),
)
