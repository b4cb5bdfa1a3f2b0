"""Gates from a journal to the document, to every report, and to what a program reads."""

import json
import pathlib
from dataclasses import replace

import msgspec
import pytest

from bench.app.rendering import gated, outcome_of, publish
from bench.document import build_document, encode_document, read_document
from bench.ledger import collect
from bench.load.shapes import level_of
from bench.model.blocks import Block
from bench.model.journal_record import JournalRecord
from bench.model.load import ClientReading, Stage, StageBegun, StageDone, Sweep
from bench.model.steps import Started, TrialDone
from bench.model.surroundings import Incident
from bench.report import REPORTS, terminal_summary
from bench.report.gates import amount, gate_detail, gate_lines, gate_words, undecided_note
from tests.document_schema import check_document
from tests.sample_documents import (
    FAST,
    PATH,
    SLOW,
    case_info,
    failure,
    footer,
    header,
    ledger,
    response,
    timing,
    trial,
    verdict,
)

TIMED = case_info("timed", kind="performance", runs=400, warmup_runs=0)
CALM = ClientReading(stamps="kernel", reads=9, receive_lag_p99_ms=0.1, utilisation_max=0.1)
BUSY = ClientReading(stamps="kernel", reads=9, receive_lag_p99_ms=90.0, utilisation_max=0.1)


def with_gates(made, *gates, strict=False, **fields):
    config = msgspec.structs.replace(made.header.config, gates=gates, is_strict=strict, **fields)
    return replace(made, header=msgspec.structs.replace(made.header, config=config))


def plan_run(*gates, answers=None, count=400, case=TIMED, targets=(FAST,), **fields):
    """Return the document of a run whose answers come after 100 ms and a little more each."""
    case = msgspec.structs.replace(case, runs=count)
    trials = answers or [
        trial(target, case, run, response=response(timing(100 + run % 10, 300 + run % 10)))
        for target in targets
        for run in range(1, count + 1)
    ]
    made = ledger(tuple(trials), footer(), targets=targets, cases=(case,))
    return build_document(with_gates(made, *gates, **fields))


def verdicts(document):
    return {one.gate: one.verdict for one in document.summary.gates}


def only(document):
    (one,) = document.summary.gates
    return one


# ---- a run without load stages -------------------------------------------------------------------


def test_each_figure_of_a_run_is_held_against_its_limit():
    document = plan_run(
        *("ttft.p99=120ms", "ttft.p50=100ms", "first-token.p90=1ms", "total.p95=400ms"),
        *("success=98%", "errors=2%", "cost=1usd", "cost=0.001usd", "itl.p90=9s", "tpot.p50=9s"),
        "tokens-per-s.p50=1",
    )
    assert verdicts(document) == {
        "ttft.p99=120ms": "passed",
        "ttft.p50=100ms": "failed",
        "first-token.p90=1ms": "failed",
        "total.p95=400ms": "passed",
        "success=98%": "passed",
        "errors=2%": "passed",
        "cost=1usd": "passed",
        "cost=0.001usd": "failed",
        "itl.p90=9s": "passed",
        "tpot.p50=9s": "passed",
        "tokens-per-s.p50=1": "passed",
    }
    first = document.summary.gates[0]
    assert (first.value, first.count, first.counted) == (109.0, 400, "answers")
    assert first.label == "warm connections"


@pytest.mark.parametrize(
    ("gate", "fewest"), [("ttft.p50", 6), ("ttft.p90", 36), ("ttft.p95", 72), ("itl.p99", 368)]
)
def test_a_percentile_decides_nothing_below_its_fewest_answers(gate, fewest):
    below = only(plan_run(f"{gate}=10s", count=fewest - 1))
    assert (below.verdict, below.count_to_decide) == ("undecided", fewest)
    assert only(plan_run(f"{gate}=10s", count=fewest)).verdict == "passed"


