import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.case import CaseInfo
from bench.model.summary import CaseSummary, Summary, TargetSummary
from bench.model.target import Target
from bench.model.trial import Trial, Usage
from bench.stats import wilson
from bench.summary import Evidence, summarize
from bench.summary.performance import Summed, headline_block, metrics
from tests.sample_documents import (
    EXTRACTION,
    FAST,
    PARAPHRASE,
    PATH,
    SLOW,
    STREAM,
    failure,
    planned,
    response,
    timing,
    trial,
    verdict,
)

CASES = (PATH, PARAPHRASE, EXTRACTION, STREAM)


def summary_of(
    *trials: Trial,
    targets: tuple[Target, ...] = (FAST,),
    cases: tuple[CaseInfo, ...] = CASES,
    **fields: Any,
) -> Summary:
    described = {"reference": targets[0].id} | fields
    return summarize(Evidence(targets=targets, cases=cases, trials=trials, **described))


def only(*trials: Trial, **fields: Any) -> TargetSummary:
    return summary_of(*trials, **fields).targets[0]


def case_of(summary: Summary, case: CaseInfo) -> CaseSummary:
    return next(entry for entry in summary.cases if entry.case_id == case.id)


def stream(run: int = 1, **fields: Any) -> Trial:
    return trial(FAST, STREAM, run, **fields)


# -- what counts -------------------------------------------------------------------------------


def test_nothing_measured_gives_no_figure_and_no_zero_that_means_unknown():
    target = only()
    assert target.attempted == 0
    assert target.quality.score is None
    assert target.reliability.success_rate is None
    assert target.performance.ttft_ms is None
    assert target.performance.headline is None
    assert target.efficiency.estimated_cost_usd is None
    assert target.efficiency.usage_missing_rate is None
    assert target.efficiency.prompt_tokens is None
    assert target.achieved_requests_per_second is None


def test_one_trial_is_enough():
    target = only(trial())
    assert (target.attempted, target.succeeded, target.valid) == (1, 1, 1)
    assert target.quality.score == 1.0
    assert target.quality.consistency_rate is None


def test_all_failed_has_rates_and_no_timings():
    target = only(*(stream(run, response=failure()) for run in (1, 2, 3)))
    assert target.reliability.success_rate == 0.0
    assert target.performance.trials == 0
    assert target.performance.total_ms is None


@pytest.mark.parametrize(
    ("fields", "counter"),
    [
        pytest.param({"invalidated": "gateway_killed"}, "invalidated", id="incident"),
        pytest.param({"invalidated": "cancelled"}, "cancelled", id="marked cancelled"),
        pytest.param({"outcome": "cancelled"}, "cancelled", id="cancelled"),
    ],
)
def test_a_trial_set_aside_is_counted_and_enters_nothing(fields, counter):
    quality = trial(evaluation=verdict(False), **fields)
    performance = stream(response=response(timing(5_000, 9_000)), **fields)
    target = only(quality, performance)
    assert getattr(target, counter) == 2
    assert (target.attempted, target.valid) == (0, 0)
    assert target.quality.attempted == 0
    assert target.reliability.success_rate is None
    assert target.performance.trials == 0
    assert target.efficiency.estimated_cost_usd is None


def test_warm_ups_enter_nothing_but_their_own_count():
    target = only(stream(warmup=True, response=response(timing(9_000, 9_900))), stream())
    assert (target.warmups, target.attempted) == (1, 1)
    assert target.performance.ttft_ms is not None
    assert target.performance.ttft_ms.max == 200.0


def test_planned_trials_without_a_record_are_not_run():
    plan = planned(PATH, FAST) + planned(STREAM, FAST)
    target = only(trial(run=1), planned=plan)
    assert (target.planned, target.not_run) == (7, 6)


# -- quality -----------------------------------------------------------------------------------


def test_a_score_is_passed_of_judged():
    target = only(
        trial(run=1),
        trial(run=2, evaluation=verdict(False)),
        trial(case=EXTRACTION, run=1),
        trial(case=EXTRACTION, run=2, evaluation=verdict(None)),
        trial(case=PARAPHRASE, run=1, response=failure()),
    )
    assert (target.quality.passed, target.quality.attempted) == (2, 3)
    assert target.quality.score == pytest.approx(2 / 3)
    assert target.quality.cases == 2
    assert target.quality.first_pass_score == 1.0


def test_the_first_pass_is_the_lowest_run_whatever_the_order():
    target = only(trial(run=2), trial(run=1, evaluation=verdict(False)))
    assert target.quality.first_pass_score == 0.0


def test_the_score_of_one_case_has_wilsons_interval():
    target = only(trial(run=1), trial(run=2, evaluation=verdict(False)))
    assert target.quality.score_interval == wilson(1, 2)


