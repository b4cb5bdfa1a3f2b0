"""Grading against a sandbox that plays what it is told to: real ones are in the integration tests."""

import asyncio
import json
from dataclasses import replace

import pytest

from bench.agent.grading import RESTARTS, ROUNDS, VISIBLE_HEAD, VISIBLE_TAIL, grade, run_visible
from bench.agent.task import Equals, ProbeCheck, Task, TreeCheck
from bench.sandbox.program import Outcome

CHECKS = tuple(
    ProbeCheck(
        id=f"double-{number}", probe="double", input=number, expects=Equals(value=2 * number)
    )
    for number in range(5)
)
TASK = Task(
    id="t",
    name="t",
    description="d",
    difficulty="easy",
    language="python",
    prompt="p",
    files={"code.py": "wrong", "tests/test_code.py": "original"},
    protected=frozenset({"tests/test_code.py"}),
    test_argv=("-m", "unittest"),
    probe="probe text",
    checks=CHECKS,
    solution={"code.py": "right"},
    wrong={},
    text_hash="0" * 64,
)


def outcome(end="exited", *, exit_code=0, stdout=b"", stderr=b"", signal=None):
    return Outcome(
        end=end,
        exit_code=exit_code if end == "exited" else None,
        signal=signal,
        stdout=stdout,
        stderr=stderr,
        output_cut=False,
        duration_ns=2_000_000,
    )


class PlayedSandbox:
    """Answers each call by ``play``: order → list of lines, then the end that is given."""

    def __init__(self, play, end="exited", **ending):
        self.play, self.end, self.ending = play, end, ending
        self.programs = []

    @property
    def orders(self):
        return [json.loads(program.stdin) for program in self.programs]

    async def run(self, program):
        self.programs.append(program)
        order = json.loads(program.stdin or "null")
        return outcome(self.end, stdout=self.play(order) if order else b"", **self.ending)


def right(order):
    lines = [{"id": call["id"], "value": 2 * call["input"]} for call in order["calls"]]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def graded(sandbox, tree=TASK.files, task=TASK):
    return asyncio.run(grade(task, tree, sandbox))


def test_a_tree_passes_when_every_check_is_right_in_every_round():
    sandbox = PlayedSandbox(right)
    found = graded(sandbox)
    assert (found.passed, found.score) == (True, 1.0)
    assert found.detail == "5 of 5 hidden checks are right"
    assert found.ends == ("exited",) * ROUNDS
    assert found.sandbox_ms == 2.0 * ROUNDS
    assert [check.id for check in found.checks] == [check.id for check in CHECKS]


def test_the_order_differs_between_rounds_and_trees_but_not_between_gradings():
    first, again, other = (PlayedSandbox(right) for _ in range(3))
    assert graded(first) == graded(again)
    graded(other, {"code.py": "something else"})
    orders = [[call["id"] for call in order["calls"]] for order in first.orders]
    assert first.orders == again.orders
    assert orders[0] != orders[1] or first.orders != other.orders
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(check.id for check in CHECKS)


def test_nothing_but_inputs_goes_into_the_sandbox():
    sandbox = PlayedSandbox(right)
    graded(
        sandbox,
        {**TASK.files, ".grading/driver.py": "own driver", ".GRADING/probe.py": "in the way"},
    )
    for program, order in zip(sandbox.programs, sandbox.orders, strict=True):
        assert order.keys() == {"probe", "calls"}
        assert all(call.keys() == {"id", "probe", "input"} for call in order["calls"])
        assert b"own driver" not in program.files[".grading/driver.py"]
        assert program.files.keys() == {
            "code.py",
            "tests/test_code.py",
            ".grading/driver.py",
            ".grading/probe.py",
        }


@pytest.mark.parametrize(
    "tree",
    [
        {"code.py": "wrong"},
        {"code.py": "wrong", "tests/test_code.py": ""},
        {"code.py": "wrong", "tests": "a file where the folder of the tests was"},
    ],
    ids=["deleted", "emptied", "in-the-way"],
)
def test_the_visible_tests_are_put_back(tree):
    sandbox = PlayedSandbox(right)
    asyncio.run(run_visible(TASK, tree, sandbox))
    graded(sandbox, tree)
    for program in sandbox.programs:
        assert program.files["tests/test_code.py"] == b"original"
        assert "tests" not in program.files


def test_a_wrong_answer_fails_its_check_and_ends_the_grading():
    sandbox = PlayedSandbox(lambda order: right(order).replace(b'"value": 4', b'"value": 4.0'))
    found = graded(sandbox)
    assert (found.passed, found.score) == (False, 0.8)
    assert found.detail == "4 of 5 hidden checks are right; double-2: returned 4.0, not 4"
    assert len(sandbox.programs) == 1


