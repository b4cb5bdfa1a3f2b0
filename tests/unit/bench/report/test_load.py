import re
from typing import Any

import pytest

from bench.document import build_document
from bench.report import render_reports, terminal_summary
from bench.report.load import load, load_chart
from tests.sample_documents import FAST, SLOW, failure, ledger, trial
from tests.sample_load import FOUR, LEVELS, ONE, TWO, failed, slowing_trials, wave


@pytest.fixture(scope="module")
def document():
    return build_document(ledger(slowing_trials(), cases=LEVELS))


def test_the_table_names_what_was_kept_in_flight_and_where_it_saturates(document):
    section = load(document)
    shown = [[cell.text for cell in row] for row in section.table.rows]
    assert [row[1:4] for row in shown] == [
        ["1", "100%", "2.00"], ["2", "100%", "4.00"], ["4", "100%", "2.67"]
    ]  # fmt: skip
    assert [row[6] for row in shown] == ["1.00x", "1.00x", "3.00x"]
    assert [row[-1] for row in shown] == ["no", "no", "yes"]
    assert section.table.rows[2][-1].detail == "at least twice as slow"
    assert section.table.rows[2][1].detail == "4.00 in flight"


def test_both_long_reports_have_the_section_and_the_page_has_the_curve(document):
    reports = render_reports(document)
    assert "## Under load" in reports[".md"]
    page = reports[".html"]
    assert 'id="load"' in page
    curve = page[page.index('id="load-curve"') :]
    curve = curve[: curve.index("</section>")]
    assert curve.count("<polyline") == 2
    # Total times 500, 500, 1,500 of an axis to 1,500: from left to middle flat, then to the top.
    assert 'points="0.0,66.7 500.0,66.7 1000.0,0.0"' in curve
    assert re.findall(r">(\d+(?: at once)?)</text>", curve)[-3:] == ["1", "2", "4 at once"]
    assert "saturated at 4" in curve


def test_a_run_without_load_points_has_neither():
    reports = render_reports(build_document(ledger(())))
    assert "Under load" not in reports[".md"]
    assert "load-curve" not in reports[".html"]


@pytest.mark.parametrize(
    "trials",
    [
        pytest.param(wave(ONE, [0.0], total_ms=500.0), id="one-point"),
        pytest.param(
            (*wave(ONE, [0.0], total_ms=5.0), *wave(TWO, [0.0], total_ms=5.0, target=SLOW)),
            id="one-point-each",
        ),
    ],
)
def test_one_point_is_a_row_and_no_curve(trials):
    document = build_document(ledger(trials, cases=LEVELS, targets=(FAST, SLOW)))
    assert load(document).table.rows
    assert load_chart(document) is None


def test_a_point_without_times_leaves_a_gap_in_the_curve():
    trials = (
        *wave(ONE, [0.0], total_ms=500.0),
        failed(TWO, 1, 600.0),
        *wave(FOUR, [900.0], total_ms=500.0),
    )
    chart = load_chart(build_document(ledger(trials, cases=LEVELS)))
    assert chart is not None
    total, answers = chart.curves
    assert total.lines == ()
    assert len(answers.lines) == 1
    everything = build_document(ledger((failed(ONE, 1, 0.0), failed(TWO, 1, 9.0)), cases=LEVELS))
    assert load_chart(everything) is not None
    assert "Under load" in render_reports(everything)[".md"]


def test_points_without_any_figure_are_rows_and_no_curve():
    moment: dict[str, Any] = {
        "started_offset_ms": 5.0,
        "finished_offset_ms": 5.0,
        "response": failure(),
    }
    trials = tuple(trial(FAST, case, **moment) for case in (ONE, TWO))
    document = build_document(ledger(trials, cases=LEVELS))
    assert [row[6].text for row in load(document).table.rows] == ["-", "-"]
    assert load_chart(document) is None


def test_a_terminal_says_what_the_load_came_to(document):
    text = " ".join(terminal_summary(document, width=120).split())
    assert (
        "2.00 answers/s at 1 at once and 2.67 at 4; whole answer p50 500 and 1,500 ms; saturated "
        "at 4 at once (at least twice as slow)"
    ) in text


def test_a_load_without_two_points_with_answers_has_no_sentence():
    trials = (*wave(ONE, [0.0], total_ms=500.0), failed(TWO, 1, 600.0))
    assert "Under load" not in terminal_summary(build_document(ledger(trials, cases=LEVELS)))


def test_a_target_that_never_saturates_is_said_to():
    trials = (*wave(ONE, [0.0], total_ms=500.0), *wave(TWO, [600.0, 600.0], total_ms=510.0))
    chart = load_chart(build_document(ledger(trials, cases=LEVELS)))
    assert chart is not None
    assert "; not saturated" in terminal_summary(build_document(ledger(trials, cases=LEVELS)))
    assert chart.curves[0].detail == "500 at 1 at once, 510 at 2; not saturated"