def test_each_target_is_judged_for_itself():
    document = plan_run("success=50%", count=10, targets=(FAST, SLOW))
    assert [one.target_id for one in document.summary.gates] == [FAST.id, SLOW.id]


def test_scores_stand_on_judged_answers():
    right = [trial(FAST, PATH, run, evaluation=verdict(run % 10 != 0)) for run in range(1, 101)]
    document = plan_run(
        "quality.score=80%", "quality.score=99%", answers=right, count=100, case=PATH
    )
    assert list(verdicts(document).values()) == ["passed", "failed"]
    assert document.summary.gates[0].counted == "judged answers"
    assert document.summary.gates[0].label == "1 case"


def test_what_a_run_does_not_measure_is_undecided():
    document = plan_run(
        "quality.score=80%",
        "ttft.p50=1s",
        count=10,
        case=PATH,
        answers=[trial(FAST, PATH, 1, response=failure())],
    )
    assert {one.why for one in document.summary.gates} != set()
    assert set(verdicts(document).values()) == {"undecided"}


def test_a_percentile_that_falls_on_failures_is_no_pass():
    answers = [
        trial(FAST, TIMED, run, response=failure() if run % 5 == 0 else response())
        for run in range(1, 101)
    ]
    document = plan_run("ttft.p90=10s", "ttft.p50=10s", answers=answers, count=100)
    p90, p50 = document.summary.gates
    assert p90.verdict == "undecided"
    assert p90.why.startswith("20 of 100 requests failed")
    assert p50.verdict == "passed"


def test_an_incomplete_run_decides_nothing_but_what_was_spent():
    whole = plan_run().trials
    document = build_document(
        with_gates(
            ledger(
                tuple(
                    trial(FAST, TIMED, run, response=response(timing(100, 300)))
                    for run in range(1, 51)
                ),
                footer(reason="budget"),
                cases=(TIMED,),
            ),
            *("ttft.p50=1ms", "success=1%", "cost=9usd", "cost=0.001usd"),
        )
    )
    assert len(whole) == 400
    assert list(verdicts(document).values()) == ["undecided", "undecided", "undecided", "failed"]
    assert document.summary.gates[0].why == ("50 of 400 planned requests count: 350 never sent")


def test_trials_that_were_set_aside_leave_gates_undecided():
    answers = [
        trial(FAST, TIMED, run, invalidated="gateway" if run == 1 else None) for run in range(1, 41)
    ]
    found = only(plan_run("ttft.p50=9s", answers=answers, count=40))
    assert found.verdict == "undecided"
    assert found.why == "39 of 40 planned requests count: 1 set aside"


def test_an_unknown_cost_can_exceed_and_never_keep_a_limit():
    case = msgspec.structs.replace(TIMED, runs=2)
    records: list[JournalRecord] = [header((FAST,), (case,))]
    for run, usd in ((1, None), (2, 1.0)):
        done = trial(FAST, case, run, estimated_cost_usd=usd)
        records += [Started(trial_id=done.id, offset_ms=0.0), TrialDone(trial=done)]
    made = with_gates(collect([*records, footer()]), "cost=0.5usd", "cost=5usd")
    low, high = build_document(made).summary.gates
    assert low.verdict == "failed"
    assert (high.verdict, high.value) == ("undecided", 1.0)
    assert high.why == "the cost of 1 request is unknown: this is a lower bound"


def test_a_client_that_lagged_decides_no_time_but_success_and_money():
    lagging = [
        trial(FAST, TIMED, run, response=response(timing(100, 300, client_lag_ms=80.0)))
        for run in range(1, 41)
    ]
    document = plan_run("ttft.p50=9s", "success=10%", "cost=9usd", answers=lagging, count=40)
    assert list(verdicts(document).values()) == ["undecided", "passed", "passed"]
    assert document.summary.gates[0].why == "this client may be what was measured"


