import re
import time

import pytest

from bench.errors import UsageFault
from bench.load.levels import concurrency_levels, rate_levels, sweep_range
from bench.load.recorded import read_trace
from bench.load.rules import read_gaps
from bench.load.shapes import Wish, at_level, label_of, level_of, planned_requests, stages
from bench.model.load import StopRules, Sweep

TRACE = read_trace('{"timestamp": 5, "input_length": 3}\n{"timestamp": 1005}\n')


def shaped(**wish):
    found = stages(Wish(**wish))
    assert not isinstance(found, Sweep)
    return found


def test_one_concurrency_alone_is_no_load():
    assert not Wish(concurrency=concurrency_levels("8")).is_load
    assert Wish(concurrency=concurrency_levels("1,8")).is_load
    assert Wish(requests=5).is_load
    assert Wish(turns=2).is_load


def test_steps_have_a_stage_each_with_requests_for_its_places():
    found = shaped(concurrency=concurrency_levels("1,16"))
    told = [(s.number, s.concurrency, s.requests, s.warmups) for s in found]
    assert told == [(1, 1, 20, 1), (2, 16, 64, 16)]


def test_a_duration_alone_leaves_requests_open():
    (stage,) = shaped(concurrency=concurrency_levels("4"), duration_ms=5.0)
    assert (stage.requests, planned_requests(stage)) == (None, None)


def test_a_rate_takes_concurrency_for_its_most():
    (stage,) = shaped(
        rate=rate_levels("20/s"), concurrency=concurrency_levels("8"), duration_ms=2_000.0
    )
    assert (stage.kind, stage.concurrency, planned_requests(stage)) == ("open", 8, 40)
    assert label_of(stage) == "20/s (poisson)"


def test_ramps_are_told_from_end_to_end():
    (places,) = shaped(concurrency=concurrency_levels("1..64"), duration_ms=1_000.0)
    assert (places.concurrency_from, places.concurrency, label_of(places)) == (
        1,
        64,
        "1 to 64 at once",
    )
    (rates,) = shaped(
        rate=rate_levels("5/s..15/s"), duration_ms=1_000.0, gaps=read_gaps("gamma:2"), requests=4
    )
    assert label_of(rates) == "5 to 15/s (gamma 2)"
    assert planned_requests(rates) == 4


def test_a_trace_is_one_stage_of_its_own_rate():
    (stage,) = shaped(trace=TRACE)
    assert (stage.kind, planned_requests(stage), level_of(stage)) == ("trace", 2, 2.0)
    assert label_of(stage) == "trace of 2 requests"
    assert label_of(*shaped(trace=read_trace('{"timestamp": 5}'))) == "trace of 1 request"


