"""The model list, in the shape of LLMGateway's ``/v1/models``; marked as simulated. Pure."""

from typing import Any

import msgspec

from bench.simulator.events import FINGERPRINT
from bench.simulator.providers import MODELS, PROVIDERS, Model, Offer

_PARAMETERS = (
    *("max_tokens", "temperature", "tools", "tool_choice", "stream", "stream_options"),
    "reasoning_effort",
)
_CREATED = 1_796_000_000


def models_body() -> bytes:
    """Return the body of ``GET /v1/models``; prices are strings, dollars per token."""
    listed = [_model(model) for model in MODELS.values()]
    return msgspec.json.encode({"object": "list", "data": listed, **simulated()})


def simulated() -> dict[str, Any]:
    """Return the fields that mark a body as ours."""
    return {"simulated": True, "system_fingerprint": FINGERPRINT}


def _model(model: Model) -> dict[str, Any]:
    first = model.offers[0]
    return {
        "id": model.id,
        "object": "model",
        "name": model.name,
        "created": _CREATED,
        "owned_by": FINGERPRINT,
        "description": "simulated; no real model answers",
        "family": model.family,
        "architecture": {
            "input_modalities": ["text"],
            "output_modalities": ["text"],
            "tokenizer": "simulated",
        },
        "pricing": _pricing(first),
        "context_length": max(offer.context_length for offer in model.offers),
        "supported_parameters": _PARAMETERS,
        "stability": first.stability,
        "providers": [_offer(model, offer) for offer in model.offers],
        "simulated": True,
    }


def _offer(model: Model, offer: Offer) -> dict[str, Any]:
    return {
        "providerId": offer.provider,
        "modelName": model.id,
        "pricing": _pricing(offer),
        "regions": offer.regions,
        "contextSize": offer.context_length,
        "maxOutput": offer.max_output,
        "quantization": offer.quantization,
        "stability": offer.stability,
        "deactivatedAt": offer.deactivated_at,
        "streaming": True,
        "tools": True,
        "description": PROVIDERS[offer.provider].description,
        "rightPercent": PROVIDERS[offer.provider].right_percent,
    }


def _pricing(offer: Offer) -> dict[str, str]:
    return {
        "prompt": repr(offer.prompt_usd),
        "completion": repr(offer.completion_usd),
        "request": repr(offer.request_usd),
        "image": "0",
        "source": "simulator",
    }
