from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.load.sketch import Sketch
from bench.load.slo import read_slo
from bench.load.windows import occupied_share
from bench.model.load import ClientReading, Stage, StageDone
from bench.stats import summarize_numbers
from bench.summary.client_rules import EVERY, TIMES, Seen, client_limits, figures, spoiled_by, told

QUIET = ClientReading(
    stamps="kernel",
    receive_lag_p99_ms=0.1,
    loop_lag_p99_ms=1.0,
    utilisation_max=0.2,
)
CLOSED = Stage(number=1, concurrency=8)
OPEN = Stage(number=1, rate_per_second=20.0)


def gaps(each):
    sketch = Sketch()
    sketch.extend([each] * 100)
    return sketch.summary()


def seen(ttft=50.0, itl=10.0, total=1_050.0, send=0.1, **fields):
    """Return a stage of 100 answers, each with these times."""
    return Seen(
        ttft=_all_alike(ttft),
        total=_all_alike(total),
        send_lag=_all_alike(send),
        itl=None if itl is None else gaps(itl),
        **fields,
    )


def _all_alike(value):
    return None if value is None else summarize_numbers([value] * 100)


def limits(reading=QUIET, stage=CLOSED, found=None, **done):
    end: dict[str, Any] = {"reason": "requests", "sent": 100, "ended_offset_ms": 0}
    ended = StageDone(
        target_id="a",
        case_id="c",
        number=1,
        began_offset_ms=0,
        sending_ended_offset_ms=0,
        client=reading,
        **end | done,
    )
    return client_limits(ended, stage, seen() if found is None else found)


def reading(**fields):
    return msgspec.structs.replace(QUIET, **fields)


def spoiled(*args, **fields):
    return set(spoiled_by(limits(*args, **fields)))


def test_a_quiet_client_limits_nothing():
    assert limits() == ()


def test_one_long_pause_spoils_the_tails_of_a_short_stage_though_no_percentile_of_the_lag_shows_it():
    paused = reading(loop_lag_max_ms=600.0)
    assert spoiled(paused, ended_offset_ms=6_000.0) == {
        "ttft",
        "firstToken",
        "itl",
        "rate",
        "goodput",
    }
    (limit,) = limits(paused, OPEN, ended_offset_ms=6_000.0)
    assert limit.text == (
        "this client read nothing for 600 ms at a stretch, which spoils TTFT, first token and gaps "
        "between tokens"
    )
    by_loop = msgspec.structs.replace(paused, stamps="loop")
    assert spoiled(by_loop, OPEN, ended_offset_ms=6_000.0) == set(TIMES)


def test_a_pause_that_is_nothing_beside_its_stage_spoils_only_the_objectives_it_breaks():
    paused = reading(loop_lag_max_ms=600.0)
    strict, loose = (read_slo("itl.max=50ms"),), (read_slo("itl.mean=50ms"), read_slo("itl=2s"))
    assert limits(paused, ended_offset_ms=61_000.0) == ()
    assert spoiled(paused, found=seen(slos=strict), ended_offset_ms=61_000.0) == {"slo", "goodput"}
    assert limits(paused, found=seen(slos=loose), ended_offset_ms=61_000.0) == ()
    assert limits(paused, found=seen(slos=strict), ended_offset_ms=170_000.0) == ()
    assert limits(paused, found=seen(is_median=True), ended_offset_ms=6_000.0) == ()
    assert limits(reading(loop_lag_max_ms=99.0), ended_offset_ms=6_000.0) == ()


@pytest.mark.parametrize("stage", [CLOSED, OPEN])
def test_late_reading_spoils_nothing_that_the_kernel_stamped(stage):
    assert limits(reading(receive_lag_p99_ms=9.0, loop_lag_p99_ms=9.0), stage) == ()


def test_reads_that_take_several_chunks_spoil_the_stamps_of_all_but_the_last():
    late = reading(receive_lag_p99_ms=60.0)
    assert spoiled(late) == {"ttft", "itl", "tpot", "speed"}
    assert spoiled(late, found=seen(itl=None)) == set()


def test_late_reading_spoils_what_this_process_stamped_and_no_more_than_shows():
    late = reading(stamps="loop", receive_lag_p99_ms=None, loop_lag_p99_ms=3.0)
    assert spoiled(late, found=seen(ttft=50.0)) == {"ttft", "itl"}
    assert spoiled(late, found=seen(ttft=100.0)) == {"itl"}
    assert spoiled(late, found=seen(ttft=100.0, itl=None)) == set()
    slow = reading(stamps="loop", receive_lag_p99_ms=None, loop_lag_p99_ms=60.0)
    assert spoiled(slow, CLOSED) == {*TIMES, "rate", "goodput"} - {"firstToken"}
    assert spoiled(slow, OPEN) == set(TIMES) - {"firstToken"}


