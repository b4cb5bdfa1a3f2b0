from itertools import combinations, pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.model.agent import AgentRun
from bench.model.case import CaseInfo
from bench.model.trial import Evaluation, Response, ResponseError, Timing, Trial, Usage
from bench.summary.agent import agent_summary, pass_estimates

RUN = AgentRun(
    stop_reason="no_tool_calls",
    turns=4,
    tool_calls=10,
    invalid_calls=1,
    repeated_calls=2,
    self_verified=True,
    wall_ms=100.0,
    model_ms=70.0,
    tool_ms=28.0,
    own_ms=2.0,
    tree_hash="t",
    sandbox_level="full",
)
NUMBERS = iter(range(1, 10_000))


def case(name, difficulty="easy", kind="agentic"):
    return CaseInfo(
        id=name,
        name=name,
        kind=kind,
        category="coding",
        dimension="python",
        difficulty=difficulty,
        runs=2,
        text_hash="h",
    )


def trial(name="a", passed: bool | None = True, *, invalidated=None, cost=0.5, **run):
    stop = run.get("stop_reason", "no_tool_calls")
    failed = stop == "upstream_error"
    error = ResponseError(code="http_500", seed_code="http_500", message="no") if failed else None
    number = next(NUMBERS)
    return Trial(
        id=f"t|{name}|{number}",
        target_id="t",
        case_id=name,
        run=number,
        seed=1,
        started_offset_ms=0.0,
        finished_offset_ms=1.0,
        outcome="cancelled" if invalidated else "failed" if failed else "completed",
        response=Response(
            error=error,
            usage=Usage(prompt_tokens=1000, completion_tokens=100),
            timing=Timing(first_token_ms=30.0, total_ms=100.0),
        ),
        evaluation=None if passed is None else Evaluation(passed=passed),
        estimated_cost_usd=cost,
        invalidated=invalidated,
        agent=msgspec.structs.replace(RUN, **run),
    )


def summed(*trials, cases=None):
    found = agent_summary(trials, {c.id: c for c in cases or (case("a"), case("b", "hard"))})
    assert found is not None
    return found


def test_without_agentic_trials_there_are_no_figures():
    assert agent_summary((), {}) is None
    assert agent_summary((trial(),), {"a": case("a", kind="quality")}) is None


def test_solved_is_of_the_trials_with_a_verdict():
    cut = trial(passed=None, invalidated="budget", stop_reason="budget")
    broke = trial(passed=None, stop_reason="upstream_error")
    looped = trial(passed=False, stop_reason="turn_limit")
    found = summed(trial(), trial("b", passed=False), looped, cut, broke)
    assert (found.attempted, found.scored, found.solved, found.tasks) == (4, 3, 1, 2)
    assert found.solve_rate == pytest.approx(1 / 3)
    assert found.solve_rate_interval is not None
    assert found.unscored == {"budget": 1, "upstream_error": 1}
    assert found.stop_reasons == {
        "no_tool_calls": 2,
        "turn_limit": 1,
        "budget": 1,
        "upstream_error": 1,
    }


def test_one_task_has_the_interval_of_its_trials_and_several_that_of_the_tasks():
    one = summed(trial(), trial(passed=False))
    assert one.solve_rate_interval == pytest.approx((0.0945, 0.9055), abs=1e-3)
    two = summed(trial(), trial(), trial("b"), trial("b"))
    assert two.solve_rate_interval == pytest.approx((0.342, 1.0), abs=1e-3)  # two tasks, not four


def test_work_is_summed_over_the_trials_that_count():
    cut = trial(passed=None, invalidated="interrupted", stop_reason="interrupted", turns=99)
    found = summed(trial(), trial(turns=6, self_verified=False), cut)
    assert found.turns is not None
    assert (found.turns.count, found.turns.min, found.turns.max) == (2, 4, 6)
    assert found.invalid_calls is not None
    assert (found.invalid_calls.hits, found.invalid_calls.of) == (2, 20)
    assert found.repeated_calls is not None
    assert found.repeated_calls.hits == 4
    assert found.self_verified is not None
    assert (found.self_verified.hits, found.self_verified.of) == (1, 2)
    shares = (found.model_share, found.tool_share, found.own_share)
    assert shares == pytest.approx((0.7, 0.28, 0.02))
    assert found.own_ms_per_turn is not None
    assert found.own_ms_per_turn.max == 0.5
    assert found.first_turn_first_token_ms is not None
    assert found.first_turn_first_token_ms.p50 == 30.0
    assert found.first_turn_ttft_ms is None
    assert found.prompt_tokens is not None
    assert found.prompt_tokens.p50 == 1000
    assert found.sandbox_levels == {"full": 2}


def test_cost_per_solved_task_has_the_cost_of_the_unsolved_ones_in_it():
    assert summed(trial(), trial(passed=False)).cost_per_solved_usd == 1.0
    assert summed(trial(passed=False)).cost_per_solved_usd is None
    assert summed(trial(), trial(cost=None)).cost_per_solved_usd is None


def test_each_difficulty_is_summed_in_rising_order():
    found = summed(trial("b", passed=False), trial("a"), trial("a", passed=False))
    told = [(one.difficulty, one.tasks, one.scored, one.solved) for one in found.difficulties]
    assert told == [("easy", 1, 2, 1), ("hard", 1, 1, 0)]


_RUNS = st.lists(st.booleans(), min_size=1, max_size=6)


@given(_RUNS)
def test_pass_estimates_are_the_means_over_all_choices_of_k_runs(runs):
    for one in pass_estimates([runs]):
        choices = list(combinations(runs, one.k))
        assert one.pass_at_k == pytest.approx(sum(map(any, choices)) / len(choices))
        assert one.pass_hat_k == pytest.approx(sum(map(all, choices)) / len(choices))


@given(st.lists(_RUNS, min_size=1, max_size=5))
def test_more_tries_never_lower_the_one_nor_raise_the_other_for_equally_many_runs(tasks):
    size = min(map(len, tasks))
    found = pass_estimates([runs[:size] for runs in tasks])
    assert [one.k for one in found] == list(range(1, size + 1))
    for one, more in pairwise(found):
        assert more.pass_at_k >= one.pass_at_k - 1e-12
        assert more.pass_hat_k <= one.pass_hat_k + 1e-12
    assert found[0].pass_at_k == pytest.approx(found[0].pass_hat_k)


def test_no_estimate_is_made_for_more_tries_than_there_were():
    found = pass_estimates([[True], [True, False]])
    assert [(one.k, one.tasks) for one in found] == [(1, 2), (2, 1)]
    assert pass_estimates([]) == ()
