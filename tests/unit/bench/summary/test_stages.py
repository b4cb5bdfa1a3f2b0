import pathlib

import msgspec
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.document import build_document
from bench.ledger import collect
from bench.load.shapes import label_of
from bench.model.journal_record import JournalRecord
from bench.model.load import ClientReading, Stage, StageBegun, StageDone
from bench.model.steps import TrialDone
from bench.model.summary import AdjustedSummary, SeriesSummary, StageSummary
from bench.model.trial import Timing, Usage
from bench.report import REPORTS, terminal_summary
from bench.report.load_stages import stage_lines, stages_chart, waiting
from bench.report.saturation import frontier_chart, load_detail, saturation, saturation_sentences
from bench.report.verdict import headline
from bench.stats import adjusted
from bench.summary.stages import frontier
from tests.fakes import GOOD
from tests.load_stage import LoadStage, load_block
from tests.run_stage import error

READING = ClientReading(
    stamps="kernel",
    reads=10,
    receive_lag_p99_ms=0.1,
    receive_lag_max_ms=0.2,
    loop_lag_p99_ms=1.0,
    loop_lag_max_ms=1.0,
    utilisation_max=0.2,
    requests=4,
    load_average=0.5,
    processors=2,
)


def answer(total=100.0, ttft=50.0, **fields):
    timing = Timing(
        total_ms=total,
        first_content_ms=ttft,
        first_token_ms=ttft,
        itl_ms=(10.0, 10.0),
        tpot_ms=10.0,
        sent_ms=0.1,
    )
    usual = {"timing": timing, "usage": Usage(completion_tokens=3), "connection": "warm"}
    return msgspec.structs.replace(GOOD, **usual | fields)


def measured(*stages, slos=("ttft=60ms",), reading=READING):
    """Build the document of a run whose stages are (stage, done fields, [(start, end, due, response)])."""
    base = LoadStage(*(load_block(stage) for stage, _, _ in stages), slos=slos)
    base.run()
    template = base.trials[0]
    records: list[JournalRecord] = []
    for stage, end, rows in stages:
        records.append(StageBegun(target_id="a", case_id="c", stage=stage, offset_ms=0.0))
        for number, (start, ended, due, response) in enumerate(rows, start=1):
            trial = msgspec.structs.replace(
                template,
                id=f"a|c|s{stage.number}r{number}",
                run=number,
                stage=stage.number,
                started_offset_ms=start,
                finished_offset_ms=ended,
                planned_offset_ms=due,
                outcome="failed" if response.error else "completed",
                response=response,
            )
            records.append(TrialDone(trial=trial))
        records.append(
            StageDone(
                target_id="a",
                case_id="c",
                number=stage.number,
                began_offset_ms=0.0,
                ended_offset_ms=2.0,
                client=reading,
                **{"reason": "requests", "sent": len(rows), "sending_ended_offset_ms": 1.0} | end,
            )
        )
    case = base.cases["c"].info
    header = msgspec.structs.replace(base.header, cases=(case,))
    return build_document(collect([header, *records]))


