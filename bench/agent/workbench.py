"""Where the code of agentic trials is tested and judged: the tasks, and the sandbox behind them."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.agent.grading import Grade, Runs, grade, run_visible
from bench.agent.session import TestRun
from bench.agent.task import Task, Tree
from bench.errors import BenchError
from bench.sandbox.program import Protections


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """The coding tasks of a run and a sandbox that holds their code."""

    tasks: Mapping[str, Task]
    """By case id."""
    sandbox: Runs
    protections: Protections

    async def run_tests(self, task: Task, tree: Tree) -> TestRun:
        """Run the visible tests over ``tree``; what can't be run is said, never raised."""
        try:
            ran = await run_visible(task, tree, self.sandbox)
        except BenchError as fault:
            return TestRun(passed=None, output=f"The tests could not be run: {fault.message}.")
        return TestRun(passed=ran.passed, output=ran.output)

    async def grade(self, task: Task, tree: Tree) -> Grade:
        """Return the hidden checks' verdict over ``tree``; ``passed`` is ``None`` without one."""
        try:
            return await grade(task, tree, self.sandbox)
        except BenchError as fault:
            return Grade(passed=None, score=None, detail=f"not graded: {fault.message}")