def test_a_sweep_makes_its_stages_one_by_one():
    sweep = stages(Wish(sweep=sweep_range("1..8"), warmups=None))
    assert isinstance(sweep, Sweep)
    third = at_level(sweep, 4.0, number=3)
    assert (third.number, third.concurrency, third.requests, third.warmups) == (3, 4, 20, 4)
    rates = stages(Wish(sweep=sweep_range("1/s..8/s"), duration_ms=5.0))
    assert isinstance(rates, Sweep)
    assert at_level(rates, 2.5, number=1).rate_per_second == 2.5


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"rate": rate_levels("1/s"), "trace": TRACE}, "exclude each other"),
        ({"rate": rate_levels("1/s")}, "needs an end"),
        ({"sweep": sweep_range("1/s..2/s")}, "needs an end"),
        ({"gaps": read_gaps("constant"), "requests": 1}, "needs `--rate`"),
        ({"concurrency": concurrency_levels("1..2")}, "needs `-d`"),
        ({"concurrency": concurrency_levels("1,2"), "trace": TRACE}, "several levels"),
        (
            {"concurrency": concurrency_levels("3"), "sweep": sweep_range("1..8")},
            "`-c` and `--sweep` exclude each other",
        ),
        ({"rate": rate_levels("1000000"), "duration_ms": 30_000.0}, "at most 20,000,000"),
        (
            {"rate": rate_levels("1/s..1000000/s"), "duration_ms": 3.6e7},
            "lower `--rate`, or shorten `-d`",
        ),
        (
            {"sweep": sweep_range("1/s..1000000/s"), "duration_ms": 3.6e7},
            "lower `--sweep`, or shorten `-d`",
        ),
        (
            {"rate": rate_levels("1/h"), "requests": 100_000},
            "would take 4.17e.03 days.*raise `--rate`",
        ),
        ({"concurrency": concurrency_levels("1,8"), "requests": 7}, "less than the 8.*`-n 8`"),
        ({"sweep": sweep_range("1..256"), "requests": 100}, "less than the 256.*of `--sweep`"),
        ({"lock_step": True, "trace": TRACE}, "closed loop"),
        ({"gaps": read_gaps("constant"), "trace": TRACE}, "a trace has its own gaps"),
        ({"concurrency": concurrency_levels("64..1"), "duration_ms": 5.0}, "falls.*`-c 1..64`"),
        ({"requests": 5, "stops": StopRules(on_saturation=True)}, "needs `--rate` or `--trace`"),
        (
            {"sweep": sweep_range("1..8"), "stops": StopRules(on_saturation=True)},
            "needs `--rate` or `--trace`",
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(wish, told):
    with pytest.raises(UsageFault) as refused:
        stages(Wish(**wish))
    assert re.search(told, f"{refused.value} {refused.value.hint}")


def test_where_the_clock_begins_conversations_each_has_all_its_turns():
    (rate,) = shaped(rate=rate_levels("20/s"), requests=12, turns=3)
    (trace,) = shaped(trace=TRACE, turns=2)
    (closed,) = shaped(requests=7, turns=3)
    assert [planned_requests(stage) for stage in (rate, trace, closed)] == [36, 4, 7]


def test_a_trace_begins_at_zero_in_order_and_at_its_speed():
    text = "TIMESTAMP,ContextTokens,GeneratedTokens\n2026-03-01 09:30:01.5000000,20,5\n2026-03-01 09:30:00,10,\n"
    trace = read_trace(text, speed=2)
    assert trace.offsets_ms == (0.0, 750.0)
    assert (trace.input_tokens, trace.output_tokens) == ((10, 20), (None, 5))


def test_dates_of_a_trace_keep_their_distance_over_a_change_of_clocks(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        naive = "TIMESTAMP\n2026-03-29 01:59:59.0000000\n2026-03-29 03:00:00.5\n"
        zoned = "TIMESTAMP\n2026-03-29 02:00:00.1234567+02:00\n2026-03-29 00:00:01.123456Z\n"
        assert read_trace(naive).offsets_ms == (0.0, 3_601_500.0)
        assert read_trace(zoned).offsets_ms == (0.0, 1_000.0)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_trace_may_begin_with_a_mark_and_end_its_lines_as_windows_does():
    text = '\ufeff{"timestamp": 9, "note": "a\u2028b"}\r\n{"timestamp": 4}\r\n'
    assert read_trace(text).offsets_ms == (0.0, 5.0)
    assert read_trace("\ufeffTIMESTAMP\r\n7\r\n5\r\n").offsets_ms == (0.0, 2.0)


def test_a_trace_without_lengths_has_none():
    trace = read_trace('{"timestamp": 1}\n\n{"timestamp": 2, "output_length": null}\n')
    assert (trace.input_tokens, trace.output_tokens) == ((), ())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no request"),
        ('{"at": 1}', "line 1 of the trace has no `timestamp`"),
        ('{"timestamp": true}', "is no time"),
        ('{"timestamp": 0}\n{"timestamp": 1e300}', "takes 1.16e.292 days"),
        ('{"timestamp": -1e308}\n{"timestamp": 1e308}', "takes inf days"),
        ('{"timestamp": "soon"}', "`soon` is no time"),
        ('{"timestamp": 1}\n{x', "line 2 of the trace is no JSON"),
        ('{"timestamp": 1}\n[1]', "no JSON object"),
        ('{"timestamp": 1, "input_length": -4}', "no number of tokens"),
        ("TIMESTAMP,ContextTokens\nx,1\n", "line 2 of the trace: `x` is no time"),
        ('TIMESTAMP\n"' + "x" * 140_000 + '"\n', "can't be read"),
    ],
)
def test_what_is_no_trace_is_told_by_its_line(text, told):
    with pytest.raises(UsageFault, match=told):
        read_trace(text)


def test_a_trace_may_take_a_year_at_the_speed_at_which_it_is_replayed():
    text = '{"timestamp": 0}\n{"timestamp": 63072000000}\n'
    assert read_trace(text, speed=2).offsets_ms == (0.0, 31_536_000_000.0)
    with pytest.raises(UsageFault, match="takes 730 days, and at most 366"):
        read_trace(text)
