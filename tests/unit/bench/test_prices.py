from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.target import Prices, PriceTier, PriceWindow, Target, TargetMetadata
from bench.model.trial import Usage
from bench.money import computed_cost_usd, reserve_usd
from bench.prices import dearest, rates, tokens_usd

STEPS = Prices(
    input_usd=1.0,
    output_usd=10.0,
    cached_input_usd=0.1,
    tiers=(
        PriceTier(above_prompt_tokens=100, input_usd=2.0, output_usd=20.0),
        PriceTier(above_prompt_tokens=1000, input_usd=4.0),
    ),
)
NIGHT = Prices(
    input_usd=2.0,
    output_usd=4.0,
    windows=(PriceWindow(begins="16:30", ends="00:30", input_usd=1.0, output_usd=2.0),),
)


def at(hour, minute=0):
    return datetime(2026, 1, 1, hour, minute, tzinfo=UTC)


def cost(prices, *, moment=None, **counts):
    return tokens_usd(Usage(**counts), prices, at=moment)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param(100, 100 * 1.0 + 10.0, id="the step itself is below"),
        pytest.param(101, 101 * 2.0 + 20.0, id="one token more costs more for all"),
        pytest.param(1001, 1001 * 4.0 + 10.0, id="what a step leaves open is as below all steps"),
    ],
)
def test_the_length_of_the_prompt_chooses_the_step_for_all_tokens(prompt, expected):
    assert cost(STEPS, prompt_tokens=prompt, completion_tokens=1) == pytest.approx(expected)


def test_cached_tokens_count_for_the_step_and_cost_their_own_price():
    found = cost(STEPS, prompt_tokens=101, completion_tokens=0, cached_prompt_tokens=100)
    assert found == pytest.approx(1 * 2.0 + 100 * 0.1)


@pytest.mark.parametrize(
    ("moment", "price"),
    [
        pytest.param(at(12), 2.0, id="day"),
        pytest.param(at(16, 30), 1.0, id="begins"),
        pytest.param(at(0, 29), 1.0, id="past midnight"),
        pytest.param(at(0, 30), 2.0, id="ended"),
    ],
)
def test_the_hour_chooses_the_window(moment, price):
    found = rates(NIGHT, prompt_tokens=1, at=moment)
    assert found is not None
    assert found.input_usd == price


def test_the_last_open_window_counts():
    both = Prices(
        windows=(
            PriceWindow(begins="01:00", ends="04:00", input_usd=1.0),
            PriceWindow(begins="02:00", ends="03:00", input_usd=3.0),
        )
    )
    found = rates(both, prompt_tokens=1, at=at(2))
    assert found is not None
    assert found.input_usd == 3.0


def test_an_unknown_hour_makes_the_cost_unknown():
    assert rates(NIGHT, prompt_tokens=1, at=None) is None
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    assert computed_cost_usd(usage, NIGHT) is None
    assert computed_cost_usd(usage, NIGHT, at=at(12)) == 6.0


def test_reasoning_has_its_own_price_or_that_of_the_output():
    apart = Prices(input_usd=0.0, output_usd=1.0, reasoning_usd=3.0)
    counts = {"prompt_tokens": 1, "completion_tokens": 10, "reasoning_tokens": 4}
    assert cost(apart, **counts) == 6 * 1.0 + 4 * 3.0
    assert cost(Prices(input_usd=0.0, output_usd=1.0), **counts) == 10.0


def test_writing_into_the_cache_has_a_price_or_makes_the_cost_unknown():
    counts = {"prompt_tokens": 10, "completion_tokens": 0, "cache_write_tokens": 4}
    written = Prices(input_usd=1.0, output_usd=1.0, cache_write_usd=1.25)
    assert cost(written, **counts) == 6 * 1.0 + 4 * 1.25
    assert cost(Prices(input_usd=1.0, output_usd=1.0), **counts) is None


