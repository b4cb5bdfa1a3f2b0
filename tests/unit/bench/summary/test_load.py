import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.summary import Evidence, summarize
from bench.summary.load import busy_seconds, load_curve
from tests.sample_documents import FAST, PATH, SLOW, STREAM, response, timing, trial
from tests.sample_load import FOUR, LEVELS, ONE, TWO, failed, level, slowing_trials, wave


def curve_of(*trials, cases=LEVELS):
    return load_curve(FAST.id, trials, cases)


def test_the_worked_example_of_the_documentation():
    curve = curve_of(*slowing_trials())
    assert curve is not None
    one, two, four = curve.points
    assert [point.concurrency for point in curve.points] == [1, 2, 4]
    assert [point.degradation for point in curve.points] == [1.0, 1.0, 3.0]
    assert [point.ttft_degradation for point in curve.points] == pytest.approx([1.0, 1.2, 4.0])
    assert [point.answers_per_second for point in curve.points] == pytest.approx([2, 4, 4 / 1.5])
    assert [point.mean_in_flight for point in curve.points] == pytest.approx([1, 2, 4])
    assert (one.total_p50_ms, two.ttft_p50_ms, four.total_p50_ms) == (500, 60, 1_500)
    # From the first start to the last end lie 10 s, in 1 s of which something was in flight.
    assert two.achieved_requests_per_second == pytest.approx(0.4)
    assert two.requests_per_second == pytest.approx(4)
    assert (curve.saturation_concurrency, curve.saturation_reason) == (4, "degradation")


def test_failures_saturate_before_times_do():
    trials = [
        *wave(ONE, [0.0, 500.0], total_ms=500.0),
        *wave(TWO, [1_000.0 + 600 * n for n in range(9)], total_ms=500.0),
        failed(TWO, 10, 9_000.0),
    ]
    curve = curve_of(*trials)
    assert curve is not None
    assert (curve.saturation_concurrency, curve.saturation_reason) == (2, "success")
    point = curve.points[1]
    assert (point.attempted, point.succeeded, point.success_rate) == (10, 9, 0.9)
    assert point.answers_per_second is not None
    assert point.requests_per_second == pytest.approx(point.answers_per_second * 10 / 9)


def test_exactly_95_per_cent_and_just_below_twice_as_slow_are_no_saturation():
    trials = [
        *wave(ONE, [0.0], total_ms=500.0),
        *wave(TWO, [1_000.0 * n for n in range(1, 20)], total_ms=999.0),
        failed(TWO, 20, 30_000.0),
    ]
    curve = curve_of(*trials)
    assert curve is not None
    assert curve.points[1].success_rate == 0.95
    assert (curve.saturation_concurrency, curve.saturation_reason) == (None, None)
    twice = curve_of(*wave(ONE, [0.0], total_ms=500.0), *wave(TWO, [0.0], total_ms=1_000.0))
    assert twice is not None
    assert twice.saturation_concurrency == 2


def test_the_base_is_the_lowest_concurrency_that_was_measured():
    curve = curve_of(
        *wave(FOUR, [0.0], total_ms=900.0),
        *wave(TWO, [0.0], total_ms=600.0),
        cases=(FOUR, TWO, ONE),
    )
    assert curve is not None
    assert [(p.concurrency, p.degradation) for p in curve.points] == [(2, 1.0), (4, 1.5)]


def test_a_cold_point_is_not_compared_with_a_warm_one():
    cold = response(timing(200.0, 5_000.0), connection="cold")
    curve = curve_of(
        *wave(ONE, [0.0], total_ms=500.0),
        *wave(TWO, [600.0], total_ms=5_000.0, response=cold),
    )
    assert curve is not None
    assert [point.connection for point in curve.points] == ["warm", "cold"]
    assert curve.points[1].degradation is None
    assert curve.saturation_concurrency is None


def test_a_point_where_everything_failed_has_no_time_and_is_saturated():
    curve = curve_of(failed(ONE, 1, 0.0), *wave(TWO, [100.0], total_ms=500.0))
    assert curve is not None
    first, second = curve.points
    assert (first.total_p50_ms, first.degradation, first.answers_per_second) == (None, None, 0.0)
    assert second.degradation is None
    assert (curve.saturation_concurrency, curve.saturation_reason) == (1, "success")


def test_no_time_passed_is_no_rate():
    curve = curve_of(trial(case=ONE, started_offset_ms=5.0, finished_offset_ms=5.0))
    assert curve is not None
    assert curve.points[0].requests_per_second is None
    assert curve.points[0].mean_in_flight is None


def test_only_load_points_of_performance_cases_are_points():
    quality = level(2, kind="quality")
    older = level(1, is_load_point=False)
    user = level(8, is_load_point=False)
    assert curve_of(trial(case=STREAM), trial(case=PATH), cases=(STREAM, PATH)) is None
    assert curve_of(*wave(quality, [0.0], total_ms=500.0), cases=(quality,)) is None
    nobody = level(0)
    assert curve_of(*wave(nobody, [0.0], total_ms=500.0), cases=(nobody,)) is None
    curve = curve_of(
        *wave(user, [0.0], total_ms=500.0), *wave(older, [0.0], total_ms=400.0), cases=(user, older)
    )
    assert curve is not None
    assert [point.concurrency for point in curve.points] == [1, 8]


def test_a_summary_has_a_curve_for_each_target_that_has_points():
    trials = (*slowing_trials(), trial(SLOW, STREAM), *wave(ONE, [0.0], total_ms=5.0, warmup=True))
    summary = summarize(
        Evidence(targets=(SLOW, FAST), cases=(STREAM, *LEVELS), trials=trials, reference=None)
    )
    (curve,) = summary.load
    assert (curve.target_id, curve.points[0].attempted) == (FAST.id, 2)


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), max_size=8)


@given(spans)
def test_busy_time_is_every_moment_in_which_something_was_in_flight(drawn):
    trials = [
        trial(started_offset_ms=float(start), finished_offset_ms=float(start + length))
        for start, length in drawn
    ]
    moments = {at for start, length in drawn for at in range(start, start + length)}
    assert busy_seconds(trials) == pytest.approx(len(moments) / 1_000)
