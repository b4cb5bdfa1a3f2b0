import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.target import Prices, Target, TargetMetadata
from bench.model.trial import Response, ResponseError, Trial, Usage
from bench.money import Cost, Purse, computed_cost_usd, cost_of, reserve_usd, spent_on, total

PRICES = Prices(input_usd=1e-6, output_usd=2e-6, source="catalogue")


def target(prices=PRICES, max_output=None):
    metadata = TargetMetadata(prices=prices, max_output_tokens=max_output)
    return Target(id="t", model="p/m", model_id="m", display_name="m", metadata=metadata)


def trial(cost=None, code=None, status=None):
    error = (
        ResponseError(code=code, seed_code="request_error", message="x", status=status)
        if code
        else None
    )
    return Trial(
        id="t|c|r1",
        target_id="t",
        case_id="c",
        run=1,
        seed=1,
        started_offset_ms=0,
        finished_offset_ms=1,
        outcome="completed",
        response=Response(error=error),
        estimated_cost_usd=cost,
    )


def test_a_reserve_is_bytes_and_the_most_tokens_it_can_answer():
    assert reserve_usd(target=target(), request_bytes=1000, max_tokens=500) == pytest.approx(0.002)


def test_a_reserve_has_the_price_per_request_in_it():
    prices = Prices(input_usd=1e-6, output_usd=2e-6, request_usd=0.5)
    reserve = reserve_usd(target=target(prices), request_bytes=1000, max_tokens=500)
    assert reserve == pytest.approx(0.502)


def test_without_max_tokens_the_catalogues_maximum_bounds_the_answer():
    reserve = reserve_usd(target=target(max_output=100), request_bytes=0, max_tokens=None)
    assert reserve == pytest.approx(0.0002)


@pytest.mark.parametrize(
    ("prices", "max_tokens"),
    [
        pytest.param(None, 1, id="no prices"),
        pytest.param(Prices(output_usd=1.0), 1, id="no input price"),
        pytest.param(Prices(input_usd=1.0), 1, id="no output price"),
        pytest.param(PRICES, None, id="no bound of the answer"),
    ],
)
def test_an_unknown_part_makes_the_reserve_unknown_not_zero(prices, max_tokens):
    assert reserve_usd(target=target(prices), request_bytes=1, max_tokens=max_tokens) is None


@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        pytest.param(None, PRICES, None, id="no usage"),
        pytest.param(Usage(prompt_tokens=1), PRICES, None, id="no completion count"),
        pytest.param(Usage(completion_tokens=1), PRICES, None, id="no prompt count"),
        pytest.param(Usage(prompt_tokens=1, completion_tokens=1), None, None, id="no prices"),
        pytest.param(
            Usage(prompt_tokens=1, completion_tokens=1), Prices(input_usd=1.0), None, id="half"
        ),
        pytest.param(Usage(prompt_tokens=10, completion_tokens=5), PRICES, 20e-6, id="both"),
        pytest.param(
            Usage(prompt_tokens=10, completion_tokens=5, cached_prompt_tokens=10),
            Prices(input_usd=1e-6, output_usd=2e-6, cached_input_usd=1e-7),
            11e-6,
            id="cached at its price",
        ),
        pytest.param(
            Usage(prompt_tokens=10, completion_tokens=5, cached_prompt_tokens=10),
            PRICES,
            20e-6,
            id="cached without a price costs the full one",
        ),
    ],
)
def test_cost_is_counts_times_prices_or_unknown(usage, prices, cost):
    assert computed_cost_usd(usage, prices) == (None if cost is None else pytest.approx(cost))


def test_what_the_gateway_reports_comes_before_the_catalogue():
    usage = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.25)
    cost = cost_of(Response(usage=usage, gateway_cost_usd=0.5), PRICES)
    assert (cost.usd, cost.source) == (0.25, "gateway")
    assert cost.computed_usd == pytest.approx(3e-6)
    bare = Usage(prompt_tokens=1, completion_tokens=1)
    cost = cost_of(Response(usage=bare, gateway_cost_usd=0.5), PRICES)
    assert (cost.usd, cost.source) == (0.5, "gateway")


def test_a_zero_in_a_header_is_not_a_free_answer():
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    cost = cost_of(Response(usage=usage, gateway_cost_usd=0.0), PRICES)
    assert cost.usd == pytest.approx(3e-6)
    assert cost.source == "catalogue"


