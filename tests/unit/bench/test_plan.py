from collections import Counter
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.model.case import CaseInfo
from bench.model.target import Target
from bench.plan import build_plan, plan_hash, trial_id


def make_case(name="q", **fields):
    known: dict[str, Any] = {
        "kind": "quality",
        "category": "c",
        "dimension": "d",
        "difficulty": "easy",
        "runs": 2,
        "text_hash": "0" * 64,
    }
    return CaseInfo(id=name, name=name, **(known | fields))


def make_targets(count):
    names = [f"provider{index}/model" for index in range(count)]
    return [Target(id=name, model=name, model_id="model", display_name=name) for name in names]


def performance(name="p", **fields):
    return make_case(name, **({"kind": "performance", "runs": 5, "warmup_runs": 1} | fields))


def ids(plan):
    return [trial.id for block in plan for trial in block.trials]


case_lists = st.lists(
    st.builds(
        make_case,
        name=st.text("abcdef", min_size=1, max_size=3),
        kind=st.sampled_from(["quality", "performance", "agentic"]),
        runs=st.integers(1, 9),
        warmup_runs=st.integers(0, 3),
        concurrency=st.sampled_from([1, 1, 2, 8]),
        is_load_point=st.booleans(),
    ),
    max_size=5,
    unique_by=lambda case: case.id,
)


@settings(max_examples=40)
@given(case_lists, st.integers(0, 4), st.integers(), st.booleans())
def test_a_plan_is_a_permutation_of_everything_that_is_asked(cases, target_count, seed, overlap):
    targets = make_targets(target_count)
    plan = build_plan(targets, cases, seed=seed, overlap=overlap)
    wanted = [
        trial_id(target.id, case.id, run, warmup=warmup)
        for target in targets
        for case in cases
        for warmup, count in ((True, case.warmup_runs), (False, case.runs))
        for run in range(1, count + 1)
    ]
    assert Counter(ids(plan)) == Counter(wanted)


@settings(max_examples=40)
@given(case_lists, st.integers(1, 3), st.integers())
def test_every_target_gets_the_same_instance_in_the_same_run(cases, target_count, seed):
    plan = build_plan(make_targets(target_count), cases, seed=seed)
    seeds: dict[tuple[str, int, bool], set[int]] = {}
    for block in plan:
        for trial in block.trials:
            seeds.setdefault((trial.case_id, trial.run, trial.warmup), set()).add(trial.seed)
    assert all(len(values) == 1 for values in seeds.values())


@settings(max_examples=40)
@given(case_lists, st.integers(1, 3), st.integers())
def test_warmups_come_before_every_measured_trial_of_their_case_and_target(cases, count, seed):
    seen_measured = set()
    for block in build_plan(make_targets(count), cases, seed=seed):
        for trial in block.trials:
            key = (trial.target_id, trial.case_id)
            assert not (trial.warmup and key in seen_measured)
            if not trial.warmup:
                seen_measured.add(key)


@settings(max_examples=40)
@given(case_lists, st.integers(1, 4), st.integers())
def test_no_target_is_ever_two_blocks_of_a_case_ahead_of_another(cases, count, seed):
    targets = make_targets(count)
    done: Counter[tuple[str, str]] = Counter()
    for block in build_plan(targets, cases, seed=seed):
        done[block.case_id, block.target_id] += 1
        of_case = [done[block.case_id, target.id] for target in targets]
        assert max(of_case) - min(of_case) <= 1


@settings(max_examples=40)
@given(case_lists, st.integers(1, 3), st.integers())
def test_the_same_arguments_give_the_same_plan(cases, count, seed):
    targets = make_targets(count)
    assert build_plan(targets, cases, seed=seed) == build_plan(targets, cases, seed=seed)


def test_cases_of_one_seed_group_share_the_instance():
    cases = [make_case("a", seed_group="g"), make_case("b", seed_group="g"), make_case("c")]
    plan = build_plan(make_targets(1), cases, seed=1, runs=1)
    first, second, third = (block.trials[0].seed for block in plan)
    assert first == second != third


def test_performance_runs_alone_unless_overlap_is_asked_for():
    cases = [performance(), make_case()]
    plan = build_plan(make_targets(2), cases, seed=1)
    assert {block.case_id: block.alone for block in plan} == {"p": True, "q": False}
    assert not any(
        block.alone for block in build_plan(make_targets(2), cases, seed=1, overlap=True)
    )


def test_targets_take_turns_and_the_order_turns_round():
    plan = build_plan(make_targets(2), [performance(runs=4, warmup_runs=0)], seed=1)
    order = [block.target_id for block in plan]
    first, second = order[:2]
    assert order == [first, second, second, first, first, second, second, first]


