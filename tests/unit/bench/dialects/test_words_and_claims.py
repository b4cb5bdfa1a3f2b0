import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bench.dialects import (
    DIALECTS,
    Claims,
    Intent,
    Words,
    merged,
    pinned_name,
    read_claims,
    recognise,
    request_words,
)
from bench.model.target import Target

TARGET = Target(
    id="openai/m", model="openai/m", model_id="m", mapping="openai:eu", display_name="M"
)
TAGS = {"run": "r-1", "trial": "openai/m|case|r1"}


def words_of(
    name: str,
    *,
    target: Target = TARGET,
    allow_cache: bool = False,
    allow_fallback: bool = False,
    tags: Mapping[str, str] = TAGS,
) -> Words:
    intent = Intent(
        target=target, allow_cache=allow_cache, allow_fallback=allow_fallback, tags=tags
    )
    return request_words(DIALECTS[name], intent)


def headers_of(name: str, **changed: Any) -> Mapping[str, str]:
    return words_of(name, **changed).headers


def test_plain_sends_nothing_but_its_own_tags():
    assert headers_of("plain") == {
        "x-gateway-bench-run": "r-1",
        "x-gateway-bench-trial": "openai/m|case|r1",
    }
    assert headers_of("plain", tags={}) == {}


def test_llmgateway_forbids_cache_and_fallback_unless_allowed():
    assert headers_of("llmgateway", tags={}) == {"x-no-cache": "true", "x-no-fallback": "true"}
    assert headers_of("llmgateway", allow_cache=True, allow_fallback=True, tags={}) == {}


def test_litellm_says_it_in_the_body_and_tags_the_spend_log():
    assert json.loads(headers_of("litellm")["x-litellm-spend-logs-metadata"]) == {
        "gateway-bench-run": "r-1",
        "gateway-bench-trial": "openai/m|case|r1",
    }
    assert words_of("litellm").fields == {
        "cache": {"no-cache": True, "no-store": True},
        "disable_fallbacks": True,
    }
    assert words_of("litellm", allow_cache=True, allow_fallback=True).fields == {}


@pytest.mark.parametrize(
    ("model", "pinned"),
    [
        pytest.param("m", {"x-portkey-provider": "openai"}, id="plain-name"),
        pytest.param("openai/m", {}, id="the-name-pins-already"),
    ],
)
def test_portkey_pins_by_header_without_the_region(model, pinned):
    sent = headers_of(
        "portkey",
        target=replace(TARGET, model=model),
        allow_cache=True,
        allow_fallback=True,
        tags={},
    )
    assert sent == pinned


ALL_FOUR = [
    pytest.param(
        "openrouter",
        {"x-openrouter-metadata": "enabled", "x-openrouter-cache": "false"},
        {
            "provider": {"allow_fallbacks": False, "only": ["acme/eu"]},
            "user": "gateway-bench-r-1",
        },
        id="openrouter",
    ),
    pytest.param(
        "vercel",
        {},
        {"providerOptions": {"gateway": {"only": ["acme"], "tags": ["gateway-bench-r-1"]}}},
        id="vercel",
    ),
    pytest.param(
        "cloudflare",
        {
            "cf-aig-skip-cache": "true",
            "cf-aig-max-attempts": "1",
            "cf-aig-metadata": '{"gateway-bench-run":"r-1","gateway-bench-trial":"openai/m|case|r1"}',
        },
        {},
        id="cloudflare",
    ),
    pytest.param(
        "helicone",
        {
            "helicone-cache-enabled": "false",
            "helicone-property-gatewaybenchrun": "r-1",
            "helicone-property-gatewaybenchtrial": "openai/m|case|r1",
        },
        {},
        id="helicone",
    ),
]


@pytest.mark.parametrize(("name", "headers", "fields"), ALL_FOUR)
def test_pin_cache_fallback_and_tag_stand_in_headers_and_fields(name, headers, fields):
    words = words_of(name, target=replace(TARGET, model="m", mapping="acme:eu"))
    assert (words.headers, words.fields) == (headers, fields)