def test_the_source_of_assumed_prices_is_kept():
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    prices = Prices(input_usd=1.0, output_usd=1.0, source="assumed")
    cost = cost_of(Response(usage=usage), prices)
    assert (cost.usd, cost.source) == (2.0, "assumed")
    assert cost_of(Response(), prices) == Cost()


def test_a_lost_answer_costs_its_whole_reserve():
    assert spent_on(trial(code="idle_timeout"), 0.3) == 0.3
    assert spent_on(trial(cost=0.1), 0.3) == 0.1
    assert spent_on(trial(code="total_timeout"), None) is None


def test_a_request_that_never_left_costs_nothing():
    assert spent_on(trial(code="connect_refused"), 0.3) == 0.0


@pytest.mark.parametrize(
    ("status", "spent"), [(401, 0.0), (404, 0.0), (429, 0.0), (408, 0.3), (499, 0.3), (503, 0.3)]
)
def test_a_refused_request_costs_nothing_and_a_broken_one_its_reserve(status, spent):
    assert spent_on(trial(code=f"http_{status}", status=status), 0.3) == spent
    assert spent_on(trial(code="http_401", status=401), None) == 0.0


def test_the_total_says_how_many_amounts_are_unknown():
    assert total([0.5, None, 0.25, None]) == (0.75, 2)


def test_a_request_that_could_fit_later_waits():
    purse = Purse(limit_usd=1.0)
    assert purse.admit(0.6) == "admitted"
    assert purse.admit(0.6) == "wait"
    purse.settle(0.6, 0.1)
    assert purse.admit(0.6) == "admitted"


def test_a_request_that_can_never_fit_is_refused():
    purse = Purse(limit_usd=1.0, spent_usd=0.7)
    assert purse.admit(0.2) == "admitted"
    assert purse.admit(0.4) == "refused"


def test_nothing_is_sent_on_an_exhausted_limit_even_without_a_bound():
    assert Purse(limit_usd=1.0, spent_usd=1.0).admit(None) == "refused"


def test_without_a_limit_everything_is_admitted_and_counted():
    purse = Purse(limit_usd=None)
    assert purse.admit(5.0) == "admitted"
    assert purse.admit(None) == "admitted"
    purse.settle(5.0, 4.0)
    purse.settle(None, None)
    assert (purse.spent_usd, purse.unknown, purse.reserved_usd) == (4.0, 1, 0.0)


requests = st.lists(st.tuples(st.floats(0, 0.4), st.floats(0, 1)), max_size=40)


@given(requests, st.randoms(use_true_random=False))
def test_in_any_order_of_sends_and_answers_the_limit_holds(pairs, random):
    purse, flying = Purse(limit_usd=1.0), []
    for reserve, share in pairs:
        if purse.admit(reserve) == "admitted":
            flying.append((reserve, share))
        assert purse.spent_usd + purse.reserved_usd <= 1.0 + 1e-9
        if flying and random.random() < 0.5:
            done, part = flying.pop(random.randrange(len(flying)))
            purse.settle(done, done * part)
    for done, part in flying:
        purse.settle(done, done * part)
    assert purse.spent_usd <= 1.0 + 1e-9
    assert purse.reserved_usd == 0.0


def test_the_gateway_s_list_is_not_the_gateway_s_word():
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    listed = Prices(input_usd=1.0, output_usd=1.0, source="gateway")
    assert cost_of(Response(usage=usage), listed).source == "gateway-list"


@pytest.mark.parametrize(
    ("response", "is_other"),
    [
        pytest.param({"cache_hit": True}, None, id="from the gateway's own cache"),
        pytest.param({"fallback": True}, None, id="a fallback answered"),
        pytest.param({}, True, id="another provider answered"),
    ],
)
def test_what_somebody_else_answered_has_no_known_price(response, is_other):
    usage = Usage(prompt_tokens=1, completion_tokens=1)
    assert cost_of(Response(usage=usage, **response), PRICES, is_other=is_other) == Cost()
    told = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.5)
    cost = cost_of(Response(usage=told, **response), PRICES, is_other=is_other)
    assert cost == Cost(usd=0.5, source="gateway", computed_usd=None)
