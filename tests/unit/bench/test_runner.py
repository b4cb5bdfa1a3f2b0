import pytest

from bench.model.steps import Started, TrialDone
from bench.model.target import Prices
from bench.model.trial import Response, ResponseError
from tests.fakes import Reply
from tests.run_stage import CENTS, Stage, block, error

# ---- the order of a run ------------------------------------------------------------------------


def test_blocks_run_in_plan_order_and_warm_ups_end_before_the_first_measured_send():
    stage = Stage(block("a", warmups=2, runs=1, concurrency=2), block("b", runs=1))
    end = stage.run()
    assert stage.client.asked == ["a|c|w1", "a|c|w2", "a|c|r1", "b|c|r1"]
    assert stage.client.sent_ns[2] > max(stage.client.sent_ns[:2])
    assert (end.reason, end.exit_code) == ("done", 0)


def test_a_start_is_written_before_the_send_and_the_trial_before_the_next_one():
    written_at_send = []

    def script(call):
        written_at_send.append(list(stage.journal.records))
        return Reply()

    stage = Stage(block(runs=2), script=script)
    stage.run()
    first, second = written_at_send
    assert [type(record) for record in first] == [Started]
    assert [type(record) for record in second] == [Started, TrialDone, Started]


def test_a_block_keeps_its_concurrency_and_no_more():
    stage = Stage(block(runs=7, concurrency=3))
    stage.run()
    assert stage.client.most_in_flight == 3
    assert len(stage.trials) == 7


def test_neighbouring_blocks_run_side_by_side_but_not_beside_one_that_is_alone():
    stage = Stage(
        block("a", "q1", runs=1),
        block("a", "q2", runs=1),
        block("a", "p1", runs=1, alone=True),
        block("a", "p2", runs=1, alone=True),
        parallel_groups=4,
    )
    beside = {}

    def script(call):
        beside[call.tags["trial"]] = stage.client.in_flight
        return Reply()

    stage.client.script = script
    stage.run()
    assert stage.client.most_in_flight == 2
    assert beside["a|p1|r1"] == beside["a|p2|r1"] == 0


def test_without_parallel_groups_blocks_wait_for_each_other():
    stage = Stage(block("a", "q1"), block("a", "q2"))
    stage.run()
    assert stage.client.most_in_flight == 1


def test_an_empty_plan_is_done():
    assert Stage().run().reason == "done"


# ---- what a trial holds ------------------------------------------------------------------------


def test_a_trial_records_what_was_sent_when_and_what_it_is_worth():
    stage = Stage(
        block(runs=1),
        prices=Prices(input_usd=0.5, output_usd=1.0, source="catalogue"),
        temperature=0.25,
    )
    stage.run()
    (trial,) = stage.trials
    assert trial.parameters == {"maxTokens": 100, "temperature": 0.25}
    assert (trial.started_offset_ms, trial.finished_offset_ms) == (0.0, 10.0)
    assert trial.sent_at_ns == stage.client.sent_ns[0]
    assert trial.evaluation is not None
    assert trial.evaluation.passed is True
    assert (trial.estimated_cost_usd, trial.cost_source) == (10.0, "catalogue")
    assert trial.outcome == "completed"
    assert len(trial.prompt_hash or "") == 64
    assert stage.seen == [trial]


def test_the_runs_settings_win_over_the_cases():
    stage = Stage(block(runs=1), max_tokens=7, reasoning_effort="high")
    stage.run()
    request = stage.client.calls[0].request
    assert (request.max_tokens, request.reasoning_effort) == (7, "high")


def test_tags_name_run_and_trial_unless_switched_off():
    stage = Stage(block(runs=1))
    stage.run()
    assert dict(stage.client.calls[0].tags) == {"run": "run", "trial": "a|c|r1"}
    bare = Stage(block(runs=1))
    bare.run(has_tags=False)
    assert dict(bare.client.calls[0].tags) == {}


