"""Judges meet whatever candidate code returned or wrote: none may raise, none may let it pass."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.agent.oracles import CHECKS
from bench.agent.task import Equals, Judged, ProbeCheck, Raises, TreeCheck
from bench.cases import CODING_IDS

MADE = {task_id: make() for task_id, make in CHECKS.items()}
JUDGED = [
    (task_id, check)
    for task_id, checks in MADE.items()
    for check in checks
    if isinstance(check, ProbeCheck) and isinstance(check.expects, Judged)
]
TREE_CHECKS = [
    check for checks in MADE.values() for check in checks if isinstance(check, TreeCheck)
]

SCALARS = st.sampled_from(
    [None, True, False, 0, 1, -1, 2, 10**30, 1.5, "", "x", "ann", "bob", "lock", "read", "end"]
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=20,
)


def test_every_task_has_its_checks():
    assert sorted(CHECKS) == sorted(CODING_IDS)


@pytest.mark.parametrize("task_id", CODING_IDS)
def test_checks_are_the_same_each_time_and_have_ids_of_their_own(task_id):
    first, again = MADE[task_id], CHECKS[task_id]()
    assert [check.id for check in first] == [check.id for check in again]
    assert len({check.id for check in first}) == len(first) >= 10
    for one, other in zip(first, again, strict=True):
        if isinstance(one, ProbeCheck) and isinstance(other, ProbeCheck):
            assert one.input == other.input


@pytest.mark.parametrize("task_id", CODING_IDS)
def test_inputs_and_expected_values_are_plain_json(task_id):
    for check in MADE[task_id]:
        if isinstance(check, ProbeCheck):
            assert json.loads(json.dumps(check.input)) == check.input
            if isinstance(check.expects, Equals):
                assert json.loads(json.dumps(check.expects.value)) == check.expects.value
            elif isinstance(check.expects, Raises):
                assert check.expects.name


@settings(max_examples=150)
@given(ANYTHING)
def test_no_returned_value_breaks_a_judge_and_none_of_them_is_right(value):
    for task_id, check in JUDGED[::9]:
        assert isinstance(check.expects, Judged)
        fault = check.expects.judge(value)
        small = value in ([], {}) or task_id == "agentic_text_merge"
        assert small or isinstance(fault, str), (task_id, check.id)


LOGS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(["lock", "unlock", "read", "write", "end", "x"]),
        st.sampled_from(["ann", "bob", "zoe", True, None, 5]),
        st.sampled_from([None, True, False, 0, 100]),
    ).map(list)
    | ANYTHING,
    max_size=6,
)


@settings(max_examples=150)
@given(LOGS)
def test_no_log_breaks_the_replay(log):
    for task_id, check in JUDGED:
        if task_id == "agentic_interleaving" and check.id == "run-01":
            assert isinstance(check.expects, Judged)
            assert isinstance(check.expects.judge(log), str)


CASES = st.lists(
    st.fixed_dictionaries(
        {"total": st.integers(-5, 10**24), "weights": st.lists(st.integers(-2, 10**6), max_size=5)},
        optional={"shares": st.lists(st.integers(0, 9), max_size=3), "error": st.just(value=True)},
    )
    | ANYTHING,
    max_size=4,
)


@settings(max_examples=150)
@given(CASES)
def test_no_file_breaks_the_judges_of_files(cases):
    for text in (json.dumps(cases), json.dumps(cases)[:-1], "[" * 5_000, "[1" + "0" * 9_000 + "]"):
        for check in TREE_CHECKS:
            fault = check.judge({"cases.json": text})
            assert fault is None or isinstance(fault, str)
    assert all(isinstance(check.judge({}), str) for check in TREE_CHECKS)


def test_a_program_that_squares_for_ever_is_stopped():
    checks = [check for task_id, check in JUDGED if task_id == "agentic_registers"]
    longest = max(checks, key=lambda check: len(json.dumps(check.input)))
    assert isinstance(longest.expects, Judged)
    program = [["load", 0, 999_999], *[["mul", 0, 0]] * 150]
    assert "a number that no formula has" in str(longest.expects.judge(program))


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        ("x", "returned 'x', no program"),
        ([["load", 0, "x"]] * 9_000, "9000 instructions, where 1 are enough"),
        ([["load", 0, "q"]], "no instruction"),
        ([["load", 2, 1]], "no instruction"),
        ([["load", True, 1]], "no instruction"),
        ([["load", 0, 1.0]], "no instruction"),
        ([["load", 0, 10**7]], "no instruction"),
        ([["add", 0, 0]], "no instruction"),
        ([["store", 0, 0]], "no instruction"),
        ([["fetch", 0, 0]], "no instruction"),
        ([["load", 1, 1]], "give None, not"),
        ([], "give None, not"),
    ],
)
def test_a_program_that_the_machine_can_not_run_is_wrong(program, fault):
    check = next(check for task_id, check in JUDGED if task_id == "agentic_registers")
    assert check.input["registers"] == 2
    assert isinstance(check.expects, Judged)
    assert fault in str(check.expects.judge(program))