def test_what_is_written_for_an_hour_has_its_own_price_or_makes_the_cost_unknown():
    counts = {"prompt_tokens": 10, "completion_tokens": 0, "cache_write_tokens": 4}
    short = Prices(input_usd=1.0, output_usd=1.0, cache_write_usd=1.25)
    both = Prices(input_usd=1.0, output_usd=1.0, cache_write_usd=1.25, cache_write_1h_usd=2.0)
    assert cost(both, **counts, cache_write_1h_tokens=3) == 6 * 1.0 + 1 * 1.25 + 3 * 2.0
    assert cost(short, **counts, cache_write_1h_tokens=3) is None
    assert cost(short, **counts, cache_write_1h_tokens=0) == 6 * 1.0 + 4 * 1.25
    longest = Prices(input_usd=1.0, output_usd=1.0, cache_write_1h_usd=2.0)
    assert cost(longest, **counts, cache_write_1h_tokens=4) == 6 * 1.0 + 4 * 2.0


PRICE = st.floats(0, 1e-3)
TIER = st.builds(
    PriceTier,
    above_prompt_tokens=st.integers(0, 5000),
    input_usd=st.none() | PRICE,
    output_usd=st.none() | PRICE,
    cached_input_usd=st.none() | PRICE,
    cache_write_usd=st.none() | PRICE,
    reasoning_usd=st.none() | PRICE,
)
TIERS = st.lists(TIER, max_size=2).map(
    lambda tiers: tuple(sorted(tiers, key=lambda tier: tier.above_prompt_tokens))
)
HOURS = st.integers(0, 23).map(lambda hour: f"{hour:02d}:00")
WINDOW = st.builds(
    PriceWindow, begins=HOURS, ends=HOURS, input_usd=PRICE, output_usd=PRICE, tiers=TIERS
)


@given(
    prices=st.builds(
        Prices,
        input_usd=PRICE,
        output_usd=PRICE,
        cached_input_usd=st.none() | PRICE,
        cache_write_usd=st.none() | PRICE,
        cache_write_1h_usd=st.none() | PRICE,
        reasoning_usd=st.none() | PRICE,
        request_usd=st.none() | PRICE,
        tiers=TIERS,
        windows=st.lists(WINDOW, max_size=2).map(tuple),
    ),
    counts=st.tuples(*[st.integers(0, 5000)] * 6),
    hour=st.integers(0, 23),
)
def test_no_answer_within_its_bounds_costs_more_than_its_reserve(prices, counts, hour):
    prompt, completion, cached, written, for_an_hour, reasoning = counts
    usage = Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_prompt_tokens=cached,
        cache_write_tokens=written,
        cache_write_1h_tokens=for_an_hour,
        reasoning_tokens=reasoning,
    )
    spent = computed_cost_usd(usage, prices, at=at(hour))
    target = Target(
        id="t", model="m", model_id="m", display_name="m", metadata=TargetMetadata(prices=prices)
    )
    reserve = reserve_usd(target=target, request_bytes=prompt, max_tokens=completion)
    assert reserve is not None
    if spent is not None:
        assert spent <= reserve + 1e-9


@pytest.mark.parametrize(
    ("prices", "bounds"),
    [
        pytest.param(Prices(output_usd=1.0), (None, 1.0), id="no input price"),
        pytest.param(Prices(input_usd=1.0), (1.0, None), id="no output price"),
        pytest.param(STEPS, (2.0, 20.0), id="steps within reach"),
        pytest.param(NIGHT, (2.0, 4.0), id="the dearest hour"),
        pytest.param(
            Prices(
                input_usd=1.0,
                output_usd=1.0,
                windows=(PriceWindow(begins="01:00", ends="02:00", input_usd=1.0),),
            ),
            (1.0, None),
            id="unknown in one hour is unknown",
        ),
    ],
)
def test_a_bound_is_the_dearest_that_can_be_met_or_none(prices, bounds):
    assert dearest(prices, most_prompt_tokens=1000) == bounds
