"""Helicone, as AI gateway and as proxy. Header names read from its worker's source, too."""

from bench.dialects.shape import Dialect, NameForm, Words

HELICONE = Dialect(
    name="helicone",
    title="Helicone",
    documents=(
        "https://docs.helicone.ai/helicone-headers/header-directory",
        "https://docs.helicone.ai/gateway/provider-routing",
        "https://docs.helicone.ai/features/advanced-usage/caching",
    ),
    cannot=(
        "no word forbids fallback: a `model/provider` name has no other provider to fall back to",
    ),
    name_form=NameForm(pinned="{model}/{provider}"),
    no_cache=Words(headers={"helicone-cache-enabled": "false"}),
    tags=Words(
        headers={
            "helicone-property-gatewaybenchrun": "{run}",
            "helicone-property-gatewaybenchtrial": "{trial}",
        }
    ),
    request_id=("header:helicone-id", "header:x-request-id"),
    served_provider=("header:helicone-provider",),
    served_model=("header:helicone-model",),
    cost_usd=("body:usage.cost",),
    cache_hit=("header:helicone-cache",),
    marks=("helicone-",),
    hosts=("helicone.ai",),
)