ONE = Stage(number=1, concurrency=1, requests=4)
TWO = Stage(number=2, concurrency=2, requests=4)
GOOD_ROWS = [(100.0 * n, 100.0 * n + 100, None, answer()) for n in range(4)]
SLOW_ROWS = [
    (1000.0 + 300 * (n // 2), 1300.0 + 300 * (n // 2), None, answer(300, 70)) for n in range(4)
]


def test_a_stage_is_summed_up_by_hand():
    series = measured(
        (ONE, {}, [*GOOD_ROWS[:3], (300.0, 400.0, None, error())])
    ).summary.load_series
    (stage,) = series[0].stages
    assert (stage.attempted, stage.succeeded, stage.success.rate) == (4, 3, 0.75)
    assert (stage.requests_per_second, stage.answers_per_second) == (10.0, 7.5)
    assert stage.tokens_per_second == pytest.approx(22.5)
    assert (stage.mean_in_flight, stage.peak_in_flight, stage.connection) == (1.0, 1, "warm")
    assert stage.ttft_ms is not None
    assert stage.ttft_ms.p50 == 50
    assert stage.itl_ms is not None
    assert stage.itl_ms.count == 6
    assert stage.attainment is not None
    assert (stage.attainment.hits, stage.attainment.of) == (3, 4)
    assert stage.goodput_per_second == 7.5
    assert [(one.slo, one.kept.hits) for one in stage.slos] == [("ttft=60ms", 3)]
    assert (stage.window_seconds, stage.window_answers_per_second) == (0.3, 10.0)
    assert stage.adj_total_ms is not None
    assert (stage.adj_total_ms.adj_p50, stage.adj_total_ms.adj_p90_failed) == (100.0, True)
    assert stage.errors_by_cause == {"http_500": 1}
    assert (stage.queue_ms, stage.asked_per_second) == (None, None)


def test_the_pauses_of_a_rate_are_part_of_the_time_it_took():
    rows = [(500.0 * n, 500.0 * n + 100, 500.0 * n, answer()) for n in range(4)]
    stage = Stage(number=1, rate_per_second=2.0, arrival="constant", requests=4)
    (seen,) = measured((stage, {}, rows)).summary.load_series[0].stages
    assert seen.answers_per_second == seen.goodput_per_second == 4 / 1.6
    assert seen.mean_in_flight == pytest.approx(0.4 / 1.6)


def test_what_this_client_does_after_the_last_byte_is_in_no_rate():
    rows = [(0.0, 180.0, 0.0, answer()), (150.0, 250.0, 150.0, answer())]
    stage = Stage(number=1, rate_per_second=5.0, arrival="constant", requests=2)
    (seen,) = measured((stage, {}, rows)).summary.load_series[0].stages
    assert (seen.answers_per_second, seen.mean_in_flight) == (8.0, pytest.approx(0.8))
    assert (seen.peak_in_flight, seen.window_seconds) == (1, pytest.approx(0.05))


def test_a_rate_of_conversations_asks_for_the_requests_of_all_their_turns():
    stage = Stage(number=1, rate_per_second=2.0, arrival="constant", requests=2, turns=3)
    ramp = Stage(number=2, rate_from=1.0, rate_per_second=3.0, duration_ms=9.0, turns=3)
    stages = measured((stage, {}, GOOD_ROWS), (ramp, {}, GOOD_ROWS)).summary.load_series[0].stages
    assert [seen.asked_per_second for seen in stages] == [6.0, 6.0]


def test_times_from_due_hold_the_wait():
    rows = [
        (0.0, 100.0, 0.0, answer()),
        (140.0, 240.0, 100.0, answer()),
        (200.0, 300.0, 200.0, answer()),
    ]
    stage = Stage(number=1, rate_per_second=10.0, arrival="constant", requests=3)
    document = measured((stage, {"scheduled": 4, "dropped": 1, "late": 1}, rows))
    (seen,) = document.summary.load_series[0].stages
    assert seen.due_ttft_ms is not None
    assert (seen.due_ttft_ms.min, seen.due_ttft_ms.max) == (50.0, 90.0)
    assert seen.queue_ms is not None
    assert (seen.queue_ms.max, seen.late, seen.dropped) == (40.0, 1, 1)
    assert (seen.asked_per_second, seen.sent_per_second) == (10.0, 10.0)
    told = next(stage_lines(document))
    assert "1 sent late (TTFT from due p90 82.0 ms), 1 due and never sent" in told
    section = waiting(document)
    assert not section.is_folded
    shown = dict(zip(section.table.columns, section.table.rows[0], strict=True))
    sides = [shown[f"TTFT from {since}, tail (ms)"] for since in ("sending", "due")]
    assert [(cell.text, cell.detail) for cell in sides] == [("50.0", "p90"), ("82.0", "p90")]


def test_a_series_tells_where_it_saturates_and_what_is_on_the_frontier():
    document = measured((ONE, {}, GOOD_ROWS), (TWO, {"saturated": "degradation"}, SLOW_ROWS))
    (series,) = document.summary.load_series
    assert (series.highest_good, series.lowest_saturated) == (1.0, 2.0)
    assert [stage.on_frontier for stage in series.stages] == [True, False]
    assert "above 1 and at most 2 at once" in next(saturation_sentences(document))
    chart = stages_chart(document)
    assert chart is not None
    assert [tick.label for tick in chart.ticks] == ["1", "2"]
    assert "saturated from 2" in chart.curves[0].detail


def test_every_report_says_where_a_series_saturates_and_what_is_to_be_had():
    document = measured((ONE, {}, GOOD_ROWS), (TWO, {"saturated": "degradation"}, SLOW_ROWS))
    (row,) = saturation(document).table.rows
    assert [cell.text for cell in row[1:4:2]] == ["above 1 and at most 2", "10.0"]
    for ending in (".md", ".html"):
        assert "above 1 and at most 2" in REPORTS[ending](document)


def test_programs_are_told_of_every_stage_and_of_the_saturation_point():
    document = measured((ONE, {}, GOOD_ROWS), (TWO, {"saturated": "degradation"}, SLOW_ROWS))
    told = load_detail(document)
    (point,) = told["saturation"]
    assert (point["above"], point["atMost"], point["by"]) == (1.0, 2.0, "at once")
    assert [(one["load"], one["ttftP50Ms"]) for one in told["stages"]] == [
        ("1 at once", 50.0),
        ("2 at once", 70.0),
    ]


def test_the_frontier_is_drawn_from_the_loads_that_no_other_one_beats():
    quick = [(300.0 * n, 300.0 * n + 100, None, answer(ttft=20.0)) for n in range(4)]
    three = Stage(number=3, concurrency=4, requests=4)
    document = measured((ONE, {}, quick), (TWO, {}, GOOD_ROWS), (three, {}, SLOW_ROWS))
    chart = frontier_chart(document)
    assert chart is not None
    (curve,) = chart.curves
    assert curve.label.endswith("TTFT p90 (ms)")  # four answers have no p99
    assert curve.detail == "1 at once: 20.0; 2 at once: 50.0"
    assert frontier_chart(measured((ONE, {}, GOOD_ROWS))) is None


@pytest.mark.parametrize(
    ("ramp", "sent_for_ms", "reached"),
    [
        (Stage(number=2, rate_from=1.0, rate_per_second=5.0, duration_ms=100.0), 50.0, 3.0),
        (Stage(number=2, rate_from=1.0, rate_per_second=5.0, duration_ms=100.0), 100.0, 5.0),
        (Stage(number=2, rate_from=5.0, rate_per_second=1.0, duration_ms=100.0), 50.0, 5.0),
        (Stage(number=2, concurrency_from=1, concurrency=8, duration_ms=100.0), 25.0, 3.0),
    ],
)
def test_a_ramp_is_at_the_highest_load_that_it_came_to(ramp, sent_for_ms, reached):
    ended: dict[str, object] = {"reason": "saturated", "saturated": "degradation"}
    ended |= {"sending_ended_offset_ms": sent_for_ms}
    document = measured((ONE, {}, GOOD_ROWS), (ramp, ended, GOOD_ROWS))
    (series,) = document.summary.load_series
    assert (series.stages[1].level, series.lowest_saturated) == (reached, reached)


def test_an_endpoint_that_never_answers_is_not_called_saturated():
    dead = [(100.0 * n, 100.0 * n + 1, None, error()) for n in range(4)]
    document = measured((ONE, {"saturated": "success"}, dead))
    assert document.summary.load_series[0].lowest_saturated == 1
    assert list(saturation_sentences(document)) == []


@pytest.mark.parametrize("ending", REPORTS)
def test_every_report_shows_every_stage(ending):
    document = measured(
        (ONE, {}, GOOD_ROWS), (TWO, {"reason": "errors", "detail": "<script>x"}, SLOW_ROWS)
    )
    text = REPORTS[ending](document)
    assert "<script>x" not in text
    if not ending.startswith("-timings"):
        assert "Load stages" in text
        assert "2 at once" in text


def test_a_skipped_and_a_cut_stage_stand_in_the_report():
    document = measured((ONE, {}, GOOD_ROWS), (TWO, {"reason": "skipped", "sent": 0}, []))
    text = terminal_summary(document)
    assert "stage 2: skipped" in text
    assert document.completeness.is_complete
    cut = measured((ONE, {"reason": "stopped", "detail": "interrupted"}, GOOD_ROWS[:2]))
    assert not cut.completeness.is_complete
    assert (cut.completeness.done, cut.completeness.planned) == (2, 4)


def test_a_client_at_its_limit_is_said_first():
    busy = msgspec.structs.replace(READING, utilisation_max=0.95)
    document = measured((ONE, {}, GOOD_ROWS), reading=busy)
    assert document.trust[0].code == "client_saturated"
    assert "client too busy" in terminal_summary(document).splitlines()[0]
    assert "95% busy" in document.trust[0].text


def test_places_that_stood_empty_limit_rates_alone():
    rows = [(100.0 * n, 100.0 * n + 80, None, answer(total=80.0)) for n in range(4)]
    document = measured((ONE, {}, rows))
    (stage,) = document.summary.load_series[0].stages
    assert stage.client_spoils == ("rate", "goodput")
    assert "rates limited by the client" in terminal_summary(document).splitlines()[0]
    assert "stood empty for 20%" in document.trust[0].text


def test_a_stage_that_money_ended_says_what_that_did_to_its_load():
    rows = [(100.0 * n, 100.0 * n + 50, None, answer(total=50.0)) for n in range(4)]
    document = measured((ONE, {"reason": "max_cost", "detail": "max_cost"}, rows))
    assert document.summary.load_series[0].stages[0].client_spoils == ()
    (line,) = stage_lines(document)
    assert "ended by money limit (near it fewer were in flight" in line


def test_what_saturates_beside_a_busy_client_is_not_said_to_be_the_gateway():
    busy = msgspec.structs.replace(READING, utilisation_max=0.95)
    document = measured(
        (ONE, {}, GOOD_ROWS), (TWO, {"saturated": "degradation"}, SLOW_ROWS), reading=busy
    )
    assert "this machine may have been the limit" in next(saturation_sentences(document))


def test_what_a_stage_that_came_to_its_end_lacked_is_told():
    fewer = "sent by 1 of 2 load processes, the rest was lost before"
    document = measured((ONE, {}, GOOD_ROWS), (TWO, {"detail": fewer}, GOOD_ROWS))
    first, second = (line for line in stage_lines(document))
    assert "sent by" not in first
    assert second.endswith(f"; {fewer}")


def test_a_stage_without_an_answer_shows_no_times():
    dead = [(100.0 * n, 100.0 * n + 1, None, error("connect_refused")) for n in range(4)]
    document = measured((ONE, {"reason": "errors", "detail": "nobody there"}, dead))
    line = next(one for one in terminal_summary(document).splitlines() if one.startswith("1 at "))
    assert "TTFT" not in line
    assert " - " not in line
    assert headline(document).startswith("NO ANSWER")


def test_a_stage_of_whole_answers_shows_how_long_they_took():
    whole = answer()
    plain = msgspec.structs.replace(whole, timing=Timing(total_ms=100.0, sent_ms=0.1))
    document = measured((ONE, {}, [(100.0 * n, 100.0 * n + 100, None, plain) for n in range(4)]))
    assert "whole answer p50 100 ms" in terminal_summary(document)


def test_what_is_too_long_for_a_terminal_keeps_its_ending():
    slow = msgspec.structs.replace(READING, utilisation_max=0.95)
    begun = [Stage(number=n, concurrency=n, requests=4) for n in range(1, 4)]
    text = terminal_summary(
        measured(*((stage, {}, GOOD_ROWS) for stage in begun), reading=slow), width=64
    )
    assert "on a quieter or larger machine." in " ".join(text.split())
    assert all(len(line) <= 64 for line in text.splitlines())


def test_too_few_connections_are_the_client_s_limit():
    document = measured((ONE, {"connections": 1}, GOOD_ROWS))
    assert any(
        "limited connections to 1" in c.text for c in document.trust if c.code == "client_saturated"
    )


@given(st.lists(st.floats(0, 1e6), max_size=200), st.integers(0, 50))
def test_adjusted_percentiles_are_numpy_s_over_values_and_infinities(values, failures):
    summary = adjusted(values, failures)
    if not values and not failures:
        assert summary is None
        return
    assert summary is not None
    everything = numpy.array([*values, *[numpy.inf] * failures])
    for name in ("50", "90", "95", "99"):
        exact = numpy.percentile(everything, int(name), method="inverted_cdf")
        failed = getattr(summary, f"adj_p{name}_failed")
        assert failed == bool(numpy.isinf(exact))
        assert getattr(summary, f"adj_p{name}") == (None if failed else exact)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=8))
