from random import Random
from typing import TypeVar

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from bench.paired.differences import (
    FEWEST_PAIRS,
    fewest_pairs,
    median,
    median_interval,
    pairs_to_decide,
    smallest_detectable,
    spread,
)

_Known = TypeVar("_Known")


def known(value: _Known | None) -> _Known:
    """Return what has to be there."""
    assert value is not None
    return value


DIFFERENCES = st.lists(st.floats(-1e6, 1e6), min_size=FEWEST_PAIRS, max_size=40)


@given(DIFFERENCES)
def test_the_interval_holds_the_median(differences):
    low, high = known(median_interval(differences, rounds=50))
    assert low <= known(median(differences)) <= high


@given(DIFFERENCES, st.integers(-1000, 1000))
def test_what_is_added_to_every_pair_moves_the_interval_by_as_much(differences, added):
    low, high = known(median_interval(differences, rounds=50))
    moved = known(median_interval([value + added for value in differences], rounds=50))
    assert moved == pytest.approx((low + added, high + added), abs=1e-6, rel=1e-9)


@given(DIFFERENCES)
def test_sides_that_change_places_turn_the_figures_round(differences):
    turned = [-value for value in differences]
    assert median(turned) == pytest.approx(-known(median(differences)))
    assert spread(turned) == pytest.approx(spread(differences))


@pytest.mark.parametrize("count", range(1, FEWEST_PAIRS))
def test_too_few_pairs_have_no_interval(count):
    assert median_interval([float(n) for n in range(count)]) is None
    assert smallest_detectable([float(n) for n in range(count)]) is None


def test_fewest_pairs_are_those_whose_extremes_enclose_the_median_often_enough():
    assert scipy_stats.binom.cdf(0, FEWEST_PAIRS, 0.5) <= 0.025
    assert scipy_stats.binom.cdf(0, FEWEST_PAIRS - 1, 0.5) > 0.025


def test_the_interval_is_scipys_bootstrap_where_there_are_many_pairs():
    values = list(numpy.random.default_rng(1).normal(5.0, 1.0, 400))
    low, high = known(median_interval(values))
    theirs = scipy_stats.bootstrap(
        (values,), numpy.median, method="percentile", rng=numpy.random.default_rng(2)
    ).confidence_interval
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_of_chance_alone_few_intervals_leave_zero_out():
    random = Random(5)
    missed = 0
    for _ in range(200):
        differences = [random.gauss(0, 1) for _ in range(12)]
        low, high = known(median_interval(differences, rounds=200))
        missed += not low <= 0 <= high
    assert missed <= 16  # 5 % of 200, and as much again as chance allows


def test_a_higher_confidence_has_a_wider_interval():
    random = Random(3)
    values = [random.gauss(0, 1) for _ in range(30)]
    low, high = known(median_interval(values))
    wider = known(median_interval(values, confidence=0.99))
    assert wider[0] <= low
    assert high <= wider[1]


def test_the_spread_is_robust_against_one_stall():
    assert known(spread([1.0, 1.1, 0.9, 1.05, 0.95, 500.0])) < 0.2
    assert spread([1.0, 1.0, 1.0, 1.0, 9.0]) == pytest.approx(3.577, abs=1e-3)
    assert spread([1.0]) is None


def test_four_times_the_pairs_show_half_the_difference():
    random = Random(1)
    few = [random.gauss(0, 1) for _ in range(50)]
    assert smallest_detectable(few * 4) == pytest.approx(
        known(smallest_detectable(few)) / 2, rel=0.01
    )


def test_a_difference_of_the_smallest_detectable_size_is_found_in_four_of_five_runs():
    random = Random(7)
    count, found = 40, 0
    size = 1.253 * 2.802 / count**0.5
    for _ in range(200):
        low, _high = known(
            median_interval([random.gauss(size, 1) for _ in range(count)], rounds=200)
        )
        found += low > 0
    assert 130 <= found <= 190


def test_more_pairs_are_needed_for_a_smaller_difference():
    random = Random(2)
    values = [random.gauss(0.5, 1) for _ in range(20)]
    assert known(pairs_to_decide(values)) > 20
    assert pairs_to_decide(values, bound=-5.0) == FEWEST_PAIRS
    assert pairs_to_decide([1.0]) is None
    assert pairs_to_decide([0.0, 0.0, 0.0]) is None


@pytest.mark.parametrize(("confidence", "fewest"), [(0.95, 6), (1 - 0.05 / 3, 7), (0.99, 8)])
def test_the_fewest_pairs_are_those_from_which_on_there_is_an_interval(confidence, fewest):
    assert fewest_pairs(confidence) == fewest
    values = [float(n) for n in range(fewest)]
    assert median_interval(values, confidence=confidence) is not None
    assert median_interval(values[1:], confidence=confidence) is None
