"""Coding tasks as cases: what plan, document and listings know of them."""

from collections.abc import Iterable, Mapping

from bench.agent.task import Task
from bench.model.case import Case, CaseInfo, ChatRequest, Instance, Message

RUNS = 2
MAX_TOKENS = 2_048
"""Of one turn."""


def coding_cases(tasks: Iterable[Task]) -> Mapping[str, Case]:
    """Return a case for each of ``tasks``, by id."""
    return {task.id: _case(task) for task in tasks}


def _case(task: Task) -> Case:
    info = CaseInfo(
        id=task.id,
        name=task.name,
        kind="agentic",
        category="coding",
        dimension=task.language,
        difficulty=task.difficulty,
        runs=RUNS,
        text_hash=task.text_hash,
    )
    # The instance is the same for every seed: a task is one repository. The loop adds its tools.
    request = ChatRequest(
        messages=(Message(role="user", content=task.prompt),),
        max_tokens=MAX_TOKENS,
        temperature=0.0,
    )
    instance = Instance(request=request, expected=None, evaluate=None)
    return Case(info=info, build=lambda _seed: instance, description=task.description)
