"""What version 2's figures hide, and the figure beside each that shows it: the documented examples."""

import msgspec
import pytest

from bench.model.trial import Timing
from bench.resampling import bootstrap_mean_of_cases, bootstrap_over_cases, bootstrap_ratio
from bench.stats import wilson
from bench.summary import Evidence, summarize
from tests.sample_documents import (
    EXTRACTION,
    FAST,
    PARAPHRASE,
    PATH,
    STREAM,
    TOOLS,
    failure,
    response,
    timing,
    trial,
    verdict,
)

CASES = (PATH, PARAPHRASE, EXTRACTION, TOOLS, STREAM)
WRONG = verdict(False, "1")


def only(*trials):
    evidence = Evidence(targets=(FAST,), cases=CASES, trials=trials, reference=FAST.id)
    return summarize(evidence).targets[0]


# -- quality -------------------------------------------------------------------------------------


def test_requests_that_failed_are_wrong_answers_to_whoever_asked():
    right = [trial(run=run) for run in range(1, 6)]
    wrong = [trial(run=run, evaluation=WRONG) for run in range(6, 9)]
    failed = [trial(run=run, response=failure("total_timeout")) for run in (9, 10)]
    quality = only(*right, *wrong, *failed).quality
    assert (quality.score, quality.failed, quality.score_of_asked) == (5 / 8, 2, 0.5)
    assert quality.score_interval == wilson(5, 8)
    assert quality.score_of_asked_interval == wilson(5, 10)


def test_a_failed_request_with_a_verdict_is_counted_once():
    quality = only(trial(response=failure(), evaluation=WRONG)).quality
    assert (quality.attempted, quality.failed, quality.score_of_asked) == (1, 0, 0.0)


def test_where_all_requests_failed_the_score_is_unknown_and_what_was_asked_got_nothing():
    quality = only(*(trial(run=run, response=failure()) for run in (1, 2))).quality
    assert (quality.score, quality.score_of_asked, quality.failed) == (None, 0.0, 2)


def test_failed_timed_requests_are_no_wrong_answers():
    assert only(trial(case=STREAM, response=failure())).quality.score_of_asked is None


def test_a_case_that_is_run_more_often_weighs_no_more():
    thrice = [trial(run=run) for run in (1, 2, 3)]
    quality = only(*thrice, trial(case=TOOLS, evaluation=WRONG)).quality
    assert (quality.score, quality.case_mean_score) == (0.75, 0.5)
    assert quality.case_mean_score_interval == (0.0, 1.0)


def test_cases_of_equal_runs_have_one_score_and_one_interval():
    verdicts = {"a": [True, False], "b": [True, True], "c": [False, False], "d": []}
    assert bootstrap_mean_of_cases(verdicts) == bootstrap_over_cases(verdicts)
    assert bootstrap_mean_of_cases({"a": [True], "b": [True, True]}) == wilson(2, 2)
    assert bootstrap_mean_of_cases({}) is None


def test_an_answer_that_ran_into_its_limit_is_told_from_a_wrong_one():
    cut = response(finish_reason="length")
    quality = only(
        trial(run=1, response=cut, evaluation=WRONG),
        trial(run=2, response=cut),
        trial(run=3, evaluation=WRONG),
    ).quality
    assert (quality.attempted - quality.passed, quality.cut_short) == (2, 1)


def test_confidence_says_in_which_direction_it_errs():
    quality = only(
        trial(run=1, evaluation=verdict(True, confidence=0.9)),
        trial(run=2, evaluation=verdict(False, "1", confidence=0.9)),
        trial(run=3),
    ).quality
    assert quality.confident == 2
    assert quality.overconfidence == pytest.approx(0.4)
    assert quality.brier_score == pytest.approx((0.01 + 0.81) / 2)
    assert quality.brier_interval is None


def test_a_confidence_that_is_no_number_is_none():
    quality = only(trial(evaluation=verdict(confidence=float("nan")))).quality
    assert (quality.confident, quality.mean_confidence, quality.brier_score) == (0, None, None)


def test_brier_scores_of_several_cases_have_an_interval_over_the_cases():
    quality = only(
        trial(evaluation=verdict(True, confidence=1.0)),
        trial(case=TOOLS, evaluation=verdict(False, "1", confidence=1.0)),
    ).quality
    assert (quality.brier_score, quality.brier_interval) == (0.5, (0.0, 1.0))


def test_first_tries_are_a_rate_over_cases():
    quality = only(trial(run=1, evaluation=WRONG), trial(run=2), trial(case=TOOLS)).quality
    assert (quality.first_pass_score, quality.first_pass_interval) == (0.5, wilson(1, 2))


def test_instructions_have_an_interval_over_cases():
    def followed(count, of):
        metrics = {"instructionsPassed": count, "instructionsTotal": of}
        return verdict(count == of, metrics=metrics)

    quality = only(
        trial(evaluation=followed(3, 3)), trial(case=TOOLS, evaluation=followed(0, 1))
    ).quality
    assert quality.instruction_score == 0.75
    assert quality.instruction_score_interval == (0.0, 1.0)
    assert only(trial()).quality.instruction_score is None