def test_the_seed_draws_who_begins():
    beginners = {
        build_plan(make_targets(2), [performance()], seed=seed)[0].target_id for seed in range(20)
    }
    assert len(beginners) == 2


def test_each_round_asks_every_case_once_quality_first():
    cases = [performance(runs=3), make_case("q1"), make_case("q2")]
    plan = build_plan(make_targets(1), cases, seed=1)
    assert [block.case_id for block in plan] == ["q1", "q2", "p", "q1", "q2", "p", "p"]


def test_concurrent_cases_are_cut_into_blocks_only_where_targets_take_turns():
    case = performance(runs=20, concurrency=2, warmup_runs=2)
    alone = build_plan(make_targets(1), [case], seed=1)
    assert [len(block.trials) for block in alone] == [22]
    pair = build_plan(make_targets(2), [case], seed=1)
    assert [len(block.trials) for block in pair] == [10, 10, 8, 8, 4, 4]


def test_a_rest_that_can_not_fill_its_load_joins_the_block_before():
    case = performance(runs=20, concurrency=4, warmup_runs=4)
    pair = build_plan(make_targets(2), [case], seed=1)
    assert [len(block.trials) for block in pair] == [24, 24]


def test_a_load_point_is_one_block_at_every_concurrency():
    cases = [
        performance(f"c{level}", runs=max(20, 4 * level), warmup_runs=level, concurrency=level,
                    is_load_point=True)
        for level in (1, 2, 4, 8, 16)
    ]  # fmt: skip
    plan = build_plan(make_targets(1), [performance("p", runs=3, warmup_runs=0), *cases], seed=1)
    blocks = [(block.case_id, block.concurrency, len(block.trials)) for block in plan]
    assert blocks == [
        ("p", 1, 1), ("c1", 1, 21), ("c2", 2, 22), ("c4", 4, 24), ("c8", 8, 40), ("c16", 16, 80),
        ("p", 1, 1), ("p", 1, 1),
    ]  # fmt: skip
    assert all(block.alone for block in plan)


def test_targets_take_turns_at_a_load_in_a_few_large_blocks():
    case = performance(runs=20, warmup_runs=1, is_load_point=True)
    pair = build_plan(make_targets(2), [case], seed=1)
    assert [len(block.trials) for block in pair] == [5, 5, 4, 4, 4, 4, 4, 4, 4, 4]


def test_typed_runs_and_warmups_replace_those_of_every_case():
    plan = build_plan(make_targets(1), [make_case(), performance()], seed=1, runs=1, warmup=2)
    target = "provider0/model"
    assert ids(plan) == [
        f"{target}|q|w1",
        f"{target}|q|w2",
        f"{target}|q|r1",
        f"{target}|p|w1",
        f"{target}|p|w2",
        f"{target}|p|r1",
    ]


def test_warmups_and_runs_of_the_same_number_have_other_seeds():
    (block,) = build_plan(make_targets(1), [performance(runs=1)], seed=1)
    assert block.trials[0].seed != block.trials[1].seed


def test_nothing_to_ask_is_an_empty_plan():
    assert build_plan(make_targets(2), [], seed=1) == ()


def test_the_plan_hash_is_the_same_on_every_machine():
    targets, cases = make_targets(2), [make_case(), performance()]
    plan = build_plan(targets, cases, seed=1)
    assert (
        plan_hash(plan, cases, targets)
        == "b9143cf58d39cb6d8defe5104eed7e3e75bf3f8724a8aa7bc10e45dd24c5585f"
    )


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"seed": 2}, id="seed"),
        pytest.param({"runs": 3}, id="runs"),
        pytest.param({"overlap": True}, id="overlap"),
    ],
)
def test_the_plan_hash_sees_another_plan(change):
    targets, cases = make_targets(2), [make_case(), performance()]
    plain = plan_hash(build_plan(targets, cases, seed=1), cases, targets)
    other = plan_hash(build_plan(targets, cases, **({"seed": 1} | change)), cases, targets)
    assert plain != other


def test_the_plan_hash_sees_a_changed_case_text():
    targets, cases = make_targets(1), [make_case()]
    plan = build_plan(targets, cases, seed=1)
    changed = [make_case(text_hash="1" * 64)]
    assert plan_hash(plan, cases, targets) != plan_hash(plan, changed, targets)


def test_blocks_of_one_case_follow_each_other_inside_a_round():
    plan = build_plan(make_targets(3), [make_case("a", runs=1), make_case("b", runs=1)], seed=4)
    assert [name for name, _ in groupby(block.case_id for block in plan)] == ["a", "b"]
