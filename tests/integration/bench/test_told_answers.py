"""What the job's simulator is told of a run's answers, coding tasks included."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from bench.agent.coding_cases import coding_cases
from bench.agent.loading import load_tasks
from bench.agent.workbench import SandboxBench
from bench.app.answers import write_book
from bench.cases import CASES
from bench.job_messages import Hello
from bench.plan import build_plan
from bench.sandbox.program import Protections
from tests.plain_sandbox import PlainSandbox
from tests.run_stage import target
from tests.sample_documents import header

pytestmark = pytest.mark.integration

TASK, PLAIN = "agentic_bugfix_small", "seeded_shortest_path"


def session(book, *, has_tasks) -> Any:
    bench = SandboxBench(
        tasks=load_tasks(),
        sandbox=PlainSandbox(),
        protections=Protections(level="full", walls="namespaces", items=()),
    )
    hello = Hello(run_id="r", answer_book=book and str(book))
    return SimpleNamespace(
        link=SimpleNamespace(hello=hello), workbench=bench if has_tasks else None
    )


def told(folder, *names):
    """Return what is told of a plan of these cases; nothing where there is no file."""
    cases = {**CASES, **coding_cases(load_tasks().values())}
    infos, targets = tuple(cases[name].info for name in names), (target("a"), target("b"))
    plan = build_plan(targets, infos, seed=1)
    run, book = header(targets, infos, plan=plan), folder / "book"
    write_book(session(book, has_tasks=TASK in names), run, cases)
    write_book(session(None, has_tasks=True), run, cases)
    without_job: Any = SimpleNamespace(link=None)
    write_book(without_job, run, cases)
    return [json.loads(line) for line in book.read_text().splitlines()]


def test_a_coding_task_is_told_once_with_its_solution_and_a_wrong_change(tmp_path):
    entries = told(tmp_path, PLAIN, TASK)
    (task,) = (entry["task"] for entry in entries if "task" in entry)
    assert task["tests"] == ["tests/test_paging.py"]
    assert list(task["solution"]) == ["pager/paging.py"]
    assert task["wrong"] != task["solution"]
    assert len(entries) > 1


def test_without_tasks_only_answers_are_told(tmp_path):
    assert all("task" not in entry for entry in told(tmp_path, PLAIN))
