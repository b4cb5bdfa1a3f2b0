import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bench.catalogue import parse_models
from bench.catalogue.lists import is_list, models_in, parse_details, parse_offers
from bench.model.target import PriceTier, PriceWindow


def one(entry: dict[str, Any]) -> Any:
    (model,) = models_in([entry], source="gateway")
    return model


def test_openrouter_lists_prices_and_limits_per_model():
    model = one(
        {
            "id": "a/m",
            "name": "A: M",
            "context_length": 1000,
            "pricing": {
                "prompt": "0.0000015",
                "completion": "0.000006",
                "request": "0",
                "input_cache_read": "0.0000001",
                "input_cache_write": "0.000002",
                "internal_reasoning": "0.000007",
            },
            "top_provider": {"max_completion_tokens": 64},
        }
    )
    prices = model.metadata.prices
    assert (prices.input_usd, prices.output_usd, prices.request_usd) == (1.5e-6, 6e-6, None)
    assert (prices.cached_input_usd, prices.cache_write_usd) == (1e-7, 2e-6)
    assert prices.reasoning_usd == 7e-6
    assert (model.metadata.context_size, model.metadata.max_output_tokens) == (1000, 64)


def test_vercel_lists_input_and_output():
    model = one({"id": "a/m", "context_window": 9, "pricing": {"input": "3e-6", "output": "1e-5"}})
    assert model.metadata.prices.input_usd == 3e-6
    assert model.metadata.context_size == 9


def test_the_providers_of_one_model_are_offers():
    body = {
        "data": {
            "id": "a/m",
            "endpoints": [
                {
                    "provider_name": "DeepInfra",
                    "tag": "deepinfra/fp8",
                    "quantization": "fp8",
                    "context_length": 10,
                    "pricing": {"prompt": "1e-6", "completion": "2e-6"},
                },
                {"provider_name": "Google AI Studio"},
                {"name": "nobody"},
                7,
            ],
        }
    }
    first, second = parse_offers(json.dumps(body).encode())
    assert (first.mapping, second.mapping) == ("deepinfra/fp8", "google-ai-studio")
    assert first.metadata.quantization == "fp8"
    assert first.metadata.prices is not None
    assert parse_offers(b"[]") == parse_offers(b"no json") == ()


def test_litellm_tells_prices_and_steps_beside_its_list():
    info = {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "cache_read_input_token_cost": 1e-7,
        "input_cost_per_token_above_200k_tokens": 3e-6,
        "output_cost_per_token_above_200k_tokens": 4e-6,
        "max_input_tokens": 100,
        "max_output_tokens": 10,
    }
    entries = [
        {"model_name": "m", "model_info": info},
        {"model_name": "two", "model_info": {**info, "max_output_tokens": 20}},
        {"model_name": "two", "model_info": info},
        {"model_name": "none"},
    ]
    found = parse_details(json.dumps({"data": entries}).encode())
    prices = found["m"].prices
    assert prices is not None
    assert prices.tiers == (
        PriceTier(above_prompt_tokens=200_000, input_usd=3e-6, output_usd=4e-6),
    )
    assert (found["m"].context_size, found["m"].max_output_tokens) == (100, 10)
    assert found["two"].max_output_tokens is None, "two deployments disagree"
    assert found["two"].prices == prices
    assert set(found) == {"m", "two"}


NPM = {
    "id": "m",
    "output": ["text"],
    "providers": [
        {
            "providerId": "a",
            "externalId": "vendor-m",
            "inputPrice": "1e-6",
            "outputPrice": "2e-6",
            "cachedInputPrice": "1e-7",
            "requestPrice": "0",
            "pricingTiers": [
                {"upToTokens": 200, "inputPrice": "1e-6", "outputPrice": "2e-6"},
                {"upToTokens": None, "inputPrice": "3e-6", "outputPrice": "4e-6"},
            ],
            "regions": [{"id": "eu", "inputPrice": "5e-6"}, {"id": "us"}, {"none": 1}, 4],
        },
        {
            "providerId": "aws-bedrock",
            "inputPrice": "1e-6",
            "outputPrice": "2e-6",
            "regions": [{"id": "global"}, {"id": "eu"}, {"id": "jp", "inputPrice": "9e-6"}],
        },
        {
            "providerId": "night",
            "inputPrice": "2e-6",
            "outputPrice": "4e-6",
            "peakPricing": {
                "peak": {"inputPrice": "2e-6", "outputPrice": "4e-6"},
                "offPeak": {"inputPrice": "1e-6", "outputPrice": "2e-6"},
                "hoursUtc": [[1, 4], [22, 24], ["x", 1]],
            },
        },
        {"providerId": "odd", "inputPrice": "2e-6", "peakPricing": {"peak": 1}},
    ],
}


