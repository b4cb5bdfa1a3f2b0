"""Shares of a stage: together they are the whole, whatever their number."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.load.pacing import arrivals, starts
from bench.load.sharing import ALONE, most_shares, number_of, part_of, share_of, turns_of
from bench.load.sketch import Sketch
from bench.model.fleet import Share
from bench.model.load import Stage


@given(total=st.integers(0, 10_000), count=st.integers(1, 64))
def test_parts_are_the_whole_and_differ_by_one_at_most(total, count):
    parts = [part_of(total, Share(index=index, count=count)) for index in range(count)]
    assert sum(parts) == total
    assert max(parts) - min(parts) <= 1


@given(length=st.integers(0, 200), count=st.integers(1, 9))
def test_turns_and_numbers_meet_each_arrival_once(length, count):
    row = array("q", range(length))
    seen = []
    for index in range(count):
        share = Share(index=index, count=count)
        for ordinal, at in enumerate(turns_of(row, share), start=1):
            assert number_of(ordinal, share) == at + 1
            seen.append(at)
    assert sorted(seen) == list(row)


def test_an_undivided_stage_is_left_as_it_is():
    stage = Stage(number=1, concurrency=8, requests=80, warmups=3)
    assert share_of(stage, ALONE) is stage


@pytest.mark.parametrize(
    ("stage", "wanted", "most"),
    [
        pytest.param(Stage(number=1, concurrency=8), 4, 4, id="enough places"),
        pytest.param(Stage(number=1, concurrency=2), 4, 2, id="fewer places"),
        pytest.param(Stage(number=1, concurrency=9, requests=3), 4, 3, id="fewer requests"),
        pytest.param(Stage(number=1, rate_per_second=5.0), 4, 4, id="no bound"),
    ],
)
def test_no_share_is_left_without_anything(stage, wanted, most):
    assert most_shares(stage, wanted) == most
    for index in range(most):
        share = share_of(stage, Share(index=index, count=most))
        assert share.concurrency is None or share.concurrency >= 1
        assert share.requests is None or share.requests >= 1


def test_shares_of_a_schedule_are_computed_from_the_seed_alone():
    stage = Stage(number=1, rate_per_second=50.0, requests=100)
    whole = arrivals(stage, seed=7)
    halves = [turns_of(arrivals(stage, seed=7), Share(index=i, count=2)) for i in (0, 1)]
    assert sorted([*halves[0], *halves[1]]) == list(whole)
    assert len(turns_of(starts(Stage(number=1, concurrency=5)), Share(index=1, count=2))) == 2


@given(st.lists(st.floats(0, 1e6), max_size=50), st.lists(st.floats(0, 1e6), max_size=50))
def test_merged_sketches_are_the_sketch_of_both(left, right):
    apart, whole = Sketch(), Sketch()
    other = Sketch()
    apart.extend(left)
    other.extend(right)
    apart.merge(other.buckets())
    for value in (*left, *right):
        whole.add(value)
    assert apart.count == whole.count
    assert apart.percentile(0.5) == whole.percentile(0.5)
    assert apart.percentile(0.99) == whole.percentile(0.99)
    assert (apart.smallest, apart.largest) == (whole.smallest, whole.largest)
