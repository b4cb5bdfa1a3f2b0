import pytest

from bench.model.summary import Rate
from bench.report.charts import axis
from bench.report.figures import (
    counted,
    duration,
    ms,
    ms_range,
    percent,
    percent_range,
    rate_detail,
    sample_detail,
    usd,
)
from bench.stats import rate, summarize_numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0.00"),
        (1.234, "1.23"),
        (45.67, "45.7"),
        (1234.5, "1,234"),
        (-3, "-3.00"),
    ],
)
def test_milliseconds_have_about_three_digits(value, text):
    assert ms(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        pytest.param(None, "-", id="unknown"),
        pytest.param(0.0, "0%", id="none"),
        pytest.param(1.0, "100%", id="all"),
        pytest.param(0.857, "86%", id="some"),
        pytest.param(0.9996, "99.96%", id="not all"),
        pytest.param(0.001, "0.1%", id="not none"),
        pytest.param(1e-9, "< 0.001%", id="next to none"),
        pytest.param(1 - 1e-9, "> 99.999%", id="next to all"),
    ],
)
def test_only_exactly_none_or_all_is_shown_so(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "$0"), (0.0000881, "$0.0000881"), (0.123, "$0.123"), (1234.5, "$1,234.50")],
)
def test_dollars_keep_three_digits(value, text):
    assert usd(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(250, "250 ms"), (4_200, "4.2 s"), (90_000, "1 min 30 s"), (7_260_000, "2 h 1 min")],
)
def test_spans_are_in_the_unit_that_suits(value, text):
    assert duration(value) == text


def test_intervals_stand_beside_their_figures():
    assert rate_detail(rate(6, 7)) == "6 of 7, 49 to 97%"
    assert rate_detail(Rate(hits=0, of=0, rate=None, interval=None)) == ""
    assert percent_range(None) == ""
    assert ms_range((1.0, 2.0)) == "1.00 to 2.00"
    assert sample_detail(summarize_numbers([1.0, 2.0])) == "of 2"
    assert sample_detail(summarize_numbers([10, 20, 30, 40, 50, 60])) == "of 6, 10.0 to 60.0"
    assert sample_detail(None) == ""


def test_nouns_agree_with_their_number():
    assert (counted(1, "trial"), counted(2_000, "trial")) == ("1 trial", "2,000 trials")


@pytest.mark.parametrize("largest", [0.37, 1.0, 99.0, 1_000.0, 1_234.0, 98_765.0])
def test_an_axis_begins_at_zero_and_holds_the_largest(largest):
    end, ticks = axis(largest)
    assert end >= largest
    assert ticks[0].x == 0
    assert ticks[-1].x == pytest.approx(100)
    assert 2 <= len(ticks) <= 6


def test_an_axis_of_nothing_is_no_division_by_zero():
    assert axis(0.0) == (1.0, axis(0.0)[1])
