import math
import random
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from bench.gates.deciding import Reading, decided, judge, share_to_decide
from bench.gates.gaps import clustered_interval, effective_answers
from bench.gates.throughput import steady_rate
from bench.load.gates import read_gate
from bench.load.sketch import Sketch
from bench.stats import interval_ranks, mean_margin, percentile, wilson

LIMIT = read_gate("ttft.p90=100ms")
LEAST = read_gate("success=90%")


def reading(value, interval, **fields: Any):
    usual: dict[str, Any] = {"target_id": "t", "count": 100, "counted": "answers"}
    return Reading(value=value, interval=interval, **usual | fields)


@pytest.mark.parametrize(
    ("interval", "above", "below"),
    [
        pytest.param((101, 120), "failed", "passed", id="beyond"),
        pytest.param((80, 99), "passed", "failed", id="this side"),
        pytest.param((80, 120), "undecided", "undecided", id="holds it"),
        pytest.param((80, 100), "passed", "undecided", id="up to it"),
        pytest.param((100, 120), "undecided", "passed", id="from it"),
        pytest.param((100, 100), "passed", "passed", id="on it"),
    ],
)
def test_the_whole_interval_decides(interval, above, below):
    assert decided(interval, 100, fails_above=True) == above
    assert decided(interval, 100, fails_above=False) == below


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100), st.booleans())
def test_a_wider_interval_never_turns_a_verdict_around(low, width, more, above):
    narrow = decided((low, low + width), 50, fails_above=above)
    wide = decided((low - more, low + width + more), 50, fails_above=above)
    assert wide in {narrow, "undecided"}


def test_an_undecided_gate_names_the_sample_that_would_decide():
    found = judge(LIMIT, reading(90.0, (70.0, 110.0)))
    assert (found.verdict, found.why) == ("undecided", "the 95% interval holds the limit")
    assert found.count_to_decide == 400  # half the width on that side: four times as many
    assert judge(LIMIT, reading(110.0, (90.0, 130.0))).count_to_decide == 400
    assert judge(LIMIT, reading(100.0, (90.0, 130.0))).count_to_decide is None


def test_a_hopeless_number_is_not_advised():
    assert judge(LIMIT, reading(99.9999, (10.0, 190.0))).count_to_decide is None


def test_too_few_for_an_interval_say_how_many_it_takes():
    found = judge(LIMIT, reading(50.0, None, count=35, fewest=36))
    assert (found.verdict, found.count_to_decide) == ("undecided", 36)
    assert found.why == "35 answers are too few for an interval, which takes 36"
    assert judge(LIMIT, reading(50.0, None)).count_to_decide is None


def test_nothing_measured_is_undecided_and_not_passed():
    found = judge(LIMIT, reading(None, None, count=0))
    assert (found.verdict, found.value) == ("undecided", None)
    assert found.why == "nothing was measured that has this figure"
    assert judge(LIMIT, reading(None, None, count=0, unshown="no part")).why == "no part"


def test_what_is_spoiled_decides_nothing_either_way():
    for interval in ((1.0, 2.0), (900.0, 901.0)):
        found = judge(LIMIT, reading(interval[0], interval, spoiled="the machine slept"))
        assert (found.verdict, found.why) == ("undecided", "the machine slept")


def test_what_is_hidden_stops_a_pass_and_no_fail():
    assert judge(LIMIT, reading(1.0, (0.0, 2.0), unshown="half failed")).why == "half failed"
    assert judge(LIMIT, reading(900.0, (800.0, 950.0), unshown="x")).verdict == "failed"


@pytest.mark.parametrize(("share", "bound"), [(1.0, 0.99), (0.97, 0.95), (0.5, 0.6), (0.0, 0.01)])
def test_the_number_of_requests_that_is_named_does_decide(share, bound):
    needed = share_to_decide(share, bound)
    assert needed is not None
    more = round(needed * 1.1)  # a share of so many is a whole number of hits: a little apart
    low, high = wilson(round(share * more), more) or (0, 1)
    assert not low <= bound <= high
    fewer = needed // 2
    low, high = wilson(round(share * fewer), fewer) or (0, 1)
    assert low <= bound <= high


