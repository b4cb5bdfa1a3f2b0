from typing import Any

import msgspec
import pytest

from bench.ledger import collect
from bench.model.footer import Footer
from bench.model.header import Resumed
from bench.model.load import Stage, StopRules, Sweep
from bench.model.paired import PairPlace
from bench.model.surroundings import Incident
from bench.model.trial import Response, Timing, Usage
from tests.fakes import GOOD, Reply
from tests.load_stage import LoadStage, load_block
from tests.run_stage import CENTS, ENVIRONMENT, block, error


def timed(total=50.0, ttft=10.0, tokens=5):
    return msgspec.structs.replace(
        GOOD,
        timing=Timing(
            total_ms=total,
            first_content_ms=ttft,
            first_token_ms=ttft,
            itl_ms=(1.0, 2.0),
            content_itl_ms=(1.0, 2.0),
            sent_ms=0.1,
        ),
        usage=Usage(prompt_tokens=3, completion_tokens=tokens, raw={"x": 1}),
        connection="warm",
    )


def reply(**fields):
    return lambda _: Reply(response=timed(**fields))


def closed(**fields):
    usual: dict[str, Any] = {"number": 1, "concurrency": 2, "requests": 6}
    return Stage(**usual | fields)


def paced(**fields):
    usual: dict[str, Any] = {
        "number": 1,
        "rate_per_second": 100.0,
        "arrival": "constant",
        "requests": 5,
    }
    return Stage(**usual | fields)


def test_a_closed_loop_keeps_its_places_filled_and_sends_so_many():
    stage = LoadStage(load_block(closed(lock_step=True)), script=reply())
    end = stage.run()
    assert (end.reason, end.exit_code) == ("done", 0)
    assert stage.client.asked == [f"a|c|s1r{n}" for n in range(1, 7)]
    assert stage.client.most_in_flight == 2
    (done,) = stage.ends
    assert (done.reason, done.sent, done.scheduled) == ("requests", 6, None)


def test_connections_and_warm_ups_come_before_the_first_measured_request():
    stage = LoadStage(load_block(closed(warmups=2)), script=reply())
    stage.run()
    assert stage.client.opened == [2]
    assert stage.client.asked[:2] == ["a|c|s1w1", "a|c|s1w2"]
    assert [trial.warmup for trial in stage.trials] == [True] * 2 + [False] * 6
    (entry,) = stage.ledger().stages.entries
    assert (entry.columns.count(), entry.columns.warmups) == (6, 2)
    assert stage.client.readings == 1


def test_a_trial_of_a_stage_keeps_its_gaps_and_neither_text_nor_raw_usage():
    stage = LoadStage(load_block(closed(requests=1)), script=reply())
    stage.run()
    (trial,) = stage.trials
    assert (trial.stage, trial.response.content, trial.response.stream_chunks) == (1, "", ())
    assert not trial.response.texts_kept
    assert (trial.response.timing.itl_ms, trial.response.timing.content_itl_ms) == (
        (1.0, 2.0),
        None,
    )
    assert trial.response.usage is not None
    assert trial.response.usage.raw == {}
    assert trial.evaluation is not None
    assert trial.evaluation.passed


def test_an_open_loop_sends_when_requests_are_due():
    stage = LoadStage(load_block(paced()), script=lambda _: Reply(response=timed(), takes_ms=0.0))
    stage.run()
    due = sorted(trial.planned_offset_ms or 0.0 for trial in stage.trials)
    assert [round(after - due[0]) for after in due] == [0, 10, 20, 30, 40]
    assert all(t.started_offset_ms >= (t.planned_offset_ms or 0) for t in stage.trials)
    (done,) = stage.ends
    assert (done.reason, done.scheduled, done.sent, done.late) == ("requests", 5, 5, 0)


def test_what_finds_no_place_waits_is_late_and_is_dropped_in_the_end():
    slow = lambda _: Reply(response=timed(), takes_ms=60.0)  # noqa: E731
    stage = LoadStage(
        load_block(paced(concurrency=1, requests=None, duration_ms=100.0)), script=slow
    )
    stage.run()
    (done,) = stage.ends
    assert done.scheduled == 10
    assert done.sent + done.dropped == 10
    assert done.dropped > 0
    assert done.late > 0
    assert stage.client.most_in_flight == 1
    assert done.reason == "duration"


def test_a_schedule_without_a_time_sends_all_that_waits():
    slow = lambda _: Reply(response=timed(), takes_ms=60.0)  # noqa: E731
    stage = LoadStage(load_block(paced(concurrency=1)), script=slow)
    stage.run()
    (done,) = stage.ends
    assert (done.sent, done.dropped, done.reason) == (5, 0, "requests")