@pytest.mark.parametrize(
    ("name", "mapping", "sent"),
    [
        pytest.param("llmgateway", "acme:eu", "acme/m:eu", id="llmgateway-region"),
        pytest.param("llmgateway", "acme", "acme/m", id="llmgateway"),
        pytest.param("cloudflare", "acme:eu", "acme/m", id="no-region-in-the-name"),
        pytest.param("helicone", "acme", "m/acme", id="provider-behind"),
        pytest.param("openrouter", "acme", "m", id="not-in-the-name"),
        pytest.param("llmgateway", None, "m", id="nothing-to-pin"),
    ],
)
def test_a_name_pins_in_the_dialects_form(name, mapping, sent):
    assert pinned_name(DIALECTS[name].name_form, "m", mapping) == sent


def test_a_value_that_looks_like_a_placeholder_is_left_alone():
    tags = {"run": "{trial}", "trial": "{run}{tags}"}
    assert headers_of("plain", tags=tags) == {
        "x-gateway-bench-run": "{trial}",
        "x-gateway-bench-trial": "{run}{tags}",
    }


def test_what_the_request_says_itself_goes_over_the_dialects_fields():
    under = {"provider": {"only": ["a"], "allow_fallbacks": False}, "user": "x"}
    assert merged(under, {"provider": {"only": ["b"]}, "user": 1}) == {
        "provider": {"only": ["b"], "allow_fallbacks": False},
        "user": 1,
    }


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        pytest.param("openrouter.ai", "openrouter", id="openrouter"),
        pytest.param("api.llmgateway.io", "llmgateway", id="subdomain"),
        pytest.param("ai-gateway.vercel.sh", "vercel", id="vercel"),
        pytest.param("notopenrouter.ai", None, id="another-domain"),
    ],
)
def test_a_dialect_is_recognised_by_its_host(host, wanted):
    assert recognise({}, host=host) == wanted
    assert recognise({"x-litellm-version": "1"}, host=host) == (wanted or "litellm")


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_every_dialect_names_its_documents_and_speaks_lower_case(dialect):
    assert dialect.documents
    headers = (*dialect.no_cache.headers, *dialect.tags.headers, *dialect.pin.headers)
    sources = (*dialect.request_id, *dialect.served_provider, *dialect.cache_hit)
    assert all(name == name.lower() for name in headers)
    assert all(s.startswith(("header:", "body:")) for s in sources)
    assert all(s == s.lower() for s in sources if s.startswith("header:"))


@given(st.text(), st.sampled_from(sorted(DIALECTS)))
def test_no_tag_can_break_a_header(tag, name):
    tags = {"run": tag, "trial": tag}
    for value in headers_of(name, tags=tags).values():
        assert value.isascii()
        assert value.isprintable()