def test_sameness_of_answers_has_an_interval_over_prompts():
    same = [trial(run=run, prompt_hash="x") for run in (1, 2)]
    split = [
        trial(case=TOOLS, run=run, prompt_hash="y", evaluation=verdict(run == 1, str(run)))
        for run in (1, 2)
    ]
    quality = only(*same, *split).quality
    assert quality.same_instance_consistency == 0.75
    assert quality.consistency_interval == (0.5, 1.0)
    assert only(*same).quality.consistency_interval is None


def test_what_does_not_vary_or_is_alone_has_no_bootstrap():
    assert bootstrap_ratio({}) is None
    assert bootstrap_ratio({"a": (1.0, 2.0)}) is None
    assert bootstrap_ratio({"a": (1.0, 2.0), "b": (2.0, 4.0)}) is None


# -- other words ---------------------------------------------------------------------------------


def test_a_loss_and_a_gain_do_not_cancel_out():
    found = only(
        trial(run=1),
        trial(run=2, evaluation=WRONG),
        trial(case=PARAPHRASE, run=1, evaluation=WRONG),
        trial(case=PARAPHRASE, run=2),
    )
    assert found.robustness_drop == 0.0
    assert found.robustness is not None
    assert (found.robustness.pairs, found.robustness.drop) == (2, 0.0)
    assert (found.robustness.changed.hits, found.robustness.changed.of) == (2, 2)
    assert found.robustness.drop_interval == (-1.0, 1.0)


def test_only_one_instance_in_two_wordings_is_a_pair():
    other_seed = trial(case=PARAPHRASE, run=2, seed=7, evaluation=WRONG)
    found = only(trial(run=2), other_seed, trial(case=PARAPHRASE, run=3))
    assert found.robustness is None
    assert found.robustness_drop == 0.5


# -- service -------------------------------------------------------------------------------------


def test_timed_cases_end_at_their_limit_on_purpose():
    cut = response(finish_reason="length")
    reliability = only(
        trial(case=STREAM, response=cut), trial(run=1, response=cut), trial(run=2)
    ).reliability
    assert reliability.truncated_rate == pytest.approx(2 / 3)
    assert reliability.truncated_answers is not None
    assert (reliability.truncated_answers.hits, reliability.truncated_answers.of) == (1, 2)


def test_missing_usage_is_a_rate():
    efficiency = only(trial(run=1), trial(run=2, response=response(usage=None))).efficiency
    assert efficiency.usage_missing is not None
    assert (efficiency.usage_missing.hits, efficiency.usage_missing.of) == (1, 2)


def test_the_pause_while_others_have_their_turn_is_no_lack_of_speed():
    found = only(
        trial(run=1, started_offset_ms=0.0, finished_offset_ms=500.0),
        trial(run=2, started_offset_ms=1_500.0, finished_offset_ms=2_000.0),
    )
    assert found.achieved_requests_per_second == 1.0
    assert found.requests_per_second == 2.0


def test_a_sample_of_a_load_stage_has_no_rate_of_requests():
    found = only(trial(run=1, stage=1), trial(run=2, stage=1))
    assert found.achieved_requests_per_second is None
    assert found.requests_per_second is None


# -- performance ---------------------------------------------------------------------------------


def stream(run, **fields):
    return trial(case=STREAM, run=run, **fields)


def test_percentiles_with_failures_do_not_get_better_the_more_fail():
    good = [stream(run, response=response(timing(run * 10.0, 900.0))) for run in (1, 2, 3)]
    found = only(*good, stream(4, response=failure())).performance
    assert found.adj_ttft_ms is not None
    assert (found.adj_ttft_ms.count, found.adj_ttft_ms.adj_p50) == (4, 20.0)
    assert (found.adj_ttft_ms.adj_p90, found.adj_ttft_ms.adj_p90_failed) == (None, True)


def test_failures_stand_beside_answers_of_their_own_kind_of_connection():
    refused = msgspec.structs.replace(failure(), connection=None)
    cold = msgspec.structs.replace(failure(), connection="cold")
    found = only(
        stream(1),
        stream(2, response=failure()),
        stream(3, response=refused),
        stream(4, response=cold),
    ).performance
    assert found.headline == "warm"
    assert found.adj_total_ms is not None
    assert found.adj_total_ms.count == 3


def test_an_answer_without_that_time_leaves_the_percentile_unknown():
    found = only(
        stream(1), stream(2, response=response(Timing(total_ms=900.0), stream_chunks=()))
    ).performance
    assert found.adj_ttft_ms is None
    assert found.adj_total_ms is not None


def test_where_all_failed_every_percentile_is_a_failure():
    found = only(stream(1, response=failure())).performance
    assert found.headline is None
    assert found.adj_total_ms is not None
    assert (found.adj_total_ms.adj_p50, found.adj_total_ms.adj_p50_failed) == (None, True)
