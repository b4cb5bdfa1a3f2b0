"""Money in slices: topped up in time, refused only when there is no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.money import Purse
from bench.runner.gathering import Dealer


def sliced(limit):
    asked: list[float] = []
    return Purse(limit_usd=limit, ask=asked.append), asked


def test_more_is_asked_for_once_half_a_slice_is_gone():
    purse, asked = sliced(1.0)
    assert purse.admit(0.4) == "admitted"
    assert asked == []
    assert purse.admit(0.2) == "admitted"
    assert asked == [0.0]
    assert purse.admit(0.1) == "admitted"
    assert asked == [0.0], "the same slice is asked for once"
    purse.grant(2.0, is_last=False)
    assert purse.admit(0.9) == "admitted"
    assert asked == [0.0, 0.0]


def test_what_does_not_fit_waits_until_the_last_slice_has_come():
    purse, asked = sliced(1.0)
    assert purse.admit(1.5) == "wait"
    assert asked == [0.5]
    purse.grant(1.2, is_last=True)
    assert purse.admit(1.5) == "refused"
    assert purse.admit(1.1) == "admitted"
    assert purse.left_usd == pytest.approx(0.1)


def test_without_a_limit_nothing_is_asked():
    purse, asked = sliced(None)
    assert purse.admit(100.0) == "admitted"
    assert (asked, purse.left_usd) == ([], None)
    assert Dealer(left_usd=None).first([1, 2]) is None


@given(
    left=st.floats(0.0, 100.0),
    asks=st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.floats(0.0, 20.0)), max_size=40),
)
def test_slices_together_never_pass_what_is_left(left, asks):
    dealer = Dealer(left_usd=left)
    slices = dealer.first([1, 2, 3])
    assert slices is not None
    for number, least in asks:
        before = dealer.slices[number]
        after, _ = dealer.more(number, least)
        assert after >= before
        assert sum(dealer.slices.values()) <= left * (1 + 1e-9) + 1e-9


def test_asking_comes_to_an_end():
    dealer = Dealer(left_usd=1.0)
    dealer.first([1, 2])
    ends = [dealer.more(1, 0.0)[1] for _ in range(32)]
    assert True in ends
    assert sum(dealer.slices.values()) == pytest.approx(1.0)