CLAIMS = [
    pytest.param("plain", {"x-request-id": "a"}, {}, Claims(request_id="a"), id="plain-id"),
    pytest.param("plain", {"x-cache": "HIT"}, {}, Claims(cache_hit=True), id="plain-cache"),
    pytest.param(
        "plain", {"x-cache": "Miss from edge"}, {}, Claims(cache_hit=False), id="plain-miss"
    ),
    pytest.param("plain", {"x-cache": "who knows"}, {}, Claims(), id="plain-no-word"),
    pytest.param(
        "llmgateway",
        {},
        {
            "usage": {"cost_usd_total": 0.25},
            "metadata": {
                "requested_provider": "openai",
                "used_provider": "azure",
                "used_model": "m2",
            },
        },
        Claims(served_provider="azure", served_model="m2", cost_usd=0.25, fallback=True),
        id="llmgateway-other-provider",
    ),
    pytest.param(
        "llmgateway",
        {"x-request-id": "q"},
        {
            "usage": {"cost": 0},
            "metadata": {"requested_provider": "a", "used_provider": "a", "cached": True},
        },
        Claims(request_id="q", served_provider="a", cache_hit=True),
        id="llmgateway-zero-cost-is-unknown",
    ),
    pytest.param(
        "litellm",
        {
            "x-litellm-call-id": "c",
            "x-request-id": "other",
            "x-litellm-model-group": "m-ok",
            "x-litellm-response-cost": "0.0",
            "x-litellm-overhead-duration-ms": "22.5",
            "x-litellm-attempted-fallbacks": "0",
        },
        {"usage": {"cost": 0.01}},
        Claims(
            request_id="c", served_model="m-ok", cost_usd=0.01, overhead_ms=22.5, fallback=False
        ),
        id="litellm",
    ),
    pytest.param(
        "litellm",
        {"x-litellm-attempted-fallbacks": "2", "x-litellm-cache-key": "k"},
        {},
        Claims(cache_hit=True, fallback=True),
        id="litellm-fallback-and-cache",
    ),
    pytest.param(
        "litellm",
        {"x-litellm-overhead-duration-ms": "None", "x-litellm-response-cost": "nan"},
        {},
        Claims(),
        id="litellm-nothing-said",
    ),
    pytest.param(
        "portkey",
        {"x-portkey-trace-id": "t", "x-portkey-cache-status": "SEMANTIC HIT"},
        {"provider": "openai"},
        Claims(request_id="t", served_provider="openai", cache_hit=True),
        id="portkey",
    ),
    pytest.param(
        "llmgateway",
        {"x-served-provider": "azure"},
        {"metadata": {"used_provider": "openai"}},
        Claims(served_provider="openai and azure"),
        id="llmgateway-contradicts-itself",
    ),
    pytest.param(
        "openrouter",
        {"x-generation-id": "g"},
        {"provider": "Google", "model": "a/m", "created": 5, "openrouter_metadata": {"attempt": 1}},
        Claims(
            request_id="g",
            served_provider="google-vertex",
            served_model="a/m",
            created_s=5,
            fallback=False,
        ),
        id="openrouter-calls-a-provider-otherwise",
    ),
    pytest.param(
        "vercel",
        {},
        {"providerMetadata": {"gateway": {"routing": {"resolvedProvider": "bedrock"}}}},
        Claims(served_provider="bedrock"),
        id="vercel-planned-only",
    ),
    pytest.param("llmgateway", {}, {"metadata": {"routing": []}}, Claims(), id="no-attempt-told"),
    pytest.param("cloudflare", {"cf-aig-step": "1"}, {}, Claims(fallback=True), id="second-step"),
    pytest.param(
        "portkey",
        {"x-portkey-cache-status": "DISABLED"},
        {},
        Claims(cache_hit=False),
        id="portkey-cache-off",
    ),
]


@pytest.mark.parametrize(("name", "headers", "body", "wanted"), CLAIMS)
def test_claims_are_read_where_the_dialect_says(name, headers, body, wanted):
    assert read_claims(DIALECTS[name], headers, body) == wanted


@given(
    st.sampled_from(sorted(DIALECTS)),
    st.dictionaries(
        st.sampled_from(["metadata", "usage", "provider"]),
        st.one_of(st.none(), st.integers(), st.text(), st.dictionaries(st.text(), st.integers())),
    ),
)
def test_no_body_shape_breaks_the_reading(name, body):
    read_claims(DIALECTS[name], {}, body)


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        pytest.param({"x-litellm-version": "1"}, "litellm", id="litellm"),
        pytest.param({"x-portkey-trace-id": "1"}, "portkey", id="portkey"),
        pytest.param({"x-gateway-bench-simulator": "1"}, "llmgateway", id="simulator"),
        pytest.param({"x-request-id": "1"}, None, id="nothing-known"),
    ],
)
def test_a_dialect_is_recognised_by_its_headers(headers, wanted):
    assert recognise(headers) == wanted