def test_a_call_that_ends_the_process_fails_alone():
    def play(order):
        lines = right(order).splitlines(keepends=True)
        at = next((n for n, call in enumerate(order["calls"]) if call["input"] == 3), len(lines))
        return b"".join(lines[:at])

    found = graded(PlayedSandbox(play, end="wall_limit"))
    assert (found.passed, found.score) == (False, 0.8)
    faults = {check.id: check.fault for check in found.checks if not check.passed}
    assert faults == {"double-3": "no answer: stopped by the sandbox: wall limit"}


def test_a_process_that_always_ends_is_not_started_for_ever():
    sandbox = PlayedSandbox(lambda _order: b"", end="signalled", signal="SIGSEGV")
    found = graded(sandbox)
    assert (found.passed, found.score) == (False, 0.0)
    assert len(sandbox.programs) == 1 + RESTARTS
    faults = sorted(check.fault or "" for check in found.checks)
    assert faults.count("no answer: ended by SIGSEGV") == 1 + RESTARTS
    assert faults[-1] == "not reached: the code ended before it again and again"


def test_an_exit_status_of_0_means_nothing():
    found = graded(PlayedSandbox(lambda _order: b"", exit_code=0))
    assert found.passed is False
    assert found.checks[0].fault is not None
    assert found.score == 0.0


def test_lines_between_the_answers_fail_all_of_them():
    found = graded(PlayedSandbox(lambda order: b'{"passed": true}\n' + right(order)))
    assert (found.passed, found.score) == (False, 0.0)
    assert "tampered" in found.detail


def test_a_sandbox_that_does_not_run_leaves_the_verdict_open():
    found = graded(PlayedSandbox(lambda _order: b"", end="refused", stderr=b"no \x1b walls"))
    assert (found.passed, found.score, found.checks) == (None, None, ())
    assert found.detail == "the sandbox did not run the code: 'no \\x1b walls'"


def test_a_tree_that_no_sandbox_takes_is_a_failure_and_not_an_open_verdict():
    sandbox = PlayedSandbox(right)
    tree = {**TASK.files, "a/../../b": ""}
    found = graded(sandbox, tree)
    assert (found.passed, found.score) == (False, 0.0)
    assert len(found.checks) == len(CHECKS)
    ran = asyncio.run(run_visible(TASK, tree, sandbox))
    assert ran.passed is False
    assert ran.output.startswith("the tests were not run: the path 'a/../../b'")
    assert sandbox.programs == []


def test_checks_of_files_run_nothing():
    def judge(tree):
        return None if tree["code.py"] == "right" else "no"

    task = replace(TASK, probe=None, checks=(TreeCheck(id="file", rule="r", judge=judge),))
    sandbox = PlayedSandbox(right)
    assert graded(sandbox, task=task).detail == "0 of 1 hidden checks are right; file: no"
    assert graded(sandbox, {"code.py": "right"}, task).passed is True
    assert sandbox.programs == []


@pytest.mark.parametrize(
    ("played", "passed", "said"),
    [
        ({"stderr": b"OK\n"}, True, "OK\n[exit code 0]"),
        ({"exit_code": 1, "stdout": b"a", "stderr": b"b"}, False, "ab\n[exit code 1]"),
        ({"end": "signalled", "signal": "SIGKILL"}, False, "[ended by SIGKILL]"),
        ({"end": "cpu_limit"}, False, "[stopped by the sandbox: cpu limit]"),
        ({"end": "refused", "stderr": b"why"}, None, "why\n[the sandbox did not run it]"),
        ({"stdout": b"\xff"}, True, "\ufffd\n[exit code 0]"),
    ],
)
def test_the_model_sees_what_was_printed_and_how_it_ended(played, passed, said):
    class Sandbox:
        async def run(self, _program):
            return outcome(**played)

    ran = asyncio.run(run_visible(TASK, TASK.files, Sandbox()))
    assert (ran.passed, ran.output) == (passed, said)


def test_of_a_long_output_the_model_sees_beginning_and_end():
    printed = b"first" + b"x" * 50_000 + b"last"

    class Sandbox:
        async def run(self, _program):
            return outcome(stdout=printed)

    said = asyncio.run(run_visible(TASK, TASK.files, Sandbox())).output
    left_out = len(printed) - VISIBLE_HEAD - VISIBLE_TAIL
    assert said.startswith("first")
    assert f"\n[{left_out} characters left out]\n" in said
    assert said.endswith("last\n[exit code 0]")