def test_a_build_that_changed_under_way_decides_nothing():
    changed = Incident(
        incident_class="build_changed", at="now", summary="it changed", detail={"files": ["a.js"]}
    )
    case = msgspec.structs.replace(TIMED, runs=40)
    made = ledger(
        tuple(trial(FAST, case, run) for run in range(1, 41)), changed, footer(), cases=(case,)
    )
    assert only(build_document(with_gates(made, "ttft.p50=9s"))).verdict == "undecided"


# ---- load stages ---------------------------------------------------------------------------------


def staged(*stages, gates=(), sweep=False, reading=CALM, slos=(), ends=None):
    """Return the document of a run of (stage, milliseconds of each answer, count)."""
    case = msgspec.structs.replace(TIMED, runs=0)
    template = Sweep(by="concurrency", low=1, high=64, template=Stage(number=1, requests=5))
    plan = tuple(
        Block(
            target_id=FAST.id,
            case_id=case.id,
            alone=True,
            concurrency=1,
            trials=(),
            stage=None if sweep else stage,
            sweep=template if sweep else None,
        )
        for stage, *_ in (stages[:1] if sweep else stages)
    )
    made = header((FAST,), (case,), plan=plan)
    config = msgspec.structs.replace(made.config, gates=gates, slos=slos)
    records: list[JournalRecord] = [msgspec.structs.replace(made, config=config)]
    for stage, total_ms, count in stages:
        records.append(StageBegun(target_id=FAST.id, case_id=case.id, stage=stage, offset_ms=0.0))
        side_by_side = int(level_of(stage))
        for number in range(count):
            began = total_ms * (number // side_by_side)
            answered = response(timing(total_ms / 2, total_ms))
            one = trial(
                FAST,
                case,
                number + 1,
                id=f"{FAST.id}|{case.id}|s{stage.number}r{number + 1}",
                stage=stage.number,
                started_offset_ms=began,
                finished_offset_ms=began + total_ms,
                response=answered,
            )
            records.append(TrialDone(trial=one))
        records.append(
            StageDone(
                target_id=FAST.id,
                case_id=case.id,
                number=stage.number,
                **{"reason": "requests", "sent": count, "client": reading}
                | (ends or {}).get(stage.number, {}),
                began_offset_ms=0.0,
                sending_ended_offset_ms=1.0,
                ended_offset_ms=2.0,
            )
        )
    return build_document(collect([*records, footer()]))


ONE = Stage(number=1, concurrency=1, requests=60)
TWO = Stage(number=2, concurrency=2, requests=120)
EIGHT = Stage(number=2, concurrency=8, requests=480)


def test_of_several_loads_the_worst_decides_and_of_a_rate_the_best():
    document = staged(
        (ONE, 100.0, 60),
        (EIGHT, 200.0, 480),
        gates=("ttft.p50=80ms", "success=90%", "rate=20/s", "rate=80/s", "itl.p50=9s"),
    )
    found = {one.gate: (one.verdict, one.label) for one in document.summary.gates}
    assert found == {
        "ttft.p50=80ms": ("failed", "8 at once, warm connections"),
        "success=90%": ("passed", "1 at once"),
        "rate=20/s": ("passed", "8 at once"),
        "rate=80/s": ("failed", "8 at once"),
        "itl.p50=9s": found["itl.p50=9s"],
    }
    assert found["itl.p50=9s"][0] == "passed"


def test_objectives_and_goodput_count_who_kept_them():
    document = staged(
        (ONE, 100.0, 60),
        gates=("slo=90%", "goodput=5/s", "goodput=50/s"),
        slos=("total=1s",),
    )
    assert list(verdicts(document).values()) == ["passed", "passed", "failed"]


def test_a_stage_that_the_client_held_back_decides_nothing():
    document = staged((ONE, 100.0, 60), gates=("ttft.p50=9s", "cost=9usd"), reading=BUSY)
    assert list(verdicts(document).values()) == ["undecided", "passed"]


def test_a_failed_stage_fails_whatever_the_client_did_at_another():
    document = staged(
        (ONE, 100.0, 60),
        (EIGHT, 200.0, 480),
        gates=("ttft.p50=1ms",),
        ends={2: {"client": BUSY}},
    )
    assert only(document).verdict == "failed"
    assert only(document).label.startswith("1 at once")


def test_what_a_sweep_found_to_be_too_much_is_not_held_against_it():
    document = staged(
        (ONE, 100.0, 60),
        (TWO, 900.0, 120),
        gates=("ttft.p50=100ms",),
        sweep=True,
        ends={2: {"saturated": "degradation"}},
    )
    assert (only(document).verdict, only(document).label) == (
        "passed",
        "1 at once, warm connections",
    )
    alone = staged(
        (TWO, 900.0, 120),
        gates=("ttft.p50=100ms",),
        sweep=True,
        ends={2: {"saturated": "degradation"}},
    )
    assert only(alone).verdict == "failed"


def test_steps_that_were_asked_for_are_held_against_it_saturated_or_not():
    document = staged(
        (ONE, 100.0, 60),
        (EIGHT, 900.0, 480),
        gates=("ttft.p50=100ms",),
        ends={2: {"saturated": "degradation"}},
    )
    assert only(document).verdict == "failed"


def test_a_stage_that_was_cut_leaves_gates_undecided():
    document = staged((ONE, 100.0, 60), gates=("ttft.p50=9s",), ends={1: {"reason": "stopped"}})
    assert only(document).verdict == "undecided"


def test_a_rate_that_changes_all_the_time_has_no_throughput_to_hold_against_a_limit():
    ramp = Stage(number=1, rate_from=1.0, rate_per_second=9.0, duration_ms=9_000.0)
    document = staged((ramp, 100.0, 60), gates=("rate=1/s",))
    (gate,) = document.summary.gates
    assert (gate.verdict, gate.why) == ("undecided", "this load has no steady part")


def test_no_stage_at_all_is_undecided():
    document = staged((ONE, 100.0, 0), gates=("ttft.p50=9s", "rate=1/s", "itl.p50=1s"))
    assert set(verdicts(document).values()) == {"undecided"}
    skipped = staged((ONE, 100.0, 0), gates=("ttft.p50=9s",), ends={1: {"reason": "skipped"}})
    assert only(skipped).verdict == "undecided"


# ---- what people and programs read ---------------------------------------------------------------


MIXED = ("ttft.p50=1ms", "success=50%", "ttft.p99=9s", "quality.score=90%")


def test_every_report_says_how_gates_came_out_before_anything_else():
    document = plan_run(*MIXED, count=40)
    assert gate_words(document.summary.gates) == (
        "Gate failed: ttft.p50=1ms; gates undecided: ttft.p99=9s, quality.score=90%; "
        "gate passed: success=50%. "
    )
    for ending in (".md", ".html"):
        report = REPORTS[ending](document)
        assert "Gate failed: ttft.p50=1ms" in report
        assert report.index("Gates") < report.index("Targets")
    lines = terminal_summary(document, width=160).splitlines()
    assert lines[0].startswith("Gate failed: ttft.p50=1ms")
    assert any(line.startswith("Gate ttft.p50=1ms: FAILED, 104 ms [1") for line in lines)
    assert [line.split(":")[1].split(",")[0] for line in gate_lines(document)] == [
        " FAILED",
        " undecided",
        " undecided",
        " passed",
    ]


def test_gates_survive_the_document_and_keep_to_its_schema():
    document = plan_run(*MIXED, count=40, strict=True)
    encoded = encode_document(document)
    check_document(encoded)
    again = read_document(encoded)
    assert again.summary.gates == document.summary.gates
    assert again.config.is_strict
    assert again.config.gates == MIXED


def test_programs_get_each_verdict_with_what_it_stands_on():
    first, *_ = gate_detail(plan_run(*MIXED, count=40))["gates"]
    assert (first["verdict"], first["bound"], first["unit"]) == ("failed", 1.0, "ms")
    assert json.loads(json.dumps(first))["count"] == 40
    assert gate_detail(plan_run(count=6)) == {}


def test_the_note_on_undecided_gates_groups_them_by_reason():
    note = undecided_note(plan_run("ttft.p99=9s", "total.p99=9s", count=40).summary.gates)
    assert note == (
        "undecided: `ttft.p99=9s`, `total.p99=9s` (40 answers are too few for an interval, which "
        "takes 368). `--strict` makes that exit code 8"
    )
    assert undecided_note(plan_run("ttft.p50=9s", count=40).summary.gates) == ""


def test_an_interval_that_holds_the_limit_comes_with_the_sample_that_would_decide():
    document = plan_run("success=95%", count=40)
    assert list(gate_lines(document)) == [
        "Gate success=95%: undecided, 100% [91%, 100%]; the 95% interval holds the limit: about "
        "73 requests would decide"
    ]


def test_every_field_of_a_verdict_is_explained():
    told = (pathlib.Path(__file__).parents[4] / "docs" / "metrics.md").read_text(encoding="utf-8")
    names = ("verdict", "value", "interval", "count", "counted", "countToDecide", "label", "bound")
    assert [name for name in names if f"`{name}`" not in told] == []


def test_many_gates_are_counted_where_there_is_no_room():
    names = [f"ttft.p50={n}ms" for n in range(1, 9)]
    document = plan_run(*names, count=40)
    assert "and 4 more" in gate_words(document.summary.gates)
    assert "… and 2 more gates: see the report" in terminal_summary(document)


@pytest.mark.parametrize(
    ("gates", "strict", "wanted"),
    [
        pytest.param(("ttft.p50=9s",), True, (0, "rendered"), id="passed"),
        pytest.param(("ttft.p50=1ms", "ttft.p99=1s"), True, (6, "gate_failed"), id="failed"),
        pytest.param(("ttft.p99=1s",), True, (8, "gate_undecided"), id="strict"),
        pytest.param(("ttft.p99=1s",), False, (0, "rendered"), id="undecided"),
        pytest.param((), True, (0, "rendered"), id="none"),
    ],
)
def test_gates_decide_the_exit_code_of_a_run_that_ended_well(tmp_path, gates, strict, wanted):
    document = plan_run(*gates, count=40, strict=strict)
    made = publish(document, tmp_path, source=tmp_path / "r.json", summary_width=80)
    told = gated(outcome_of(made, document, journal=None), document)
    assert (told.exit_code, told.reason) == wanted
    assert any("--strict" in note for note in told.notes) == (
        wanted[0] == 0 and "p99" in str(gates)
    )


def test_a_gate_never_hides_that_a_run_went_wrong(tmp_path):
    document = plan_run("ttft.p50=1ms", count=40)
    made = publish(document, tmp_path, source=tmp_path / "r.json", summary_width=80)
    broken = replace(outcome_of(made, document, journal=None), exit_code=5, reason="max_cost")
    assert gated(broken, document).exit_code == 5


@pytest.mark.parametrize(
    ("gate", "value", "shown"),
    [
        ("ttft.p50=1s", 12.345, "12.3 ms"),
        ("success=1%", 0.995, "99.5%"),
        ("cost=1usd", 0.5, "$0.500"),
        ("rate=1/s", 12.345, "12.3/s"),
        ("tokens-per-s.p50=1", 40.0, "40.0 tokens/s"),
        ("rate=1/s", None, "-"),
    ],
)
def test_figures_are_shown_in_the_unit_of_their_gate(gate, value, shown):
    one = plan_run(gate, count=1).summary.gates[0]
    assert amount(one, value) == shown