def test_the_npm_package_has_regions_steps_and_hours():
    offers = {offer.mapping: offer.metadata for offer in one(NPM).offers}
    assert list(offers)[:3] == ["a", "a:eu", "a:us"]
    plain, dearer, same = (offers[name].prices for name in ("a", "a:eu", "a:us"))
    assert plain is not None
    assert dearer is not None
    assert plain.tiers == (PriceTier(above_prompt_tokens=200, input_usd=3e-6, output_usd=4e-6),)
    assert (dearer.input_usd, dearer.output_usd, dearer.tiers) == (5e-6, 2e-6, ())
    assert same == plain
    assert offers["a"].upstream_model == "vendor-m"
    night = offers["night"].prices
    assert night is not None
    assert night.input_usd == 1e-6
    assert night.windows == (
        PriceWindow(begins="01:00", ends="04:00", input_usd=2e-6, output_usd=4e-6),
        PriceWindow(begins="22:00", ends="00:00", input_usd=2e-6, output_usd=4e-6),
    )
    assert offers["odd"].prices is not None


def test_bedrocks_regions_have_no_price_that_a_program_would_compute():
    offers = {offer.mapping: offer.metadata.prices for offer in one(NPM).offers}
    assert offers["aws-bedrock:global"] == offers["aws-bedrock"] is not None
    assert offers["aws-bedrock:eu"] is None
    assert offers["aws-bedrock:jp"] is not None


def test_a_model_that_answers_with_no_text_is_not_listed():
    assert models_in([{"id": "i", "output": ["image"]}], source="gateway") == ()


def test_a_list_may_be_called_models():
    assert [m.id for m in parse_models(b'{"models":[{"id":"x"}]}')] == ["x"]


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "data",
                    "providers",
                    "providerId",
                    "pricing",
                    "prompt",
                    "regions",
                    "pricingTiers",
                    "peakPricing",
                    "peak",
                    "offPeak",
                    "hoursUtc",
                    "endpoints",
                    "tag",
                    "model_name",
                    "model_info",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_ANY)
def test_no_shape_breaks_the_reading(value):
    models_in(value, source="gateway")
    body = json.dumps(value).encode()
    parse_models(body)
    parse_details(body)
    parse_offers(body)


def test_names_that_nobody_can_ask_for_and_limits_that_nothing_has_are_passed_over():
    hidden = ["\x1b[31mred", "two\nlines", "right\u202eleft", "m" * 257, ""]
    assert models_in([{"id": name} for name in hidden], source="gateway") == ()
    model = one(
        {
            "id": "m" * 256,
            "name": "two\nlines",
            "context_length": 10**400,
            "providers": [
                {"providerId": "p\x07"},
                {"providerId": "p", "region": "\u200beu"},
                {"providerId": "q", "regions": ["eu\n", {"id": "us"}, 5, {"id": None}]},
            ],
        }
    )
    assert model.display_name == model.id
    assert model.metadata.context_size is None
    assert [offer.mapping for offer in model.offers] == ["p", "q", "q:us"]


def test_an_empty_list_is_told_from_what_is_none():
    for empty in (b"[]", b'{"data": []}', b'{"models": []}'):
        assert is_list(empty)
    for other in (b"", b"<html>", b"5", b'{"data": 5}', b'{"error": "x"}', b"[" * 100_000):
        assert not is_list(other)
        assert parse_models(other) == ()
