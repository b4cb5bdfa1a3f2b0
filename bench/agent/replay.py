"""A recorded trial's tool calls again, on a fresh repository and without a model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from bench.agent.session import Session
from bench.agent.task import Task
from bench.agent.workplace import TestRun, Workbench
from bench.agent.workspace import tree_hash
from bench.model.agent import AgentRun
from bench.model.trial import Evaluation, ToolCall
from bench.model.turn import TurnTrace
from bench.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A call whose answer was another one than recorded."""

    turn: int
    call: str
    recorded: str
    now: str
    matters: bool
    """It did something else; where false, only the words differ, as times in a test's output do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay came to, beside what was recorded."""

    same_tree: bool
    same_verdict: bool | None
    """``None`` = no verdict was recorded."""
    recorded_verdict: bool | None
    verdict: Evaluation
    tree_hash: str
    calls: int
    differences: tuple[Difference, ...]

    @property
    def is_same(self) -> bool:
        """Whether it came to the same tree, and to the same verdict if there was one."""
        return self.same_tree and self.same_verdict is not False


async def replay(
    task: Task, turns: Sequence[TurnTrace], run: AgentRun, *, bench: Workbench, clock: Clock
) -> Replayed:
    """Carry out the recorded calls and judge the files.

    Args:
        task: The trial's task, which must not have changed.
        turns: Of the trial, with their texts.
        run: What was recorded of it.
        bench: Tests and judges.
        clock: For durations, which nobody compares.
    """

    async def run_tests(files: Mapping[str, str]) -> TestRun:
        return await bench.run_tests(task, files)

    session = Session(task, (), run_tests=run_tests, clock=clock)
    differences: list[Difference] = []
    for turn in turns:
        if not turn.calls:
            continue
        calls = tuple(ToolCall(id=c.id, name=c.name, arguments=c.arguments) for c in turn.calls)
        response = msgspec.structs.replace(turn.response, tool_calls=calls)
        again = await session.carry_out(response, turn=turn.number)
        differences += [
            Difference(
                turn=turn.number,
                call=before.name,
                recorded=before.detail,
                now=now.detail,
                matters=(before.ok, before.invalid, before.tests_passed)
                != (now.ok, now.invalid, now.tests_passed),
            )
            for before, now in zip(turn.calls, again, strict=True)
            if (before.result, before.ok, before.tests_passed)
            != (now.result, now.ok, now.tests_passed)
        ]
    found = tree_hash(session.workspace.files)
    verdict = await bench.judge(task, session.workspace.files)
    return Replayed(
        same_tree=found == run.tree_hash,
        same_verdict=None if run.tree_passed is None else verdict.passed is run.tree_passed,
        recorded_verdict=run.tree_passed,
        verdict=verdict,
        tree_hash=found,
        calls=sum(len(turn.calls) for turn in turns),
        differences=tuple(differences),
    )


def unreplayable(turns: Iterable[TurnTrace]) -> bool:
    """Return whether the texts of recorded calls were left out (``--no-responses``)."""
    return any(not (call.arguments or call.result) for turn in turns for call in turn.calls)
