"""When a forgotten gateway is due."""

import pytest

from orchestrator.lease import due, left_ns, pause_s, span
from orchestrator.records import Lease

S = 1_000_000_000


def lease(ttl=None, idle=None, since=100):
    return Lease(ttl_s=ttl, idle_stop_s=idle, since_ns=since * S)


@pytest.mark.parametrize(
    ("given", "now", "used", "said"),
    [
        pytest.param(lease(ttl=60), 159, 159, None, id="alive until its time is over"),
        pytest.param(
            lease(ttl=60), 160, 160, "its time to live of 1m was over", id="over though in use"
        ),
        pytest.param(lease(idle=30), 150, 125, None, id="used not long ago"),
        pytest.param(
            lease(idle=30), 155, 125, "nobody had been connected for 30s", id="idle too long"
        ),
        pytest.param(lease(idle=30), 125, 1, None, id="a new lease counts as use"),
        pytest.param(
            lease(ttl=60, idle=30), 160, 100, "its time to live of 1m was over", id="ttl first"
        ),
    ],
)
def test_a_gateway_is_due_by_its_limits(given, now, used, said):
    assert due(given, now_ns=now * S, used_ns=used * S) == said


def test_what_is_left_of_a_limit_that_was_not_set_is_none():
    assert left_ns(lease(ttl=10), now_ns=104 * S, used_ns=0) == (6 * S, None)
    assert left_ns(lease(idle=10), now_ns=104 * S, used_ns=0) == (None, 6 * S)


@pytest.mark.parametrize(
    ("given", "now", "wait_s"),
    [
        pytest.param(lease(ttl=7200), 101, 10.0, id="at most ten seconds"),
        pytest.param(lease(ttl=7200, idle=60), 101, 3.0, id="a twentieth of the shorter limit"),
        pytest.param(lease(ttl=60), 159.5, 0.5, id="not beyond the end"),
        pytest.param(lease(ttl=60), 170, 0.1, id="never a busy loop"),
    ],
)
def test_the_minder_looks_often_enough(given, now, wait_s):
    assert pause_s(given, now_ns=int(now * S), used_ns=int(now * S)) == pytest.approx(wait_s)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.04s"),
        (9.87, "9.9s"),
        (60, "1m"),
        (90, "1m 30s"),
        (7200, "2h"),
        (7260, "2h 1m"),
        (90_061, "1d 1h"),
        (-1, "0s"),
    ],
)
def test_a_span_has_two_units_at_most(seconds, text):
    assert span(seconds) == text
