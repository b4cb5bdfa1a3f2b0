"""Any endpoint that speaks chat completions and nothing of its own."""

from bench.dialects.shape import Dialect, Words

PLAIN = Dialect(
    name="plain",
    title="any other endpoint",
    documents=("https://platform.openai.com/docs/api-reference/chat",),
    cannot=(
        "it has no words for pinning a provider, a response cache or fallback: only the model that "
        "answers name is known",
    ),
    tags=Words(headers={"x-gateway-bench-run": "{run}", "x-gateway-bench-trial": "{trial}"}),
    cost_usd=("body:usage.cost",),
)
