import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.resampling import bootstrap_over_cases
from bench.stats import (
    entropy_bits,
    finite,
    mean_of,
    modal_share,
    percentile,
    percentile_interval,
    rate,
    share_of,
    summarize_numbers,
    wilson,
)

numbers = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
many_numbers = st.lists(numbers, min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [
        pytest.param(0.0, 10.0, id="first"),
        pytest.param(0.5, 25.0, id="between the middle two"),
        pytest.param(0.9, 37.0, id="seven tenths from 30 to 40"),
        pytest.param(1.0, 40.0, id="last"),
    ],
)
def test_percentiles_interpolate_linearly(fraction, expected):
    assert percentile([10.0, 20.0, 30.0, 40.0], fraction) == pytest.approx(expected)


@given(many_numbers, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_percentiles_are_monotone_and_stay_inside(values, fractions):
    ordered = sorted(values)
    found = [percentile(ordered, fraction) for fraction in sorted(fractions)]
    assert found == sorted(found)
    assert ordered[0] <= found[0] <= found[-1] <= ordered[-1]


@given(many_numbers)
def test_a_summary_agrees_with_the_standard_library(values):
    summary = summarize_numbers(values)
    assert summary is not None
    assert summary.count == len(values)
    assert summary.p50 == pytest.approx(statistics.median(values), rel=1e-9, abs=1e-3)
    assert summary.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-3)
    assert summary.min <= summary.p50 <= summary.p90 <= summary.max
    if len(values) > 1:
        assert summary.standard_deviation == pytest.approx(
            statistics.stdev(values), rel=1e-6, abs=1e-3
        )


@given(many_numbers | st.lists(st.sampled_from([0.0, 1.5, 1.5000000000000002, 7.0]), min_size=1))
def test_the_median_deviation_is_the_median_of_every_distance_to_the_last_bit(values):
    summary = summarize_numbers(values)
    assert summary is not None
    distances = sorted(abs(value - summary.p50) for value in values)
    assert summary.median_absolute_deviation == percentile(distances, 0.5)


def test_nothing_measured_has_no_summary():
    assert summarize_numbers([]) is None
    assert summarize_numbers([None, None]) is None
    assert summarize_numbers([math.nan, math.inf]) is None


def test_unmeasured_values_are_left_out_not_counted_as_zero():
    summary = summarize_numbers([None, 4.0, 6.0])
    assert summary is not None
    assert (summary.count, summary.mean) == (2, 5.0)


def test_one_value_has_no_spread():
    summary = summarize_numbers([5.0])
    assert summary is not None
    assert (summary.standard_deviation, summary.coefficient_of_variation) == (None, None)
    assert summary.median_absolute_deviation == 0.0


def test_a_mean_of_zero_has_no_coefficient_of_variation():
    summary = summarize_numbers([-1.0, 1.0])
    assert summary is not None
    assert summary.coefficient_of_variation is None


def test_a_vanishing_mean_gives_no_infinite_coefficient():
    summary = summarize_numbers([-1e300, 1e300, 5e-324])
    assert summary is not None
    assert summary.coefficient_of_variation is None or math.isfinite(
        summary.coefficient_of_variation
    )


@pytest.mark.parametrize(
    ("count", "has_p95", "has_p99"),
    [(19, False, False), (20, True, False), (99, True, False), (100, True, True)],
)
def test_far_percentiles_need_enough_values(count, has_p95, has_p99):
    summary = summarize_numbers(map(float, range(count)))
    assert summary is not None
    assert (summary.p95 is not None, summary.p99 is not None) == (has_p95, has_p99)


@pytest.mark.parametrize(("fraction", "fewest"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368)])
def test_an_interval_of_a_percentile_needs_enough_values(fraction, fewest):
    values = list(map(float, range(fewest)))
    assert percentile_interval(values[:-1], fraction) is None
    interval = percentile_interval(values, fraction)
    assert interval is not None
    assert interval[0] <= percentile(values, fraction) <= interval[1]


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [pytest.param(6, 1, 6, id="all of six"), pytest.param(10, 2, 9, id="tables: 2nd to 9th of 10")],
)
def test_the_medians_interval_is_that_of_the_tables(count, low, high):
    assert percentile_interval(list(map(float, range(1, count + 1))), 0.5) == (low, high)


@pytest.mark.parametrize(("fraction", "count"), [(0.5, 25), (0.9, 60), (0.95, 100), (0.99, 500)])
def test_order_statistics_cover_the_percentile_often_enough(fraction, count):
    interval = percentile_interval(list(map(float, range(count))), fraction)
    assert interval is not None
    low, high = int(interval[0]) + 1, int(interval[1]) + 1
    ways = (
        math.comb(count, n) * fraction**n * (1 - fraction) ** (count - n) for n in range(low, high)
    )
    assert sum(ways) >= 0.95


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        pytest.param(5, 10, 0.2366, 0.7634, id="half of ten"),
        pytest.param(0, 10, 0.0, 0.2775, id="none of ten"),
        pytest.param(10, 10, 0.7225, 1.0, id="all of ten"),
        pytest.param(81, 263, 0.2553, 0.3662, id="Newcombe 1998: 81 of 263"),
    ],
)
def test_wilsons_interval_is_that_of_the_literature(hits, of, low, high):
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 500), st.data())
def test_wilsons_interval_holds_the_rate(of, data):
    hits = data.draw(st.integers(0, of))
    interval = wilson(hits, of)
    assert interval is not None
    assert 0 <= interval[0] <= hits / of <= interval[1] <= 1


def test_a_rate_of_none_is_unknown():
    assert rate(0, 0).rate is None
    assert rate(0, 0).interval is None
    assert share_of(0, 0) is None
    assert mean_of([]) is None


def test_a_bootstrap_over_cases_is_repeatable_and_wider_than_over_trials():
    outcomes = {f"case-{n}": [n % 2 == 0] * 10 for n in range(8)}
    interval = bootstrap_over_cases(outcomes)
    assert interval == bootstrap_over_cases(dict(reversed(outcomes.items())))
    over_trials = wilson(40, 80)
    assert interval is not None
    assert over_trials is not None
    assert interval[1] - interval[0] > over_trials[1] - over_trials[0]


def test_one_case_alone_is_not_resampled():
    assert bootstrap_over_cases({"only": [True, False], "empty": []}) == wilson(1, 2)


def test_perfect_agreement_is_not_certainty():
    assert bootstrap_over_cases({"a": [True], "b": [True] * 9}) == wilson(2, 2)
    assert bootstrap_over_cases({"a": [False], "b": [False]}) == wilson(0, 2)


def test_no_verdict_has_no_interval():
    assert bootstrap_over_cases({}) is None
    assert bootstrap_over_cases({"a": []}) is None


def test_entropy_is_in_bits():
    assert entropy_bits("aabb") == pytest.approx(1.0)
    assert entropy_bits("abcd") == pytest.approx(2.0)
    assert entropy_bits("aaaa") == 0.0
    assert entropy_bits("") is None


def test_the_modal_share_needs_two_answers():
    assert modal_share(["x"]) is None
    assert modal_share(["x", "y", "x", "z"]) == 0.5


def test_finite_numbers_come_sorted():
    assert finite([3.0, None, math.nan, -math.inf, 1.0]) == [1.0, 3.0]