def test_time_ends_a_closed_loop_and_what_is_in_flight_finishes():
    stage = LoadStage(load_block(closed(requests=None, duration_ms=45.0)), script=reply())
    stage.run()
    (done,) = stage.ends
    assert done.reason == "duration"
    assert done.sent == len(stage.trials)
    assert done.ended_offset_ms >= done.sending_ended_offset_ms >= done.began_offset_ms


def test_a_trace_has_its_own_times_and_sizes():
    trace = Stage(number=1, offsets_ms=(0.0, 20.0), input_tokens=(3, None), output_tokens=(7, None))
    stage = LoadStage(load_block(trace), script=reply())
    stage.run()
    first, second = stage.client.calls
    assert first.request.max_tokens == 7
    assert len((first.request.messages[0].content or "").split()) == 3
    assert second.request.max_tokens == 100
    assert stage.trials[0].evaluation is None
    assert stage.ends[0].reason == "trace"


def test_a_conversation_grows_by_what_was_said():
    stage = LoadStage(load_block(closed(turns=3, requests=5, concurrency=1)), script=reply())
    stage.run()
    assert [t.conversation_turn for t in stage.trials] == [1, 2, 3, 1, 2]
    roles = [[m.role for m in call.request.messages] for call in stage.client.calls]
    assert roles[0] == ["user"]
    assert roles[2] == ["user", "assistant"] * 2 + ["user"]
    assert stage.client.calls[1].request.messages[1].content == "FINAL: 42"
    assert roles[3] == ["user"]


def test_a_failed_turn_ends_its_conversation():
    answers = iter([timed(), error(), timed(), timed()])
    stage = LoadStage(
        load_block(closed(turns=3, requests=4, concurrency=1)),
        script=lambda _: Reply(response=next(answers)),
    )
    stage.run()
    assert [t.conversation_turn for t in stage.trials] == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("rules", "response", "reason", "told"),
    [
        (StopRules(error_share=0.1), error(), "errors", "20 of 20 requests failed"),
        (StopRules(tokens=30), timed(tokens=10), "tokens", "30 completion tokens"),
        (StopRules(), error(), "errors", "every one of the first 100"),
    ],
)
def test_a_rule_ends_a_stage_with_its_reason(rules, response, reason, told):
    one = closed(requests=200, concurrency=1, stops=rules)
    stage = LoadStage(load_block(one), script=lambda _: Reply(response=response))
    stage.run()
    (done,) = stage.ends
    assert done.reason == reason
    assert told in done.detail


def test_a_queue_that_only_grows_ends_an_open_loop():
    state = {"n": 0}

    def script(_):
        state["n"] += 1
        return Reply(response=timed(ttft=10.0 + 20 * state["n"]), takes_ms=11.0)

    one = paced(requests=300, rate_per_second=1000.0, stops=StopRules(on_saturation=True))
    stage = LoadStage(load_block(one), script=script)
    stage.run()
    (done,) = stage.ends
    assert (done.reason, done.saturated) in {("saturated", "degradation"), ("requests", None)}


REFUSED = error(code="connect_refused")


def answers(*responses):
    """Return a script that gives these answers, the last one for good."""
    left = list(responses)
    return lambda _: Reply(response=left.pop(0) if len(left) > 1 else left[0])


def test_an_endpoint_that_nobody_finds_is_given_up_after_ten_requests():
    stage = LoadStage(
        load_block(closed(requests=10_000, concurrency=1)),
        load_block(closed(number=2, requests=10_000)),
        script=answers(REFUSED),
    )
    end = stage.run()
    first, second = stage.ends
    assert (first.reason, first.sent, first.unreached) == ("errors", 10, 10)
    assert first.detail == "none of the first 10 requests found anybody there: connect_refused"
    assert (second.reason, second.sent) == ("skipped", 0)
    assert (end.reason, end.exit_code) == ("provider_down", 5)


def test_as_many_have_to_find_nobody_as_are_in_flight():
    stage = LoadStage(
        load_block(closed(requests=10_000, concurrency=64, lock_step=True)),
        script=answers(REFUSED),
    )
    stage.run()
    assert stage.ends[0].reason == "errors"
    assert stage.ends[0].unreached > 10
    assert stage.ends[0].sent < 200


def test_one_answer_shows_that_there_is_an_endpoint():
    stage = LoadStage(
        load_block(closed(requests=60, concurrency=1)), script=answers(timed(), REFUSED)
    )
    stage.run()
    assert (stage.ends[0].reason, stage.ends[0].unreached) == ("requests", 59)