def test_a_failed_answer_is_a_result_without_a_verdict():
    stage = Stage(block(runs=1), script=lambda _: Reply(response=error()))
    end = stage.run()
    (trial,) = stage.trials
    assert (trial.outcome, trial.evaluation, trial.invalidated) == ("failed", None, None)
    assert (end.reason, end.exit_code) == ("no_success", 5)


def test_a_judge_that_raises_fails_the_trial_and_loses_nothing():
    def judge(answer):
        message = "no such key"
        raise KeyError(message)

    stage = Stage(block(runs=1), judge=judge)
    stage.run()
    (trial,) = stage.trials
    assert trial.evaluation is not None
    assert trial.evaluation.passed is False
    assert trial.response.content == "FINAL: 42"


def test_without_saved_responses_the_text_is_judged_and_dropped():
    stage = Stage(block(runs=1), save_responses=False)
    stage.run()
    (trial,) = stage.trials
    assert trial.response.content == ""
    assert not trial.response.texts_kept
    assert trial.evaluation is not None
    assert trial.evaluation.passed is True


def test_answers_are_judged_off_the_loop_while_others_are_in_flight():
    stage = Stage(block(runs=4, concurrency=4))
    stage.run()
    assert all(trial.evaluation and trial.evaluation.passed for trial in stage.trials)


# ---- time --------------------------------------------------------------------------------------


def test_a_spent_budget_stops_one_target_and_not_the_others():
    stage = Stage(block("a", runs=3), block("b", runs=2), budget_ms=20.0)
    end = stage.run()
    assert stage.client.asked == ["a|c|r1", "a|c|r2", "b|c|r1", "b|c|r2"]
    assert [(n.trial_id, n.reason) for n in end.not_run] == [("a|c|r3", "budget")]
    assert (end.reason, end.exit_code) == ("budget", 0)
    assert end.budget_used_ms == {"a": 20.0, "b": 20.0}


def test_a_budget_that_left_nothing_unsent_is_done():
    assert Stage(block(runs=2), budget_ms=20.0).run().reason == "done"


def test_a_cut_by_time_is_incomplete_where_completeness_is_required():
    end = Stage(block(runs=3), budget_ms=20.0).run(require_complete=True)
    assert (end.reason, end.exit_code) == ("budget", 5)


def test_warm_ups_count_on_the_clock():
    stage = Stage(block(warmups=2, runs=1), budget_ms=20.0)
    end = stage.run()
    assert stage.client.asked == ["a|c|w1", "a|c|w2"]
    assert end.reason == "no_success"


# ---- money -------------------------------------------------------------------------------------


def test_the_money_limit_stops_the_run_before_it_could_be_passed():
    stage = Stage(block("a", runs=5), block("b", runs=1), prices=CENTS, max_cost_usd=1.2)
    end = stage.run()
    assert stage.client.asked == ["a|c|r1", "a|c|r2"]
    assert (end.reason, end.exit_code) == ("max_cost", 5)
    assert end.spent_usd == pytest.approx(0.12)
    assert [n.reason for n in end.not_run] == ["max_cost"] * 4


def test_a_reserve_in_flight_is_waited_for_and_not_taken_for_spent():
    stage = Stage(block(runs=4, concurrency=4), prices=CENTS, max_cost_usd=1.5)
    end = stage.run()
    assert stage.client.most_in_flight == 1
    assert len(stage.trials) == 4
    assert end.reason == "done"


def test_a_lost_answer_counts_with_its_whole_reserve():
    timeout = Response(
        error=ResponseError(code="total_timeout", seed_code="TimeoutError", message="m")
    )
    stage = Stage(
        block(runs=2), prices=CENTS, max_cost_usd=2.0, script=lambda _: Reply(response=timeout)
    )
    end = stage.run()
    assert len(stage.trials) == 1
    assert end.spent_usd == pytest.approx(1.1)
    assert stage.ledger().spent_usd == pytest.approx(1.1)


def test_without_prices_nothing_is_reserved_and_the_spend_is_unknown():
    stage = Stage(block(runs=1))
    assert stage.run().spent_usd is None
    assert stage.ledger().spent_usd is None
