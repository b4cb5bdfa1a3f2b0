import asyncio

import msgspec
import pytest

from bench.agent.book import book_entry
from bench.agent.workbench import SandboxBench
from bench.errors import UsageFault
from bench.prompt import prompt_hash
from bench.sandbox.program import Outcome, Protection, Protections
from bench.simulator.answers import BookEntry
from tests.agent_stage import MENDED, PROMPT, TASK, session

HELD = Protections(
    level="reduced",
    walls="landlock",
    items=(Protection(id="network", held=True, how="seccomp"),),
    why="no cgroup",
)


class FixedEnd:
    """A sandbox in which every program ends the same way."""

    def __init__(self, end="exited", exit_code=0, fault=None):
        self.fault = fault
        self.outcome = Outcome(
            end=end,
            exit_code=exit_code,
            signal=None,
            stdout=b"1 passed",
            stderr=b"",
            output_cut=False,
            duration_ns=1,
        )

    async def run(self, program):
        if self.fault:
            raise self.fault
        return self.outcome


def bench(**how):
    return SandboxBench(tasks={"mend": TASK}, sandbox=FixedEnd(**how), protections=HELD)


@pytest.mark.parametrize(
    ("how", "passed", "said"),
    [
        ({}, True, "1 passed"),
        ({"exit_code": 1}, False, "exit code 1"),
        ({"end": "wall_limit", "exit_code": None}, False, "wall limit"),
        ({"end": "refused", "exit_code": None}, None, "did not run"),
        ({"fault": UsageFault("no such file")}, None, "The tests could not be run: no such file."),
    ],
)
def test_the_tests_say_how_they_ended_and_never_raise(how, passed, said):
    ran = asyncio.run(bench(**how).run_tests(TASK, TASK.files))
    assert ran.passed is passed
    assert said in ran.output


def test_a_tree_that_can_not_be_judged_is_wrong():
    assert asyncio.run(bench().judge(TASK, {"../x": "a"})).passed is False


def test_how_code_is_held_is_told_as_plain_data():
    assert bench().level == "reduced"
    assert bench().described()["items"] == [{"id": "network", "held": True, "how": "seccomp"}]


def test_the_book_tells_scripted_agents_by_the_hash_of_the_opening():
    entry = msgspec.convert(book_entry(TASK, PROMPT), BookEntry)
    opening = session().messages
    assert entry.prompt_hash == prompt_hash(message.content or "" for message in opening)
    assert entry.task is not None
    assert entry.task.solution == {"sums.py": MENDED}
    assert entry.task.tests == ("test_sums.py",)
    assert bench().task("mend") is TASK