def test_a_request_that_waited_here_before_it_was_sent_spoils_what_counts_from_then():
    late = reading(loop_lag_p99_ms=80.0)
    assert spoiled(late, found=seen(send=60.0)) == {"ttft", "total"}
    assert spoiled(late, found=seen(send=20.0)) == {"ttft"}
    (told,) = limits(late, found=seen(send=20.0))
    assert told.text == (
        "every hundredth request waited 20.0 ms or more in this client before it was sent, which spoils TTFT"
    )


def test_a_gateway_that_takes_a_request_slowly_is_not_this_client_s_fault():
    assert limits(QUIET, found=seen(send=500.0)) == ()


def test_few_requests_are_held_to_the_percentile_that_they_can_show():
    nine_in_ten = summarize_numbers([0.1] * 19 + [30.0])
    found = but(seen(), send_lag=nine_in_ten)
    assert limits(reading(loop_lag_p99_ms=40.0), found=found) == ()
    found = but(seen(), send_lag=summarize_numbers([30.0] * 5))
    (told,) = limits(reading(loop_lag_p99_ms=40.0), found=found)
    assert "every tenth request" in told.why


def but(one, **fields):
    names = ("ttft", "first_token", "total", "itl", "send_lag", "occupied", "slos")
    return Seen(**{name: getattr(one, name) for name in names} | fields)


def test_what_happens_to_one_read_in_a_hundred_reaches_no_median():
    late = reading(receive_lag_p50_ms=0.2, receive_lag_p99_ms=60.0, loop_lag_p99_ms=60.0)
    medians = but(seen(send=0.1), is_median=True)
    assert limits(late, found=medians) == ()
    always = reading(receive_lag_p50_ms=60.0, receive_lag_p99_ms=90.0)
    (told,) = limits(always, found=medians)
    assert told.why == "every second read waited 60.0 ms or more for this client"
    waiting = but(seen(send=60.0), is_median=True)
    (told,) = limits(reading(loop_lag_p99_ms=60.0), found=waiting)
    assert told.why.startswith("every second request waited 60.0 ms")


def test_empty_places_spoil_rates_and_no_time():
    assert limits(found=seen(occupied=0.96)) == ()
    (told,) = limits(found=seen(occupied=0.9))
    assert told.spoils == ("rate", "goodput")
    assert "stood empty for 10%" in told.text
    assert told.text.endswith("which spoils answers/s and goodput")


def test_places_that_waited_for_money_are_not_charged_to_the_client():
    assert limits(found=seen(occupied=0.5), reason="max_cost") == ()


def test_another_load_than_the_one_asked_for_spoils_everything():
    assert spoiled(reading(utilisation_max=0.81)) == set(EVERY)
    assert spoiled(connections=1) == set(EVERY)
    assert spoiled(stage=OPEN, late=2) == set(EVERY)
    assert spoiled(stage=OPEN, late=1) == set()
    with_room = Stage(number=1, rate_per_second=20.0, concurrency=4)
    assert spoiled(stage=with_room, late=50) == set()


def test_objectives_are_spoiled_by_the_figure_that_they_bound():
    late = reading(stamps="loop", receive_lag_p99_ms=None, loop_lag_p99_ms=3.0)
    on_gaps = seen(ttft=100.0, slos=(read_slo("itl.p99=50ms"),))
    assert spoiled(late, OPEN, on_gaps) == {"itl", "slo", "goodput"}
    on_ttft = seen(ttft=100.0, slos=(read_slo("ttft=500ms"),))
    assert spoiled(late, OPEN, on_ttft) == {"itl"}


def test_spoiled_figures_are_named_for_people():
    assert figures(EVERY) == "every figure"
    assert figures(("itl",)) == "gaps between tokens"
    assert figures(("total", "ttft", "rate")) == "TTFT, whole answers and answers/s"


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 50)), min_size=1, max_size=20),
    st.integers(1, 8),
)
def test_places_are_never_filled_beyond_all_and_more_requests_never_fill_less(rows, places):
    started = [begin for begin, _ in rows]
    ended = [begin + took for begin, took in rows]
    share = occupied_share(started, ended, (10.0, 90.0), places=places)
    assert 0 <= share <= 1
    assert occupied_share([*started, 0.0], [*ended, 100.0], (10.0, 90.0), places=places) >= share


def test_a_place_is_empty_from_the_last_byte_to_the_next_request():
    assert occupied_share([0, 50, 0], [40, 90, 100], (0, 100), places=2) == pytest.approx(0.9)


def test_what_a_limit_spoils_is_said_once():
    late = reading(utilisation_max=0.9, receive_lag_p99_ms=60.0)
    first, second = told(limits(late))
    assert first.endswith("which spoils every figure")
    assert second == "every hundredth read waited 60.0 ms or more for this client"