def test_honest_consistency_compares_only_the_very_same_prompt():
    different_tasks = only(
        trial(run=1, evaluation=verdict(True, "17")), trial(run=2, evaluation=verdict(True, "23"))
    )
    assert different_tasks.quality.consistency_rate == 0.5
    assert different_tasks.quality.same_instance_consistency is None
    same: dict[str, Any] = {"prompt_hash": "aa" * 32}
    same_task = only(
        trial(run=1, evaluation=verdict(True, "17"), **same),
        trial(run=2, evaluation=verdict(True, "17"), **same),
        trial(run=3, evaluation=verdict(False, "18"), **same),
    )
    assert same_task.quality.same_instance_consistency == pytest.approx(2 / 3)
    assert same_task.quality.same_instance_entropy == pytest.approx(0.9183, abs=1e-4)


def test_answers_of_one_case_are_never_the_same_instance_of_another():
    same: dict[str, Any] = {"prompt_hash": "aa" * 32}
    target = only(trial(case=PATH, **same), trial(case=PARAPHRASE, **same))
    assert target.quality.same_instance_consistency is None


def test_entropy_and_unique_answers_are_over_all_answers():
    target = only(
        trial(run=1, evaluation=verdict(True, "a")),
        trial(run=2, evaluation=verdict(False, "b")),
        trial(case=EXTRACTION, run=1, evaluation=verdict(False, None)),
    )
    assert target.quality.unique_answers == 2
    assert target.quality.answer_entropy == pytest.approx(1.0)


def test_calibration_is_the_squared_error_of_confidence():
    target = only(
        trial(run=1, evaluation=verdict(True, confidence=0.8)),
        trial(run=2, evaluation=verdict(False, confidence=0.6)),
        trial(run=3),
    )
    assert target.quality.mean_confidence == pytest.approx(0.7)
    assert target.quality.brier_score == pytest.approx((0.04 + 0.36) / 2)


def test_instructions_are_summed_over_trials():
    counts = {"instructionsPassed": 1, "instructionsTotal": 3}
    target = only(
        trial(run=1, evaluation=verdict(False, metrics=counts)),
        trial(run=2, evaluation=verdict(True, metrics=counts | {"instructionsPassed": 3})),
        trial(run=3, evaluation=verdict(True, metrics={"instructionsTotal": "many"})),
    )
    assert target.quality.instruction_score == pytest.approx(4 / 6)


def test_the_robustness_drop_is_canonical_minus_variant():
    target = only(
        trial(run=1),
        trial(run=2),
        trial(case=PARAPHRASE, run=1),
        trial(case=PARAPHRASE, run=2, evaluation=verdict(False)),
    )
    assert target.robustness_drop == 0.5
    assert only(trial()).robustness_drop is None


def test_slices_score_cases_by_what_they_are():
    summary = summary_of(trial(), trial(case=EXTRACTION, evaluation=verdict(False)))
    scores = {entry.key: (entry.passed, entry.attempted) for entry in summary.categories}
    assert scores == {"reasoning": (1, 1), "extraction": (0, 1), "performance": (0, 0)}
    assert {entry.key for entry in summary.difficulties} == {"medium", "easy"}
    assert summary.dimensions[0].interval == wilson(1, 1)


def test_a_case_without_a_category_is_in_no_slice():
    bare = msgspec.structs.replace(PATH, category=None)
    assert summary_of(trial(), cases=(bare,)).categories == ()


# -- agreement ---------------------------------------------------------------------------------


def test_targets_are_compared_on_the_tasks_that_both_answered():
    summary = summary_of(
        trial(FAST, PATH, 1, evaluation=verdict(True, "17")),
        trial(FAST, PATH, 2, evaluation=verdict(True, "23")),
        trial(SLOW, PATH, 1, evaluation=verdict(True, "17")),
        trial(SLOW, PATH, 2, evaluation=verdict(False, "22")),
        trial(SLOW, EXTRACTION, 1, evaluation=verdict(True, "x")),
        targets=(FAST, SLOW),
    )
    assert summary.targets[0].reference_agreement is None
    agreement = summary.targets[1].reference_agreement
    assert agreement is not None
    assert (agreement.matching, agreement.compared, agreement.rate) == (1, 2, 0.5)
    assert summary.pairwise_agreement[0].agreement == agreement


def test_nothing_to_compare_is_unknown_agreement():
    summary = summary_of(targets=(FAST, SLOW))
    assert summary.pairwise_agreement[0].agreement.rate is None
    assert summary.pairwise_agreement[0].agreement.confidence95 is None


# -- performance -------------------------------------------------------------------------------