def test_all_of_all_is_shown_by_no_number():
    assert share_to_decide(1.0, 1.0) is None
    found = judge(LEAST, reading(0.95, (0.89, 0.98), is_share=True))
    assert found.count_to_decide is not None
    assert found.count_to_decide > 100


# ---- gaps ----------------------------------------------------------------------------------------


def test_answers_of_one_length_count_each_and_unequal_ones_less():
    assert effective_answers([10, 10, 10]) == 3
    assert effective_answers([100, 1, 1]) == 1
    assert effective_answers([]) == effective_answers([0]) == 0


def test_a_percentile_of_gaps_needs_as_many_answers_as_one_of_times():
    ordered = [float(n) for n in range(10_000)]
    assert clustered_interval(lambda f: percentile(ordered, f), 367, 0.99) is None
    low, high = clustered_interval(lambda f: percentile(ordered, f), 368, 0.99) or (0, 0)
    assert low < 9_899 < high


def test_an_empty_sketch_has_no_interval():
    assert clustered_interval(Sketch().percentile, 50, 0.5) is None


def test_intervals_of_gaps_hold_the_truth_although_gaps_of_an_answer_are_alike():
    """Answers whose gaps are all the same: the worst case that there is."""
    draws, hits = random.Random(4), 0
    for _ in range(200):
        pooled = sorted(value for _ in range(60) for value in [draws.random()] * 20)
        low, high = clustered_interval(partial(percentile, pooled), 60, 0.9) or (0, 0)
        hits += low <= 0.9 <= high
    assert hits >= 184  # 95 % less three deviations


def test_ranks_are_those_that_enclose_a_percentile():
    assert interval_ranks(5, 0.5) is None
    low, high = interval_ranks(36, 0.9) or (0, 0)
    assert low < 32 < high == 35


# ---- throughput -----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [6, 10, 30])
def test_the_margin_of_a_mean_is_students(count):
    values = [float((n * 7) % 11) for n in range(count)]
    low, high = scipy_stats.t.interval(0.95, count - 1, loc=0, scale=scipy_stats.sem(values))
    assert mean_margin(values) == pytest.approx((high - low) / 2, rel=2e-3)


def test_a_steady_rate_is_sure_to_one_answer_in_the_window():
    rate, count, interval = steady_rate((10.0 * n for n in range(1, 1001)), (0.0, 10_000.0))
    assert (rate, count) == (100.0, 1000)
    low, high = interval or (0, 0)
    assert high - rate == pytest.approx(rate - low)
    assert 0.1 <= high - rate < 1.0


def test_few_answers_have_a_rate_and_no_interval():
    assert steady_rate([100.0] * 49, (0.0, 1000.0)) == (49.0, 49, None)
    assert steady_rate([0.0, 1000.5], (0.0, 1000.0)) == (0.0, 0, None)


def test_answers_in_waves_make_a_rate_less_sure():
    even = steady_rate((10.0 * n for n in range(1, 601)), (0.0, 6_000.0))[2]
    waves = steady_rate((1000.0 * math.ceil(n / 100) for n in range(1, 601)), (0.0, 6_000.0))[2]
    assert even is not None
    assert waves is not None
    assert waves[1] - waves[0] > even[1] - even[0]


def test_intervals_of_a_random_rate_hold_the_truth():
    draws, hits = random.Random(9), 0
    for _ in range(200):
        at, ends = 0.0, []
        while at < 10_000:
            at += draws.expovariate(1 / 50)
            ends.append(at)
        low, high = steady_rate(ends, (0.0, 10_000.0))[2] or (0, 0)
        hits += low <= 20 <= high
    assert hits >= 180
