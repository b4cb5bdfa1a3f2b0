"""A coding task without a sandbox, and models that follow a script."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from bench.agent.loop import Asked, work
from bench.agent.session import Session
from bench.agent.task import Task
from bench.agent.workplace import TestRun
from bench.model.case import Message
from bench.model.trial import Evaluation, Response, ToolCall, Usage
from bench.model.turn import TurnTrace
from tests.fakes import FakeClock

TASK = Task(
    id="mend",
    name="Mend",
    description="mends",
    difficulty="easy",
    language="python",
    prompt="Mend the sum.",
    files={
        "sums.py": "def add(a, b):\n    return a - b\n",
        "pkg/deep/notes.txt": "one\ntwo\nthree\n",
        "test_sums.py": "assert True\n",
    },
    protected=frozenset({"test_sums.py"}),
    test_argv=("test_sums.py",),
    probe="",
    checks=(),
    solution={"sums.py": "def add(a, b):\n    return a + b\n"},
    wrong={},
    text_hash="h",
)
MENDED = TASK.solution["sums.py"]
PROMPT = (Message(role="user", content=TASK.prompt),)


class FakeBench:
    """``Workbench`` whose tests and judges look for the mended line and run nothing."""

    level = "full"

    def __init__(self, clock=None, *, verdict="files", more=""):
        self.clock = clock
        self.more = more
        self.verdict = verdict
        self.runs = 0
        self.judged = []

    def task(self, case_id):
        return TASK

    def described(self):
        return {"level": self.level}

    async def run_tests(self, task, tree):
        self.runs += 1
        if self.clock is not None:
            self.clock.advance(5)
        passed = "a + b" in tree.get("sums.py", "")
        said = "1 passed" if passed else "1 failed"
        return TestRun(passed=passed, output=said + self.more)

    async def judge(self, task, tree):
        self.judged.append(dict(tree))
        passed = None if self.verdict is None else "a + b" in tree.get("sums.py", "")
        return Evaluation(
            passed=passed, score=None if passed is None else float(passed), detail="1 of 1"
        )


def call(name, arguments=None, id_="c1"):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(id=id_, name=name, arguments=text)


def says(*calls, content="", finish=None, **fields):
    finish = finish or ("tool_calls" if calls else "stop")
    usage = Usage(prompt_tokens=100, completion_tokens=10)
    return Response(
        status=200, content=content, tool_calls=calls, finish_reason=finish, usage=usage, **fields
    )


MEND = call("write_file", {"path": "sums.py", "content": MENDED})
RUN = call("run_tests")
DONE = says(content="Done.")


@dataclass
class ScriptedDesk:
    """``Desk`` that answers from a list, then repeats its last answer or refuses."""

    answers: list[Any]
    clock: FakeClock
    asked: list[Any] = field(default_factory=list)
    noted: list[TurnTrace] = field(default_factory=list)

    async def ask(self, number, messages):
        answer = self.answers[min(number, len(self.answers)) - 1]
        if isinstance(answer, str):
            return answer
        self.asked.append(messages)
        self.clock.advance(3)  # before it is sent
        began_ms = self.clock.ms
        self.clock.advance(20)
        turn = TurnTrace(
            number=number,
            response=answer,
            started_offset_ms=began_ms,
            answered_offset_ms=self.clock.ms,
            model_ms=20.0,
            tool_ms=0.0,
            own_ms=0.0,
        )
        if answer.error:
            return Asked(turn=turn, waited_ms=2.0, stop="upstream_error")
        return Asked(turn=turn, waited_ms=2.0)

    def note(self, turn):
        self.noted.append(turn)


def session(bench=None, clock=None):
    bench = bench or FakeBench()

    async def run_tests(files):
        return await bench.run_tests(TASK, files)

    return Session(TASK, PROMPT, run_tests=run_tests, clock=clock or FakeClock())


def worked(*answers, recorded=(), clock=None, bench=None, **limits):
    """Let a script work; return how it went, the session and the desk."""
    clock = clock or FakeClock()
    desk = ScriptedDesk(list(answers), clock)
    one = session(bench or FakeBench(clock), clock)
    done = asyncio.run(work(one, desk, clock, recorded=recorded, **limits))
    return done, one, desk


def carried_out(*calls, finish="tool_calls", on=None):
    """Carry out the calls of one answer; return the traces."""
    one = on or session()
    response = msgspec.structs.replace(says(*calls), finish_reason=finish)
    return asyncio.run(one.carry_out(response, turn=1))