def test_warm_and_cold_are_never_mixed_and_warm_is_the_headline():
    target = only(
        stream(1, response=response(timing(100, 500))),
        stream(2, response=response(timing(300, 700), connection="cold")),
    )
    performance = target.performance
    assert performance.headline == "warm"
    assert performance.warm is not None
    assert performance.cold is not None
    assert performance.warm.ttft_ms is not None
    assert performance.warm.ttft_ms.p50 == 100
    assert performance.ttft_ms is not None
    assert performance.ttft_ms.p50 == 200, "version 2 knows no difference"
    assert headline_block(performance) == performance.warm


CACHED = Usage(prompt_tokens=100, completion_tokens=80, cached_prompt_tokens=64)


@pytest.mark.parametrize(
    ("connection", "usage", "headline"),
    [
        pytest.param("cold", None, "cold", id="cold only"),
        pytest.param("warm", CACHED, "promptCached", id="prompt cached only"),
        pytest.param(None, None, "all", id="nobody knows"),
    ],
)
def test_the_headline_falls_back_and_says_to_what(connection, usage, headline):
    performance = only(stream(response=response(connection=connection, usage=usage))).performance
    assert performance.headline == headline
    assert headline_block(performance).trials == 1


def test_prompt_cached_trials_are_apart_from_warm_ones():
    performance = only(
        stream(1), stream(2, response=response(timing(50, 400), usage=CACHED))
    ).performance
    assert performance.warm is not None
    assert performance.prompt_cached is not None
    assert (performance.warm.trials, performance.prompt_cached.trials) == (1, 1)
    assert performance.warm.ttft_ms is not None
    assert performance.warm.ttft_ms.max == 200


def test_violations_are_excluded_once_each_and_counted():
    performance = only(
        stream(1),
        stream(2, pin_violated=True, response=response(fallback=True)),
        stream(3, response=response(fallback=True)),
        stream(4, response=response(cache_hit=True)),
        stream(5, response=failure(), pin_violated=True),
    ).performance
    excluded = performance.excluded
    assert (excluded.pin_violated, excluded.fallback, excluded.cache_hit) == (1, 1, 1)
    assert performance.trials == 1


def test_quality_trials_have_no_part_in_performance():
    assert only(trial()).performance.trials == 0


def test_a_performance_trial_that_failed_its_check_is_in_the_cases_timings_only():
    summary = summary_of(stream(1), stream(2, evaluation=verdict(False)))
    case = case_of(summary, STREAM)
    assert (case.metrics.trials, case.timings.trials) == (1, 2)
    assert summary.targets[0].performance.trials == 1
    assert case.evaluation is not None
    assert (case.evaluation.hits, case.evaluation.of) == (0, 1)


def test_gaps_are_pooled_over_trials():
    performance = only(
        stream(1, response=response(timing(itl_ms=(10.0, 30.0)))),
        stream(2, response=response(timing(itl_ms=(20.0,)))),
        stream(3, response=response(timing(itl_ms=None))),
    ).performance
    assert performance.itl_ms is not None
    assert (performance.itl_ms.count, performance.itl_ms.p50) == (3, 20.0)


def test_held_back_is_a_rate_of_those_with_a_verdict():
    performance = only(
        stream(1, response=response(timing(held_back=True, buffered=True))),
        stream(2),
        stream(3, response=response(timing(held_back=None, buffered=None))),
    ).performance
    assert performance.held_back is not None
    assert (performance.held_back.hits, performance.held_back.of) == (1, 2)
    assert performance.buffered_rate == 0.5


def test_without_a_stream_only_totals_are_known():
    bare = response(timing(None, 800.0, held_back=None))
    performance = only(stream(response=bare)).performance
    assert performance.ttft_ms is None
    assert performance.held_back is None
    assert performance.total_ms is not None


def test_requests_per_second_are_over_the_span_from_first_to_last():
    target = only(
        stream(1, started_offset_ms=0.0, finished_offset_ms=500.0),
        stream(2, started_offset_ms=500.0, finished_offset_ms=2_000.0),
    )
    assert target.achieved_requests_per_second == 1.0
    instant = only(stream(1, started_offset_ms=5.0, finished_offset_ms=5.0))
    assert instant.achieved_requests_per_second is None


# -- reliability -------------------------------------------------------------------------------


def test_failures_are_told_apart_in_both_vocabularies():
    target = only(
        trial(run=1, response=failure("total_timeout", seed_code="TimeoutError")),
        trial(run=2, response=failure("rate_limited", seed_code="http_429")),
        trial(run=3, response=failure("http_503", status=429)),
        trial(run=4, response=failure("invalid_stream_json")),
        trial(run=5, response=response(finish_reason="length")),
        trial(run=6),
    )
    reliability = target.reliability
    assert reliability.errors_by_code == {
        "TimeoutError": 1,
        "http_429": 1,
        "http_503": 1,
        "invalid_stream_json": 1,
    }
    assert reliability.errors_by_cause["total_timeout"] == 1
    assert reliability.success_rate == pytest.approx(2 / 6)
    assert reliability.timeout_rate == pytest.approx(1 / 6)
    assert reliability.rate_limit_rate == pytest.approx(2 / 6)
    assert reliability.malformed_stream_rate == pytest.approx(1 / 6)
    assert reliability.truncated_rate == pytest.approx(1 / 6)
    assert reliability.success is not None
    assert reliability.success.interval == wilson(2, 6)


