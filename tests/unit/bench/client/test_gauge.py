import asyncio
import gc
import resource
import time

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.client.descriptors import most_connections
from bench.client.exchange import Phases
from bench.client.gauge import Gauge, LagCounts
from bench.client.outlook import Outlook
from bench.clock import WallOffset


@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=200))
def test_a_percentile_of_delays_is_within_its_bucket(lags):
    counts = LagCounts()
    for lag in lags:
        counts.add(lag)
    for fraction in (0.5, 0.99):
        exact = numpy.percentile(lags, fraction * 100, method="inverted_cdf") / 1e6
        told = counts.percentile_ms(fraction)
        assert told is not None
        assert exact <= told + 1e-9
        assert told - exact <= (0.0041 if exact < 16.7 else 1.05)
    assert counts.largest_ms == max(lags) / 1e6


def test_no_delays_have_no_percentile():
    assert (LagCounts().percentile_ms(0.5), LagCounts().largest_ms) == (None, None)


def test_a_delay_beyond_every_bucket_is_still_counted():
    counts = LagCounts()
    counts.add(10**15)
    told = counts.percentile_ms(0.5)
    assert told is not None
    assert 60_000 < told <= counts.largest / 1e6


class Clock:
    def __init__(self):
        self.now = 0

    def now_ns(self):
        return self.now


def reading_of(play):
    async def scene():
        clock = Clock()
        gauge = Gauge(clock.now_ns, WallOffset())
        gauge.begin()
        play(gauge, clock)
        return gauge.reading()

    return asyncio.run(scene())


def test_a_reading_says_what_was_counted():
    def play(gauge, clock):
        clock.now += 2_000_000_000
        gauge.requests = 3
        gauge.received(1_000_000)
        gauge.ticked(2_000_000)
        gauge.opened += 2
        gc.collect()

    reading = reading_of(play)
    assert (reading.stamps, reading.reads, reading.requests) == ("kernel", 1, 3)
    assert reading.receive_lag_max_ms == 1.0
    assert reading.loop_lag_p99_ms == 2.0
    assert reading.connections_opened == 2
    assert reading.gc_pause_max_ms is not None
    assert reading.utilisation_mean is not None
    assert reading.utilisation_max is not None


@pytest.mark.parametrize(
    ("kernel", "loop", "requests", "stamps"),
    [(1, 1, 1, "mixed"), (0, 1, 1, "loop"), (0, 0, 1, "loop"), (0, 0, 0, None)],
)
def test_a_reading_says_who_stamped(kernel, loop, requests, stamps):
    def play(gauge, clock):
        clock.now += 1
        gauge.requests, gauge.unstamped = requests, loop
        for _ in range(kernel):
            gauge.received(5)

    assert reading_of(play).stamps == stamps


def test_beginning_again_forgets_and_watches_once():
    async def scene():
        clock = Clock()
        gauge = Gauge(clock.now_ns, None)
        gauge.begin()
        gauge.requests = 5
        gauge.begin()
        before = len(gc.callbacks)
        gauge.stop()
        gauge.stop()
        return gauge.requests, before - len(gc.callbacks)

    assert asyncio.run(scene()) == (0, 1)


def test_the_busiest_second_is_kept():
    async def scene():
        clock = Clock()
        gauge = Gauge(clock.now_ns, None)
        gauge.begin()
        clock.now += 1
        gauge._window_over()
        first = gauge._busiest
        clock.now += 10**15
        gauge._window_over()
        gauge.stop()
        return first, gauge._busiest

    first, after = asyncio.run(scene())
    assert after == first


def test_a_stamp_of_now_is_now():

    offset = WallOffset()
    before = time.perf_counter_ns()
    wall = time.clock_gettime_ns(time.CLOCK_REALTIME)
    at = offset.monotonic_ns(wall, time.perf_counter_ns())
    assert at is not None
    assert abs(at - before) < 5_000_000_000  # a safety stop: the machine may have slept between


def test_stamps_of_a_wall_clock_that_was_set_are_discarded():

    offset = WallOffset()
    now = time.perf_counter_ns()
    future = time.clock_gettime_ns(time.CLOCK_REALTIME) + 10**12
    assert offset.monotonic_ns(future, now) is None
    assert offset.discarded == 1


def test_an_old_stamp_is_believed_once_the_clocks_agree():

    offset = WallOffset()
    wall = time.clock_gettime_ns(time.CLOCK_REALTIME) - 10**9
    at = offset.monotonic_ns(wall, time.perf_counter_ns())
    assert at is not None
    assert time.perf_counter_ns() - at >= 10**9


def test_the_outlook_keeps_the_shortest_connect_and_the_first_edge():
    outlook = Outlook()
    assert outlook.vantage().round_trip_ms is None
    outlook.connected("192.0.2.1", Phases(connect_ns=3_000_000))
    outlook.connected("192.0.2.1", Phases(connect_ns=1_000_000))
    outlook.answered({"cf-ray": "8f-FRA", "content-type": "x"})
    outlook.answered({"cf-ray": "other", "via": "v" * 500})
    for _ in range(20):
        outlook.answered({"server": "late"})
    vantage = outlook.vantage()
    assert (vantage.address, vantage.round_trip_ms, vantage.connections) == ("192.0.2.1", 1.0, 2)
    assert vantage.round_trip_p50_ms == 2.0
    assert vantage.edge["cf-ray"] == "8f-FRA"
    assert len(vantage.edge["via"]) == 200


def test_the_system_lets_us_have_some_connections():
    assert most_connections() == most_connections() > 0


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (900, hard))
    try:
        assert most_connections() > 900
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 900
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
