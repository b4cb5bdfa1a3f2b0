import json

import pytest

from bench.simulator.catalogue import models_body
from bench.simulator.errors import RequestRefused
from bench.simulator.providers import MODELS, PROVIDERS, find_route


@pytest.mark.parametrize(
    ("model", "provider", "region", "answers"),
    [
        pytest.param("demo-small", "fast", None, "demo-small", id="the first offer"),
        pytest.param("slow/demo-small", "slow", None, "demo-small", id="a named provider"),
        pytest.param("fast/demo-small:us", "fast", "us", "demo-small", id="with region"),
        pytest.param("demo-small:eu", "fast", "eu", "demo-small", id="region alone"),
        pytest.param("sim-ttft5-n3", "plain", None, "sim-ttft5-n3", id="a scenario"),
        pytest.param("sim", "plain", None, "sim", id="a scenario without words"),
        pytest.param("slow/sim-n3", "slow", None, "sim-n3", id="words over a personality"),
        pytest.param("openai/sim-n3", "openai", None, "sim-n3", id="a gateway's own provider"),
        pytest.param("a/b/sim-n3:eu", "a/b", "eu", "sim-n3", id="provider with a slash"),
    ],
)
def test_a_model_string_names_who_answers(
    model: str, provider: str, region: str | None, answers: str
) -> None:
    route = find_route(model, any_model=False)
    assert (route.provider, route.region, route.model) == (provider, region, answers)


def test_words_lie_over_the_personality_of_the_provider() -> None:
    scenario = find_route("slow/sim-n3-itl1", any_model=False).scenario
    assert (scenario.ttft_ns, scenario.itl_ns, scenario.tokens) == (400_000_000, 1_000_000, 3)
    assert scenario.right_percent == PROVIDERS["slow"].right_percent


@pytest.mark.parametrize(
    ("model", "status", "said"),
    [
        pytest.param("demo-smal", 404, "did you mean `demo-small`", id="model"),
        pytest.param("fats/demo-small", 404, "did you mean `fast`", id="provider"),
        pytest.param("fast/demo-small:mars", 404, "it has `eu`, `us`", id="region"),
        pytest.param("buffered/demo-small:eu", 404, "it has none", id="no regions"),
        pytest.param("sim-n3-gzp", 400, "did you mean `gzip`", id="scenario word"),
    ],
)
def test_unknown_names_are_refused_with_near_matches(model: str, status: int, said: str) -> None:
    with pytest.raises(RequestRefused) as caught:
        find_route(model, any_model=False)
    assert caught.value.status == status
    assert said in caught.value.message


def test_any_name_is_answered_if_told_so() -> None:
    route = find_route("gpt-4o-mini", any_model=True)
    assert (route.provider, route.model) == ("plain", "gpt-4o-mini")


@pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)
def test_every_personality_is_written_in_known_words(provider: object) -> None:
    assert provider.scenario.right_percent == provider.right_percent  # type: ignore[attr-defined]


def test_the_model_list_has_prices_as_text_and_is_marked() -> None:
    body = json.loads(models_body())
    assert body["simulated"] is True
    assert [model["id"] for model in body["data"]] == list(MODELS)
    small = body["data"][0]
    assert float(small["pricing"]["prompt"]) == 1.5e-7
    assert small["pricing"]["source"] == "simulator"
    assert small["context_length"] == 128_000
    offers = {offer["providerId"]: offer for offer in small["providers"]}
    assert offers["fast"]["regions"] == ["eu", "us"]
    assert offers["flaky"]["stability"] == "unstable"
    assert offers["caching"]["deactivatedAt"] == "2026-06-30T00:00:00Z"
    assert float(offers["limited"]["pricing"]["request"]) == 1e-5


def test_every_offer_can_be_asked_for() -> None:
    for model in json.loads(models_body())["data"]:
        for offer in model["providers"]:
            for region in ("", *(f":{name}" for name in offer["regions"])):
                name = f"{offer['providerId']}/{model['id']}{region}"
                assert find_route(name, any_model=False).model == model["id"]
