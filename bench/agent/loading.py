"""Reads the tasks' files, which ship as data of the package, and joins them with their checks."""

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

from bench.agent.oracles import CHECKS
from bench.agent.task import Change, Check, Equals, Language, ProbeCheck, Raises, Task
from bench.cases import CODING_IDS
from bench.model.case import Difficulty

_PROBES: Mapping[Language, str] = {"python": "probe.py", "javascript": "probe.mjs"}


class _Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`task.toml`."""

    name: str
    description: str
    difficulty: Difficulty
    language: Language
    prompt: str
    protected: tuple[str, ...]
    test_argv: tuple[str, ...]
    deleted: Mapping[str, tuple[str, ...]] = {}
    """Files that a change removes, by the change's name: ``solution`` or one of ``wrong/``."""


@cache
def load_tasks() -> Mapping[str, Task]:
    """Return every task by id, in the order of `CODING_IDS`."""
    folder = resources.files("bench.agent.tasks")
    return {task_id: _task(task_id, folder / task_id) for task_id in CODING_IDS}


def _task(task_id: str, folder: Traversable) -> Task:
    told = msgspec.convert(
        tomllib.loads((folder / "task.toml").read_text(encoding="utf-8")), _Description
    )
    wrong = folder / "wrong"
    files = _texts(folder / "files")
    probed = folder / _PROBES[told.language]
    probe = probed.read_text(encoding="utf-8") if probed.is_file() else None
    checks = CHECKS[task_id]()
    solution = _change(folder / "solution", told.deleted.get("solution", ()))
    wrongs = {
        entry.name: _change(entry, told.deleted.get(entry.name, ()))
        for entry in sorted(wrong.iterdir(), key=lambda entry: entry.name)
        if entry.is_dir()
    }
    hashed = [msgspec.to_builtins(told), files, probe, _demands(checks), solution, wrongs]
    return Task(
        id=task_id,
        name=told.name,
        description=told.description,
        difficulty=told.difficulty,
        language=told.language,
        prompt=told.prompt.strip(),
        files=files,
        protected=frozenset(told.protected),
        test_argv=told.test_argv,
        probe=probe,
        checks=checks,
        solution=solution,
        wrong=wrongs,
        text_hash=hashlib.sha256(msgspec.json.encode(hashed, order="deterministic")).hexdigest(),
    )


def _change(folder: Traversable, deleted: tuple[str, ...]) -> Change:
    return {**_texts(folder), **dict.fromkeys(deleted)}


def _texts(folder: Traversable, above: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{above}{entry.name}"
        if entry.is_file():
            found[path] = entry.read_text(encoding="utf-8")
        elif entry.name != "__pycache__":
            found |= _texts(entry, f"{path}/")
    return found


def _demands(checks: tuple[Check, ...]) -> list[object]:
    """Return what the checks ask and expect, as data."""
    return [
        [check.id, check.probe, check.input, _demand(check)]
        if isinstance(check, ProbeCheck)
        else [check.id, check.rule]
        for check in checks
    ]


def _demand(check: ProbeCheck) -> object:
    match check.expects:
        case Equals(value=value):
            return ["equals", value]
        case Raises(name=name):
            return ["raises", name]
        case judged:
            return ["judged", judged.rule]
