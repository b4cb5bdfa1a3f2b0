"""What a run needs to test and judge code; the sandbox stands behind it, or a stand-in."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bench.agent.task import Task, Tree
from bench.model.trial import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """What a run of the visible tests said."""

    __test__ = False  # no class of tests, whatever its name

    passed: bool | None
    """``None`` = they could not be run."""
    output: str


RunTests = Callable[[Mapping[str, str]], Awaitable[TestRun]]


class Workbench(Protocol):
    """What a run needs to test and judge code; nothing of it raises for what code does."""

    @property
    def level(self) -> str:
        """How well code is held: ``full``, ``reduced`` or ``none``."""
        ...

    def described(self) -> dict[str, Any]:
        """Return what holds code and what does not, as plain data."""
        ...

    def task(self, case_id: str) -> Task:
        """Return the task of a case."""
        ...

    async def run_tests(self, task: Task, tree: Tree) -> TestRun:
        """Run the visible tests over ``tree``."""
        ...

    async def judge(self, task: Task, tree: Tree) -> Evaluation:
        """Return the hidden checks' verdict over ``tree``; ``passed`` is ``None`` without one."""
        ...