def test_stages_are_given_up_for_good_only_where_nobody_was_ever_found():
    small = [load_block(closed(number=n, requests=4, concurrency=1)) for n in range(1, 7)]
    dead = LoadStage(*small, script=answers(REFUSED))
    dead.run()
    assert [one.reason for one in dead.ends] == ["requests"] * 3 + ["skipped"] * 3
    alive = LoadStage(*small, script=answers(timed(), REFUSED))
    alive.run()
    assert [one.reason for one in alive.ends] == ["requests"] * 6


def test_a_pair_is_not_asked_for_once_one_of_its_arms_is_not_there():
    def block_of(number, target_id):
        place = PairPlace(phase="warm", level=0, number=number, side="base")
        return load_block(
            closed(number=number, requests=5, concurrency=1, pair=place), target_id=target_id
        )

    blocks = [block_of(n, "a" if n % 2 else "b") for n in range(1, 9)]
    stage = LoadStage(
        *blocks, script=lambda call: Reply(response=REFUSED if call.target.id == "a" else timed())
    )
    end = stage.run()
    assert [(one.target_id, one.reason) for one in stage.ends] == [
        ("a", "requests"),
        ("b", "requests"),
        ("a", "requests"),
    ]
    assert set(stage.runner._trials.left.values()) == {
        "a: none of the first 10 requests found anybody there: connect_refused"
    }
    assert end.exit_code == 5


