from random import Random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bench.load.saturation import Point, RisingQueue, next_level, rise, saturated, student_95
from bench.load.sketch import RELATIVE_ERROR, Sketch
from bench.load.windows import peak_in_flight, steady_window
from bench.model.load import Stage


def point(level=1.0, total=100.0, success=1.0, attainment=None):
    return Point(level=level, total_p50_ms=total, success_rate=success, attainment=attainment)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        pytest.param(point(total=199.0), None, id="slower, not twice"),
        pytest.param(point(total=200.0), "degradation", id="twice as slow"),
        pytest.param(point(success=0.94), "success", id="failures first"),
        pytest.param(point(attainment=0.94), "slo", id="outside the objectives"),
        pytest.param(point(total=None), None, id="no time at all"),
    ],
)
def test_a_stage_is_held_against_the_first(seen, why):
    assert saturated(seen, point()) == why


def test_the_first_stage_is_slow_for_nobody():
    assert saturated(point(total=1e9), None) is None


def found(threshold, *, low=1.0, high=256.0, whole=True):
    """Sweep a gateway that is saturated from `threshold` on; return what was tried."""
    tried: list[tuple[float, bool]] = []
    while (level := next_level(tried, low=low, high=high, whole=whole)) is not None:
        assert len(tried) < 40
        tried.append((level, level >= threshold))
    return tried


@given(threshold=st.integers(2, 256))
def test_a_sweep_encloses_the_saturation_point_within_a_tenth(threshold):
    tried = found(threshold)
    good = max(level for level, is_bad in tried if not is_bad)
    bad = min(level for level, is_bad in tried if is_bad)
    assert good < threshold <= bad
    assert bad / good <= 1.1 or bad - good == 1
    assert len({level for level, _ in tried}) == len(tried)


def test_a_sweep_ends_at_its_ends():
    assert [level for level, _ in found(1000, high=10)] == [1, 2, 4, 8, 10]
    assert [level for level, _ in found(1)] == [1]


def test_rates_are_refined_between_whole_numbers():
    tried = found(3.0, high=8.0, whole=False)
    assert any(level != int(level) for level, _ in tried)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300))
def test_a_sketch_is_within_its_error_of_an_observed_value(values):
    sketch = Sketch()
    sketch.extend(values)
    summary = sketch.summary()
    assert summary is not None
    for name, fraction in (("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99)):
        exact = numpy.percentile(values, fraction, method="inverted_cdf")
        assert getattr(summary, name) == pytest.approx(exact, rel=RELATIVE_ERROR * 1.001, abs=1e-9)
    assert (summary.min, summary.max, summary.count) == (min(values), max(values), len(values))
    assert summary.p50 <= summary.p90 <= summary.p95 <= summary.p99 <= summary.max


def test_an_empty_sketch_says_nothing():
    assert Sketch().summary() is None
    assert Sketch().percentile(0.5) is None


@pytest.mark.parametrize("degrees", [28, 58, 100, 298])
def test_student_s_point_is_scipy_s(degrees):
    assert student_95(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-4)


@given(st.integers(0, 1000), st.floats(-2, 2))
def test_a_slope_is_trusted_when_scipy_trusts_it(seed, slope):
    random = Random(seed)
    at = [float(n) for n in range(60)]
    values = [100 + slope * x + random.gauss(0, 10) for x in at]
    risen = rise(at, values)
    line = stats.linregress(at, values)
    is_sure = line.slope > stats.t.ppf(0.975, 58) * line.stderr
    is_much = line.slope * 59 > 0.5 * abs(numpy.mean(values))
    if abs(line.slope - stats.t.ppf(0.975, 58) * line.stderr) > 1e-3:
        assert (risen is not None) == (is_sure and is_much)


def test_nothing_rises_in_no_time():
    assert rise([1.0] * 40, [float(n) for n in range(40)]) is None


def queue(flying, waiting, count=60):
    judge = RisingQueue()
    for number in range(count):
        judge.add(number * 100.0, flying(number), waiting(number))
    return judge.verdict()


def test_a_growing_queue_is_seen_and_a_steady_one_is_not():
    assert "rose by" in (queue(lambda n: 5 + n, lambda n: 50 + 30 * n) or "")
    assert queue(lambda n: 5 + n % 3, lambda n: 50 + 30 * n) is None
    assert queue(lambda n: 5 + n, lambda n: 50 + n % 7) is None
    assert queue(lambda n: 5 + n, lambda n: 50 + 30 * n, count=20) is None


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(1, 50)), max_size=60))
def test_the_peak_is_what_counting_at_every_moment_finds(spans):
    started = [begin for begin, _ in spans]
    ended = [begin + length for begin, length in spans]
    pairs = list(zip(started, ended, strict=True))
    most = max((sum(b <= at < e for b, e in pairs) for at in range(151)), default=0)
    assert peak_in_flight(started, ended) == most


def test_the_steady_window_lies_between_filling_and_draining():
    closed = Stage(number=1, concurrency=2)
    assert steady_window(closed, [0, 5, 10, 20], [10, 20, 30, 40]) == (5, 20)
    assert steady_window(closed, [0, 5], [10, 20]) is None
    assert steady_window(closed, [], []) is None
    quick = [0, 1, 2, 3, 4, 5]  # the second sender begins after 4 ms, whatever the first has sent
    assert steady_window(closed, quick, quick) == (4, 5)
    at_once = Stage(number=1, concurrency=2, lock_step=True)
    assert steady_window(at_once, quick, quick) == (1, 5)
    open_loop = Stage(number=1, rate_per_second=1.0)
    assert steady_window(open_loop, [0, 5, 30], [10, 20, 40]) == (10, 30)
    assert steady_window(open_loop, [0, 5], [10, 20]) is None
    rising = Stage(number=1, rate_from=1.0, rate_per_second=9.0, duration_ms=40.0)
    assert steady_window(rising, [0, 5, 30], [10, 20, 40]) is None
    places = Stage(number=1, concurrency=3, concurrency_from=1, duration_ms=30.0)
    assert steady_window(places, [0, 1, 2, 10, 20, 29], [9] * 6) == (20, 29)
