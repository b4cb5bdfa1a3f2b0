import math
from itertools import pairwise
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bench.load.pacing import arrivals, starts
from bench.model.load import Stage


def open_loop(**fields):
    usual: dict[str, Any] = {"rate_per_second": 50.0}
    return Stage(number=1, **usual | fields)


@given(
    seed=st.integers(0, 2**53),
    rate=st.floats(0.1, 1000),
    begin=st.none() | st.floats(0.1, 1000),
    kind=st.sampled_from(["constant", "poisson", "gamma"]),
)
def test_a_schedule_ascends_ends_in_time_and_comes_again(seed, rate, begin, kind):
    stage = open_loop(
        rate_per_second=rate,
        rate_from=begin,
        arrival=kind,
        burstiness=0.7,
        duration_ms=500.0,
        requests=300,
    )
    due = arrivals(stage, seed=seed)
    assert all(earlier <= later for earlier, later in pairwise(due))
    assert len(due) <= 300
    assert all(0 <= at < 500e6 for at in due)
    assert due == arrivals(stage, seed=seed)


def test_constant_gaps_begin_at_once():
    due = arrivals(open_loop(arrival="constant", requests=4), seed=1)
    assert list(due) == [0, 20_000_000, 40_000_000, 60_000_000]


def test_poisson_gaps_are_exponential():
    gaps = numpy.diff(arrivals(open_loop(requests=20_000), seed=7)) / 1e9
    assert stats.kstest(gaps, "expon", args=(0, 1 / 50)).pvalue > 0.001
    assert gaps.mean() == pytest.approx(1 / 50, rel=0.05)


@pytest.mark.parametrize("shape", [0.25, 4.0])
def test_gamma_gaps_have_the_shape_that_was_asked_for(shape):
    stage = open_loop(arrival="gamma", burstiness=shape, requests=20_000)
    gaps = numpy.diff(arrivals(stage, seed=7)) / 1e9
    assert stats.kstest(gaps, "gamma", args=(shape, 0, 1 / (50 * shape))).pvalue > 0.001
    assert gaps.std() / gaps.mean() == pytest.approx(1 / math.sqrt(shape), rel=0.1)


@pytest.mark.parametrize(("begin", "end"), [(10.0, 90.0), (90.0, 10.0), (50.0, 50.0)])
def test_a_ramp_sends_what_lies_under_its_line(begin, end):
    stage = open_loop(
        rate_from=begin, rate_per_second=end, arrival="constant", duration_ms=10_000.0
    )
    due = numpy.array(arrivals(stage, seed=1)) / 1e9
    assert len(due) == pytest.approx((begin + end) / 2 * 10, abs=1)
    half = (begin + (begin + end) / 2) / 2 * 5
    assert (due < 5).sum() == pytest.approx(half, abs=1.5)


def test_a_falling_ramp_ends_where_its_line_does():
    stage = open_loop(rate_from=10.0, rate_per_second=0.001, arrival="constant", duration_ms=1e3)
    assert len(arrivals(stage, seed=1)) == 6


def test_a_trace_comes_as_it_was_recorded():
    assert list(arrivals(Stage(number=1, offsets_ms=(0.0, 1.5)), seed=1)) == [0, 1_500_000]


def test_senders_begin_apart_within_a_second():
    begin = starts(Stage(number=1, concurrency=64))
    assert list(begin[:3]) == [0, 4_000_000, 8_000_000]
    assert starts(Stage(number=1, concurrency=1000))[-1] < 1_000_000_000


def test_warm_ups_begin_closer_together_than_what_is_measured():
    begin = starts(Stage(number=1, concurrency=64), is_warmup=True)
    assert list(begin[:3]) == [0, 1_000_000, 2_000_000]


def test_in_lock_step_all_begin_at_once():
    assert set(starts(Stage(number=1, concurrency=64, lock_step=True))) == {0}


def test_a_ramp_of_senders_takes_its_time():
    stage = Stage(number=1, concurrency=5, concurrency_from=2, duration_ms=4_000.0)
    assert list(starts(stage)) == [0, 4_000_000, 1_000_000_000, 2_000_000_000, 3_000_000_000]