def in_pairs(count, answer):
    """Run so many single requests of arms `a` and `b` in turn; `answer` is of arm `b`."""
    blocks = [
        load_block(
            closed(
                number=n,
                requests=1,
                concurrency=1,
                pair=PairPlace(phase="warm", level=0, number=n // 2, side="base"),
            ),
            target_id="ab"[n % 2],
        )
        for n in range(2, 2 + 2 * count)
    ]
    stage = LoadStage(
        *blocks,
        script=lambda call: answer(call) if call.target.id == "b" else Reply(response=timed()),
    )
    return stage, stage.run()


def test_pairs_end_once_an_arm_that_answered_is_not_found_any_more():
    stage, end = in_pairs(40, answers(*[timed()] * 5, REFUSED))
    assert len(stage.ends) == 2 * 15
    assert set(stage.runner._trials.left.values()) == {
        "b: the last 10 requests found nobody there any more: connect_refused"
    }
    assert (end.reason, end.exit_code) == ("provider_down", 5)


def test_pairs_end_where_each_request_of_an_arm_failed_from_the_first_on():
    stage, end = in_pairs(40, answers(error(code="http_404")))
    assert len(stage.ends) == 2 * 10
    assert set(stage.runner._trials.left.values()) == {"b: each of the first 10 requests failed"}
    assert (end.reason, end.exit_code) == ("no_success", 5)


def test_pairs_go_on_over_failures_of_an_arm_that_has_answered():
    stage, end = in_pairs(20, answers(timed(), error(code="http_404")))
    assert len(stage.ends) == 2 * 20
    assert end.reason == "done"


def test_stages_behind_one_that_was_given_up_are_skipped():
    first, second = closed(requests=200), closed(number=2, concurrency=4)
    stage = LoadStage(
        load_block(first), load_block(second), script=lambda _: Reply(response=error())
    )
    stage.run()
    assert [(done.number, done.reason) for done in stage.ends] == [(1, "errors"), (2, "skipped")]
    assert stage.ends[1].detail == "stage 1 had ended by too many errors"
    assert stage.ledger().missing == ()


def test_a_sweep_finds_where_answers_take_twice_as_long():
    def script(call):
        number = int(call.tags["trial"].rpartition("|s")[2].partition("r")[0])
        level = stage.begun[number - 1].stage.concurrency or 1
        return Reply(response=timed(total=50.0 if level < 6 else 150.0))

    sweep = Sweep(by="concurrency", low=1, high=64, template=Stage(number=1, requests=4))
    stage = LoadStage(load_block(sweep=sweep), script=script)
    end = stage.run()
    assert [s.stage.concurrency for s in stage.begun] == [1, 2, 4, 8, 6, 5]
    assert [done.saturated for done in stage.ends] == [None] * 3 + ["degradation"] * 2 + [None]
    assert end.reason == "done"
    assert stage.ledger().missing == ()


def test_money_ends_a_stage_that_resume_repeats():
    stage = LoadStage(
        load_block(closed(requests=50, concurrency=1)),
        script=reply(),
        prices=CENTS,
        max_cost_usd=1.5,
    )
    end = stage.run()
    assert (end.reason, stage.ends[0].reason) == ("max_cost", "max_cost")
    ledger = stage.ledger()
    assert [trial.id for trial in ledger.missing] == ["a|c|s1r1"]
    assert ledger.known_spend_usd <= 1.5


def test_a_stop_ends_a_stage_and_begins_no_other():
    def script(_):
        return Reply(response=timed(), then=lambda: stage.control.interrupt(2))

    stage = LoadStage(
        load_block(closed(concurrency=1)), load_block(closed(number=2)), script=script
    )
    end = stage.run()
    assert end.reason == "interrupted"
    assert [(done.number, done.reason, done.detail) for done in stage.ends] == [
        (1, "stopped", "interrupted")
    ]
    assert [trial.id for trial in stage.ledger().missing] == ["a|c|s1r1", "a|c|s2r1"]


def test_resume_repeats_a_cut_stage_and_keeps_finished_ones():
    stage = LoadStage(load_block(closed()), load_block(closed(number=2)), script=reply())
    stage.run()
    cut = next(
        place
        for place, record in enumerate(stage.journal.records)
        if getattr(record, "number", None) == 2
    )
    earlier = stage.journal.records[:cut]
    going_on = LoadStage(load_block(closed()), load_block(closed(number=2)), script=reply())
    going_on.earlier = [
        *earlier,
        Resumed(at="z", offset_ms=stage.ledger().offset_ms, environment=ENVIRONMENT),
    ]
    going_on.run()
    assert [begun.attempt for begun in going_on.begun] == [2]
    ledger = going_on.ledger()
    assert [entry.columns.count() for entry in ledger.stages.entries] == [6, 6]
    assert len(ledger.trials) == 12
    assert ledger.spend["a"].unknown_requests == 18


def test_an_incident_later_sets_trials_of_a_stage_aside():
    stage = LoadStage(load_block(closed()), script=reply())
    stage.run()
    incident = Incident(
        incident_class="machine_slept",
        at="z",
        summary="slept",
        touched_trials=("a|c|s1r2", "a|c|w1"),
    )
    ledger = collect([stage.header, *stage.journal.records, incident])
    (entry,) = ledger.stages.entries
    assert (entry.columns.set_aside, entry.columns.count(), entry.is_finished) == (1, 5, False)
    assert [trial.id for trial in ledger.missing] == ["a|c|s1r1"]


def test_a_request_without_an_end_is_lost_by_its_stage():
    stage = LoadStage(load_block(closed()), script=reply())
    stage.run()
    records = stage.journal.records[:-3]
    footer = Footer(finished_at="z", offset_ms=1.0, reason="killed", exit_code=5)
    (entry,) = collect([stage.header, *records, footer]).stages.entries
    assert (entry.recorded, entry.lost) == (4, 2)
    assert entry.planned == 7


def test_only_so_many_are_in_flight_as_the_system_lets_us_connect():
    stage = LoadStage(load_block(closed(concurrency=8, requests=16)), script=reply())
    stage.client.room = 3
    stage.run()
    assert stage.client.most_in_flight <= 3
    assert stage.ends[0].connections == 3
    assert "limits connections to 3" in stage.ends[0].detail


def test_facts_of_a_long_run_stay_few():
    stage = LoadStage(load_block(closed(requests=5_000, concurrency=1)), script=reply())
    stage.run()
    assert len(stage.runner._trials.facts) < 4_200


def test_a_plan_can_be_spread_over_time():
    stage = LoadStage(block("a", runs=1), block("b", runs=1), spread_ms=10_000.0)
    stage.run()
    first, second = stage.trials
    assert second.started_offset_ms - first.started_offset_ms >= 4_900


@pytest.mark.parametrize(("offset_ms", "apart_ms"), [(8_000.0, 1_000.0), (11_000.0, 0.0)])
def test_a_resumed_plan_is_spread_over_what_is_left_of_the_time(offset_ms, apart_ms):
    stage = LoadStage(block("a", runs=1), block("b", runs=1), spread_ms=10_000.0)
    stage.earlier = [Resumed(at="z", offset_ms=offset_ms, environment=ENVIRONMENT)]
    stage.run()
    first, second = stage.trials
    apart = second.started_offset_ms - first.started_offset_ms
    assert apart_ms <= apart < apart_ms + 500


def test_no_answer_at_all_is_still_a_stage():
    stage = LoadStage(load_block(closed()), script=lambda _: Reply(response=Response()))
    stage.run()
    assert stage.ends[0].total_p50_ms is None