# -- money -------------------------------------------------------------------------------------


def test_cost_per_right_answer_is_of_quality_trials_only():
    target = only(
        trial(run=1, estimated_cost_usd=0.01),
        trial(run=2, estimated_cost_usd=0.03, evaluation=verdict(False)),
        stream(estimated_cost_usd=0.5),
    )
    assert target.efficiency.quality_cost_per_correct_usd == pytest.approx(0.04)
    assert target.efficiency.cost_per_correct_answer_usd == pytest.approx(0.54)


def test_one_unknown_cost_makes_the_honest_figure_unknown():
    target = only(trial(run=1, estimated_cost_usd=0.01), trial(run=2, estimated_cost_usd=None))
    assert target.efficiency.quality_cost_per_correct_usd is None
    assert target.efficiency.estimated_cost_usd == 0.01


def test_a_request_that_never_left_costs_nothing():
    refused = trial(run=2, response=failure("connect_refused", seed_code="request_error"))
    target = only(trial(run=1, estimated_cost_usd=0.01), refused)
    assert target.efficiency.quality_cost_per_correct_usd == 0.01


def test_without_a_right_answer_there_is_no_cost_of_one():
    target = only(trial(evaluation=verdict(False)))
    assert target.efficiency.quality_cost_per_correct_usd is None
    assert target.efficiency.cost_per_correct_answer_usd is None


def test_tokens_are_summed_where_they_are_reported():
    target = only(
        trial(run=1),
        trial(run=2, response=response(usage=None)),
        trial(
            run=3,
            response=response(
                usage=Usage(prompt_tokens=10, completion_tokens=30, reasoning_tokens=20)
            ),
        ),
    )
    efficiency = target.efficiency
    assert (efficiency.prompt_tokens, efficiency.completion_tokens) == (130, 110)
    assert efficiency.usage_missing_rate == pytest.approx(1 / 3)
    assert efficiency.reasoning_token_ratio == pytest.approx(20 / 110)


def test_what_the_gateway_says_it_cost_stands_beside_ours():
    reported = Usage(prompt_tokens=1, completion_tokens=1, cost_usd=0.25)
    target = only(
        trial(run=1, response=response(usage=reported)),
        trial(run=2, response=response(gateway_cost_usd=0.5)),
    )
    assert target.efficiency.gateway_cost_usd == 0.75
    assert only(trial(run=1)).efficiency.gateway_cost_usd is None


# -- laws --------------------------------------------------------------------------------------

anything = st.builds(
    trial,
    target=st.sampled_from([FAST, SLOW]),
    case=st.sampled_from(CASES),
    run=st.integers(1, 3),
    warmup=st.booleans(),
    invalidated=st.sampled_from([None, "gateway_killed", "cancelled"]),
    pin_violated=st.sampled_from([None, True]),
    evaluation=st.sampled_from([None, verdict(), verdict(False, ""), verdict(None, None)]),
    estimated_cost_usd=st.sampled_from([None, 0.0, 0.001]),
    finished_offset_ms=st.sampled_from([0.0, 1_000.0, 5_000.0]),
    response=st.sampled_from(
        [
            response(),
            response(usage=None, connection=None),
            response(timing(None, None), connection="cold"),
            failure(),
        ]
    ),
)


@given(st.lists(anything, max_size=12))
def test_every_trial_is_in_exactly_one_pile_and_no_figure_is_nan(trials):
    summary = summary_of(*trials, targets=(FAST, SLOW))
    for target in summary.targets:
        own = [entry for entry in trials if entry.target_id == target.target_id]
        piles = target.attempted + target.invalidated + target.cancelled + target.warmups
        assert piles == len(own)
        assert target.valid <= target.succeeded <= target.attempted
    encoded = msgspec.json.encode(summary)
    json.loads(encoded, parse_constant=pytest.fail)
    rates = [
        value
        for target in summary.targets
        for value in (target.quality.score, target.reliability.success_rate)
        if value is not None
    ]
    assert all(0 <= value <= 1 for value in rates)


def test_one_set_of_records_is_summed_up_once_and_another_of_the_same_size_is_not_it():
    summed = Summed()
    some = [trial(case=STREAM, run=run, response=response(timing(100.0 * run))) for run in (1, 2)]
    others = [some[0], trial(case=STREAM, run=2, response=response(timing(500.0)))]
    found = summed(some)
    assert found == metrics(some)
    assert summed(tuple(some)) is found
    assert summed(others) == metrics(others) != found