def test_the_frontier_holds_what_nothing_beats(points):
    found = frontier([(float(more), float(late)) for more, late in points])
    assert any(found)
    for (more, late), is_on in zip(points, found, strict=True):
        beaten = any((m >= more and t <= late) and (m, t) != (more, late) for m, t in points)
        assert is_on is not beaten


def test_a_stage_without_an_answer_is_on_no_frontier():
    assert frontier([(None, 1.0), (1.0, None)]) == [False, False]


def test_every_figure_of_load_is_explained():
    told = (pathlib.Path(__file__).parents[4] / "docs" / "metrics.md").read_text(encoding="utf-8")
    told += (pathlib.Path(__file__).parents[4] / "docs" / "load.md").read_text(encoding="utf-8")
    plain = {"targetId", "caseId", "number", "label", "stage", "stages", "reason", "detail"}
    plain |= {"setAside", "cancelled", "warmups", "errorsByCause", "scheduled", "count", "client"}
    plain |= {"slos", "saturationReason", "adjP90", "adjP95", "adjP90Failed", "adjP95Failed"}
    plain |= {"adjP99Failed"}
    records = (StageSummary, SeriesSummary, AdjustedSummary)
    names = {f.encode_name for record in records for f in msgspec.structs.fields(record)}
    assert {name for name in names - plain if f"`{name}`" not in told} == set()


def test_a_ramp_is_named_by_its_ends():
    assert label_of(Stage(number=1, concurrency=8, concurrency_from=1)) == "1 to 8 at once"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_terminal_tells_a_saturated_load_whole(width):
    busy = msgspec.structs.replace(READING, utilisation_max=1.0, receive_lag_p99_ms=7.0)
    late = {"late": 3, "dropped": 2}
    document = measured((ONE, late, GOOD_ROWS), (TWO, late, GOOD_ROWS), reading=busy)
    shown = " ".join(terminal_summary(document, width=width).split())
    assert all(" ".join(line.split()) in shown for line in stage_lines(document))
    assert "(1 at once: this client's event loop was 100% busy in one second (at most " in shown
    assert "Gates on that stay undecided: measure with less load, on a quieter" in shown
    assert shown.count("(") == shown.count(")")
