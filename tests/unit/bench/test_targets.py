import json
from datetime import date

import pytest

from bench.catalogue import Listing, parse_models
from bench.dialects import DIALECTS
from bench.errors import UnknownName, UsageFault
from bench.model.target import Prices
from bench.targets import Wanted, make_targets

TODAY = date(2026, 11, 30)
LLMGATEWAY = {
    "data": [
        {
            "id": "m1",
            "name": "Model One",
            "context_length": 1000,
            "pricing": {"prompt": "0", "completion": "0"},
            "providers": [
                {"providerId": "a", "pricing": {"prompt": "1.5e-7", "completion": "6e-7"}},
                {"providerId": "b", "regions": ["eu", "us"], "pricing": {"prompt": "0"}},
                {"providerId": "c:eu", "maxOutput": 64, "deactivatedAt": "2026-01-01T00:00:00Z"},
                {"providerId": "d", "deactivatedAt": "2099-01-01"},
                {"providerId": "e", "deactivatedAt": "someday"},
                {"modelName": "nameless"},
                "junk",
            ],
        },
        {"id": "m2", "providers": [{"providerId": "c", "deactivatedAt": "2020-01-01"}]},
        {"id": "custom", "pricing": {"prompt": 1e-6, "completion": True, "request": "0.01"}},
        {"id": ""},
        {"object": "model"},
        3,
    ]
}
LISTED = Listing(models=parse_models(json.dumps(LLMGATEWAY).encode()), headers={}, url="http://h/m")
PLAIN = Listing(models=parse_models(b'{"data":[{"id":"x"},{"id":"vendor/*"}]}'), headers={})
NONE = Listing(headers={})


def wanted(*models: str, **changed: object) -> Wanted:
    form = DIALECTS["llmgateway"].name_form
    return Wanted(models=models, today=TODAY, **{"name_form": form, **changed})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>", id="html"),
        pytest.param(b'"text"', id="text"),
        pytest.param(b'{"data":{"id":"x"}}', id="no-list"),
        pytest.param(b'{"error":true}', id="error"),
    ],
)
def test_what_is_no_list_lists_nothing(body):
    assert parse_models(body) == ()


def test_a_bare_list_is_a_list():
    assert [model.id for model in parse_models(b'[{"id":"x"}]')] == ["x"]


def test_every_active_mapping_is_a_target_by_default():
    targets = make_targets(LISTED, wanted("m1"))
    assert [target.model for target in targets] == ["a/m1", "b/m1", "d/m1", "e/m1"]
    first = targets[0]
    assert first.display_name == "Model One (a)"
    assert first.metadata.context_size == 1000
    assert first.metadata.prices == Prices(
        input_usd=1.5e-7, output_usd=6e-7, source="gateway", as_of="2026-11-30"
    )


def test_a_price_of_zero_is_unknown():
    assert make_targets(LISTED, wanted("m1", mappings=("b",)))[0].metadata.prices is None


def test_an_assumed_price_fills_the_gap_only():
    assumed = Prices(input_usd=1e-6, output_usd=2e-6, source="assumed")
    a, b, *_ = make_targets(LISTED, wanted("m1", assumed=assumed))
    assert a.metadata.prices is not None
    assert a.metadata.prices.source == "gateway"
    assert b.metadata.prices == assumed


def test_regions_are_pinned_in_the_model_string():
    (target,) = make_targets(LISTED, wanted("m1", mappings=("b:us",)))
    assert target.model == "b/m1:us"
    assert (target.metadata.provider, target.metadata.region) == ("b", "us")


def test_deactivated_mappings_are_measured_only_when_asked():
    (target,) = make_targets(LISTED, wanted("m1", mappings=("c",), include_deactivated=True))
    assert target.model == "c/m1:eu"
    assert target.metadata.max_output_tokens == 64
    with pytest.raises(UsageFault, match="every chosen mapping of m2 is deactivated: c"):
        make_targets(LISTED, wanted("m2"))


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        pytest.param("a/m1", "a/m1", id="provider-in-the-name"),
        pytest.param("b/m1:eu", "b/m1:eu", id="region-in-the-name"),
        pytest.param("custom", "custom", id="no-providers"),
    ],
)
def test_a_name_may_pin_its_provider_itself(typed, sent):
    (target,) = make_targets(LISTED, wanted(typed))
    assert target.model == sent


def test_a_request_price_alone_is_kept():
    (target,) = make_targets(LISTED, wanted("custom"))
    assert target.metadata.prices is not None
    assert target.metadata.prices.output_usd is None
    assert target.metadata.prices.request_usd == 0.01


def test_an_unknown_model_is_an_error_with_near_matches():
    with pytest.raises(UnknownName) as caught:
        make_targets(LISTED, wanted("m11"))
    assert "did you mean `m1`" in caught.value.message
    assert caught.value.hint == "`http://h/m` lists what there is"


@pytest.mark.parametrize(
    ("listing", "typed"),
    [
        pytest.param(NONE, "anything/at-all", id="no-list"),
        pytest.param(PLAIN, "vendor/new", id="wildcard"),
        pytest.param(PLAIN, "x", id="listed"),
        pytest.param(
            Listing(models=LISTED.models, headers={"x-gateway-bench-simulator": "1"}),
            "sim-ttft50",
            id="scenario-of-the-simulator",
        ),
    ],
)
def test_where_no_list_knows_better_the_name_is_taken_as_typed(listing, typed):
    (target,) = make_targets(listing, wanted(typed, typed))
    assert (target.id, target.model, target.mapping) == (typed, typed, None)


def test_without_a_list_a_mapping_is_pinned_as_typed():
    (target,) = make_targets(NONE, wanted("m", mappings=("openai:eu",)))
    assert (target.model, target.metadata.provider) == ("openai/m:eu", "openai")
    (by_header,) = make_targets(NONE, wanted("m", mappings=("openai",), name_form=None))
    assert (by_header.model, by_header.id) == ("m", "openai/m")
