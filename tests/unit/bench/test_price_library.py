"""Against the installed library itself: our prices give the costs that it computes."""

import sys
from datetime import UTC, datetime, timedelta

import genai_prices
import pytest
from genai_prices.data import providers
from hypothesis import given
from hypothesis import strategies as st

from bench.model.trial import Usage
from bench.money import computed_cost_usd
from bench.price_library import SOURCE, PriceLibrary, Wanted

LOCAL = "http://127.0.0.1:4000/v1/chat/completions"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODELS = [(provider.id, model.id) for provider in providers for model in provider.models]


@pytest.fixture(scope="module")
def library():
    found = PriceLibrary.load()
    assert found is not None
    return found


def wanted(model, *, provider=None, url=LOCAL):
    return Wanted(model=model, model_id=model.rpartition("/")[2], provider=provider, url=url)


@pytest.mark.parametrize(
    ("ask", "entry"),
    [
        pytest.param(wanted("gpt-4o"), "openai/gpt-4o, by its name", id="by name"),
        pytest.param(wanted("openai/gpt-4o"), "openai/gpt-4o", id="by the provider before it"),
        pytest.param(wanted("azure/gpt-4o", provider="azure"), "azure/gpt-4o", id="pinned"),
        pytest.param(
            wanted("openai/gpt-4o", url="https://openrouter.ai/api/v1/chat/completions"),
            "openrouter/openai/gpt-4o",
            id="by the address",
        ),
    ],
)
def test_a_price_says_where_it_comes_from(library, ask, entry):
    found = library.find(ask, at=NOON)
    assert found is not None
    assert found.source == SOURCE
    assert found.source_detail == f"{library.version}: {entry}"


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(wanted("sim-42"), id="nobody's model"),
        pytest.param(
            wanted("gpt-4o", provider="nobody-knows"), id="another one's price is a guess"
        ),
        pytest.param(wanted("nobody-knows/gpt-4o"), id="the same, typed"),
        pytest.param(wanted("dall-e-3", provider="openai"), id="not priced by tokens"),
    ],
)
def test_what_it_does_not_know_has_no_price(library, ask):
    assert library.find(ask, at=NOON) is None


def test_without_the_extra_there_is_no_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert PriceLibrary.load() is None


def test_a_price_that_changed_is_that_of_the_day(library):
    ask = wanted("openai/o3")
    early = library.find(ask, at=datetime(2025, 1, 1, tzinfo=UTC))
    now = library.find(ask, at=NOON)
    assert early.input_usd > now.input_usd


def test_steps_and_hours_arrive(library):
    steps = library.find(wanted("google/gemini-2.5-pro"), at=NOON)
    assert [tier.above_prompt_tokens for tier in steps.tiers] == [200_000]
    hours = library.find(wanted("deepseek/deepseek-flash"), at=NOON)
    assert [(window.begins, window.ends) for window in hours.windows] == [
        ("01:00", "04:00"),
        ("06:00", "10:00"),
    ]


@given(
    where=st.sampled_from(MODELS),
    counts=st.tuples(st.integers(1, 400_000), st.integers(0, 50_000)),
    cached=st.integers(0, 200_000),
    minutes=st.integers(0, 24 * 60 - 1),
)
def test_our_costs_are_the_library_s(library, where, counts, cached, minutes):
    provider, model = where
    prompt, completion = counts
    cached = min(cached, prompt)
    moment = NOON.replace(hour=0) + timedelta(minutes=minutes)
    ask = Wanted(model=f"{provider}/{model}", model_id=model, provider=provider, url=LOCAL)
    found = library.find(ask, at=moment)
    if found is None:
        return
    usage = Usage(prompt_tokens=prompt, completion_tokens=completion, cached_prompt_tokens=cached)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=prompt, output_tokens=completion, cache_read_tokens=cached),
        model,
        provider_id=provider,
        genai_request_timestamp=moment,
    )
    ours = computed_cost_usd(usage, found, at=moment)
    if any(price == 0 for price in vars(theirs.model_price).values()):
        return  # a price of 0 counts as unknown here
    assert ours == pytest.approx(float(theirs.total_price), rel=1e-9)
