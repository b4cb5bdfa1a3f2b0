"""Our own time per turn of an agentic trial: everything but the model and the tests.

A scripted model that answers at once lets the loop run as in a measurement: messages encoded for the
wire, calls understood and carried out on a repository of forty files, each turn written to a journal
on disk. Target: a median under 20 ms a turn; the tail is the machine's, so it is shown and not judged.

    python benchmarks/agent_loop.py [--trials N]
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from bench.agent.coding_cases import coding_cases
from bench.agent.loading import load_tasks
from bench.agent.loop import TURN_LIMIT
from bench.agent.task import Task, Tree
from bench.agent.workplace import TestRun
from bench.clock import SystemClock
from bench.journal import Journal, read_journal
from bench.ledger import collect
from bench.link import NoJob
from bench.model.blocks import Block, PlannedTrial
from bench.model.header import Environment, Header
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.model.trial import Evaluation, Response, ToolCall, Usage
from bench.ports import Call, ChatClient
from bench.runner import Assignment, Control, Ports, Runner
from bench.wire import PROTOCOLS

TASK = "agentic_forty_files"
TARGET_MS = 20.0


class IdleBench:
    """A workbench whose tests and judges take no time."""

    level = "none"

    def described(self) -> dict[str, object]:
        """Return that nothing is held, because nothing runs."""
        return {"level": self.level}

    def task(self, case_id: str) -> Task:
        """Return the task."""
        return load_tasks()[case_id]

    async def run_tests(self, task: Task, tree: Tree) -> TestRun:  # noqa: ARG002 - nothing runs
        """Say that the tests failed, in as many words as tests use."""
        return TestRun(passed=False, output="FAILED test_case\n" * 400)

    async def judge(self, task: Task, tree: Tree) -> Evaluation:  # noqa: ARG002 - nothing runs
        """Judge nothing."""
        return Evaluation(passed=None)


class InstantModel:
    """A client that encodes each request as the real one does, and answers at once."""

    def __init__(self, task: Task) -> None:
        self._paths = sorted(task.files)
        self._files = task.files
        self._clock = SystemClock()
        self.sizes: list[int] = []

    async def send(self, call: Call) -> tuple[int, Response]:
        """Answer with a look, a read, a search, a write and a run of the tests."""
        began_ns = self._clock.now_ns()
        self.sizes.append(self.encoded_size(call))
        turn = len(self.sizes)
        path = self._paths[turn % len(self._paths)]
        made: list[tuple[str, Mapping[str, object]]] = [
            ("list_files", {}),
            ("read_file", {"path": path}),
            ("search", {"text": "return"}),
            ("write_file", {"path": path, "content": self._files[path] + f"# {turn}\n"}),
            ("run_tests", {}),
        ]
        calls = tuple(
            ToolCall(id=f"c{turn}_{number}", name=name, arguments=json.dumps(arguments))
            for number, (name, arguments) in enumerate(made)
        )
        usage = Usage(prompt_tokens=1, completion_tokens=1)
        return began_ns, Response(
            status=200, tool_calls=calls, finish_reason="tool_calls", usage=usage
        )

    async def close(self) -> None:
        """Nothing is open."""

    def encoded_size(self, call: Call) -> int:
        """Return the bytes of the request."""
        return len(PROTOCOLS["chat"].encode(call.request, model="m", stream=True))


def measured(trials: int, folder: Path) -> tuple[list[list[float]], int]:
    """Return our own milliseconds by trial and turn, and the largest request in bytes."""
    case = coding_cases([load_tasks()[TASK]])[TASK]
    planned = tuple(
        PlannedTrial(id=f"t|{TASK}|r{n}", target_id="t", case_id=TASK, run=n, seed=n)
        for n in range(1, trials + 1)
    )
    block = Block(target_id="t", case_id=TASK, alone=False, concurrency=1, trials=planned)
    header = Header(
        run_id="benchmark",
        started_at="2026-01-01T00:00:00.000Z",
        stem="agent-loop",
        config=RunConfig(model_ids=("m",), url="http://127.0.0.1/v1/chat/completions"),
        targets=(Target(id="t", model="m", model_id="m", display_name="m"),),
        cases=(case.info,),
        plan=(block,),
        plan_hash="p",
        environment=Environment(tool_version="0", python="", host="", system=""),
    )
    clock, model = SystemClock(), InstantModel(load_tasks()[TASK])
    with Journal.create(folder / "agent-loop.jsonl", header) as journal:
        ports = Ports(
            client=cast("ChatClient", model),
            sink=journal,
            clock=clock,
            watch=NoJob(),
            workbench=IdleBench(),
        )
        assignment = Assignment.of(collect([header]), cases={TASK: case}, origin_ns=clock.now_ns())
        runner = Runner(assignment, ports, Control(), on_trial=lambda _trial, _purse: None)
        asyncio.run(runner.run())
    turns = read_journal(folder / "agent-loop.jsonl").turns
    return [[turn.own_ms for turn in turns[trial.id]] for trial in planned], max(model.sizes)


def main() -> int:
    """Measure and print; exit 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        by_trial, size = measured(arguments.trials, Path(folder))
    every = sorted(own for trial in by_trial for own in trial)
    last = sorted(trial[-1] for trial in by_trial)
    p50, p99 = statistics.median(every), every[int(0.99 * (len(every) - 1))]
    print(
        f"{len(by_trial)} trials of {TURN_LIMIT} turns, five calls each; largest request {size:,} bytes"
    )
    print(f"own time per turn: p50 {p50:.2f} ms, p99 {p99:.2f} ms, worst {every[-1]:.2f} ms")
    print(
        f"at the last turn: p50 {statistics.median(last):.2f} ms; target: a median under {TARGET_MS:g} ms"
    )
    return 0 if p50 < TARGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
