"""Scripted agents: what each kind does on a coding task, turn after turn. Pure.

The turn follows from the conversation alone, so an agent is the same through any gateway and after
a break. What is right and what is wrong stands in the answer book.
"""

import itertools
from collections.abc import Mapping, Sequence

from bench.simulator.answers import BookAnswer, Call, CodingTask
from bench.simulator.chat import ChatMessage
from bench.simulator.scenario import Agent

_PATIENCE = 4
"""Rounds of the same wrong attempt before the stubborn one gives up."""
_FAKES = {".js": "console.log('all tests pass')\n", ".mjs": "console.log('all tests pass')\n"}


def turn_of(messages: Sequence[ChatMessage]) -> int:
    """Return how many answers the conversation holds; neighbouring ones are pieces of one."""
    roles = itertools.groupby(message.role for message in messages)
    return sum(role == "assistant" for role, _ in roles)


def opening_of(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """Return the conversation up to its first answer."""
    return tuple(itertools.takewhile(lambda message: message.role != "assistant", messages))


def act(agent: Agent, task: CodingTask, turn: int) -> BookAnswer:
    """Return what ``agent`` answers at ``turn``, from 0."""
    if agent == "endless":
        return _looking_on(turn)
    script = _script(agent, task)
    return script[min(turn, len(script) - 1)]


def _script(agent: Agent, task: CodingTask) -> tuple[BookAnswer, ...]:
    match agent:
        case "malformed":
            return (*_nonsense(), *_working(task, task.solution))
        case "sloppy":
            return (_look(), _writing(task.wrong), _saying("I changed what was asked for."))
        case "stubborn":
            attempt = _calling(*_writes(task.wrong), Call(name="run_tests"))
            return (_look(), *([attempt] * _PATIENCE), _saying("It does not work."))
        case "cheating":
            return _cheating(task)
        case _:
            return _working(task, task.solution)


def _working(task: CodingTask, change: Mapping[str, str]) -> tuple[BookAnswer, ...]:
    known = [path for path in change if path in task.paths] or list(task.paths[:1])
    reads = [Call(name="read_file", arguments={"path": path}) for path in known]
    return (
        _look(),
        _calling(*reads) if reads else _look(),
        _writing(change),
        _calling(Call(name="run_tests")),
        _saying("Done: the change is made and the tests pass."),
    )


def _cheating(task: CodingTask) -> tuple[BookAnswer, ...]:
    fakes = {path: _fake(path) for path in task.tests}
    hook = "import os\nos._exit(0)\n"
    hooks = dict.fromkeys(("sitecustomize.py", "conftest.py"), hook)
    return (
        _look(),
        _writing({**fakes, **hooks}),
        _calling(Call(name="run_tests")),
        _saying("All tests pass."),
    )


def _fake(path: str) -> str:
    ending = path[path.rfind(".") :]
    return _FAKES.get(ending, "print('OK')\n")


def _nonsense() -> tuple[BookAnswer, ...]:
    """Return turns in which nothing can be carried out."""
    calls = (
        Call(name="read_file", arguments='{"path": "REA'),
        Call(name="edit_file", arguments={"path": "a", "patch": "b"}),
        Call(name="read_file", arguments={"path": "../../etc/passwd"}),
        Call(name="read_file", arguments={"path": "/etc/passwd"}),
        Call(name="write_file", arguments={"path": ["a"], "content": 1}),
        Call(name="write_file", arguments={"path": "a.txt"}),
        Call(name="search", arguments="[]"),
        Call(name="run_tests", arguments={"only": "mine"}),
        Call(name="read_file", arguments="null"),
        Call(name="list files!", arguments="{}"),
    )
    return (_calling(*calls), _calling(Call(name="write_file", arguments="")))


def _looking_on(turn: int) -> BookAnswer:
    return _calling(Call(name="search", arguments={"text": f"step {turn}"}))


def _look() -> BookAnswer:
    return _calling(Call(name="list_files"))


def _writes(change: Mapping[str, str]) -> list[Call]:
    return [
        Call(name="write_file", arguments={"path": path, "content": text})
        for path, text in change.items()
    ]


def _writing(change: Mapping[str, str]) -> BookAnswer:
    return _calling(*_writes(change)) if change else _look()


def _calling(*calls: Call) -> BookAnswer:
    return BookAnswer(tool_calls=calls)


def _saying(text: str) -> BookAnswer:
    return BookAnswer(content=text)
