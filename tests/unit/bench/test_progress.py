import io

import pytest

from bench.model.trial import Response, ResponseError, Trial
from bench.money import Purse
from bench.progress import Progress, Tally, bar_text, duration_text, tally_text
from tests.fakes import FakeClock


def trial(*, failed=False):
    fault = ResponseError(code="http_500", seed_code="http_500", message="m") if failed else None
    return Trial(
        id="t|c|r1",
        target_id="t",
        case_id="c",
        run=1,
        seed=1,
        started_offset_ms=0,
        finished_offset_ms=1,
        outcome="completed",
        response=Response(error=fault),
    )


def shown(mode, *, width=80):
    stream, clock = io.StringIO(), FakeClock()
    progress = Progress(stream, mode, width=width, clock=clock)
    progress.begin(10, spent_usd=0.0)
    return stream, clock, progress


def test_a_tally_says_trials_failures_spend_rate_and_time_left():
    tally = Tally(planned=30, done=10, failed=2, spent_usd=0.0123, elapsed_s=5.0)
    assert tally_text(tally) == "10/30 trials, 2 failed, $0.0123, 2.0/s, 10s left"


def test_before_the_first_answer_there_is_no_rate():
    assert tally_text(Tally(planned=3)) == "0/3 trials, 0 failed, $0.0000"


def test_an_unknown_cost_is_not_zero_dollars():
    assert "cost unknown" in tally_text(Tally(planned=3, spent_usd=None))


def test_requests_that_wait_stand_before_the_money():
    waits = (("for a local port", 2), ("for another try (HTTP 429)", 0))
    told = tally_text(Tally(planned=3, done=1, waits=waits))
    assert told == "1/3 trials, 0 failed, 2 waiting for a local port, $0.0000"


@pytest.mark.parametrize("mode", ["bar", "lines"])
def test_who_waits_is_looked_at_whenever_something_is_shown(mode):
    stream, clock = io.StringIO(), FakeClock()
    progress, waits = Progress(stream, mode, width=80, clock=clock), {"for a local port": 1}
    progress.begin(4, spent_usd=0.0, waits=waits)
    clock.advance(30_000)
    progress.tick()
    assert stream.getvalue().count("1 waiting for a local port") == 1
    waits["for a local port"] = 0
    clock.advance(30_000)
    progress.tick()
    assert stream.getvalue().count("waiting") == 1
    assert stream.getvalue().count("0/4 trials") == 2


@pytest.mark.parametrize("width", [0, 1, 2, 20, 40, 60, 80, 200])
def test_a_bar_never_fills_the_last_column(width):
    tally = Tally(planned=1000, done=999, failed=999, spent_usd=123.4567, elapsed_s=0.001)
    assert len(bar_text(tally, width=width)) <= max(width - 1, 0)


def test_a_bar_shows_the_share_that_is_done():
    assert bar_text(Tally(planned=4, done=1), width=80).startswith("[#####---------------] 1/4")
    assert bar_text(Tally(planned=0), width=80).startswith("[####################] 0/0")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0s"), (0.4, "0s"), (59, "59s"), (60, "1m00s"), (80.4, "1m20s"), (7500, "2h05m")],
)
def test_durations_are_short(seconds, text):
    assert duration_text(seconds) == text


def test_a_terminal_is_redrawn_at_most_four_times_a_second_and_cleared_at_the_end():
    stream, clock, progress = shown("bar")
    for _ in range(10):
        clock.advance(100)
        progress.trial_done(trial(), Purse(limit_usd=None))
    assert stream.getvalue().count("\r\x1b[K") == 3
    progress.close()
    progress.close()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert "\n" not in stream.getvalue()
    assert progress.interval_s < 1


def test_elsewhere_a_line_comes_at_most_every_half_minute():
    stream, clock, progress = shown("lines")
    for _ in range(7):
        clock.advance(10_000)
        progress.trial_done(trial(failed=True), Purse(limit_usd=None))
    progress.close()
    lines = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == ["3/10 trials", "6/10 trials"]
    assert "6 failed" in lines[1]
    assert "\x1b" not in stream.getvalue()
    assert progress.interval_s > 1


def test_quiet_says_nothing():
    stream, clock, progress = shown("quiet")
    clock.advance(100_000)
    progress.trial_done(trial(), Purse(limit_usd=None, unknown=1))
    progress.close()
    assert stream.getvalue() == ""


def test_a_reader_that_went_away_does_not_stop_the_run():
    class Gone:
        def write(self, text, /):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    clock = FakeClock()
    progress = Progress(Gone(), "bar", width=80, clock=clock)
    progress.begin(1, spent_usd=None)
    clock.advance(1000)
    progress.tick()
    clock.advance(1000)
    progress.tick()
    progress.close()


@pytest.mark.parametrize(
    ("mode", "written"),
    [
        pytest.param("bar", "\r\x1b[Kdisk_low: little room\n", id="over the bar"),
        pytest.param("lines", "disk_low: little room\n", id="a line"),
        pytest.param("quiet", "", id="nothing"),
    ],
)
def test_what_happens_is_told_on_a_line_of_its_own(mode, written):
    stream, clock, progress = shown(mode)
    clock.advance(1_000)
    progress.tick()
    before = len(stream.getvalue())
    progress.tell("disk_low: little room")
    assert stream.getvalue()[before:] == written
