"""Where the code of agentic trials is tested and judged: the tasks, and the sandbox behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from bench.agent.grading import Grade, Runs, grade, run_visible
from bench.agent.task import Task, Tree
from bench.agent.workplace import TestRun
from bench.errors import BenchError
from bench.model.trial import Evaluation
from bench.sandbox.program import Protections


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxBench:
    """The coding tasks of a run and a sandbox that holds their code: ``workplace.Workbench``."""

    tasks: Mapping[str, Task]
    """By case id."""
    sandbox: Runs
    protections: Protections

    @property
    def level(self) -> str:
        """How well code is held."""
        return self.protections.level

    def described(self) -> dict[str, Any]:
        """Return what holds code and what does not, as plain data."""
        described: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self.protections))
        return described

    def task(self, case_id: str) -> Task:
        """Return the task of a case."""
        return self.tasks[case_id]

    async def run_tests(self, task: Task, tree: Tree) -> TestRun:
        """Run the visible tests over ``tree``; what can't be run is said, never raised."""
        try:
            ran = await run_visible(task, tree, self.sandbox)
        except BenchError as fault:
            return TestRun(passed=None, output=f"The tests could not be run: {fault.message}.")
        return TestRun(passed=ran.passed, output=ran.output)

    async def judge(self, task: Task, tree: Tree) -> Evaluation:
        """Return the hidden checks' verdict over ``tree``; ``passed`` is ``None`` without one."""
        try:
            return _evaluation(await grade(task, tree, self.sandbox))
        except BenchError as fault:
            return Evaluation(passed=None, detail=f"not judged: {fault.message}")


def _evaluation(found: Grade) -> Evaluation:
    right = sum(check.passed for check in found.checks)
    return Evaluation(
        passed=found.passed,
        detail=found.detail,
        score=found.score,
        metrics={"checks": len(found.checks), "checksPassed": right},
    )
