"""What a coding task is: a small repository, what is asked of it, and how the result is judged.

Nothing here runs or reads anything. A check never travels to where candidate code runs: only its
``probe`` and ``input`` do, and what comes back is data that is compared in this process.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bench.model.case import Difficulty

Language = Literal["python", "javascript"]

Tree = Mapping[str, str]
"""Text of each file by its relative POSIX path."""

Change = Mapping[str, str | None]
"""Files by path as they are afterwards; ``None`` = deleted."""

Json = Any
"""Plain data: None, bool, int, finite float, str, list, dict with text keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Equals:
    """The probe has to return exactly this, types included: 1, 1.0 and True are three values."""

    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Raises:
    """The probe has to end by an error of this class or one derived from it."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Several answers are right; ``judge`` knows them."""

    rule: str
    """What is demanded, as data that tells one demand from another: goes into the task's hash."""
    judge: Callable[[Json], str | None]
    """Returned value → what is wrong with it, ``None`` = right. Meets hostile values."""


Expectation = Equals | Raises | Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeCheck:
    """One call of candidate code through a probe, and what has to come of it."""

    id: str
    probe: str
    """Name of a function of the task's probe file; it takes ``input`` and returns plain data."""
    input: Json
    expects: Expectation


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeCheck:
    """A judgement over files that the candidate left, without running any of them."""

    id: str
    rule: str
    """As in `Judged`."""
    judge: Callable[[Tree], str | None]
    """All files → what is wrong, ``None`` = right. Meets hostile texts."""


Check = ProbeCheck | TreeCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One coding task."""

    id: str
    name: str
    description: str
    """One sentence for listings: what the task measures."""
    difficulty: Difficulty
    language: Language
    prompt: str
    """What the model is asked, without how its tools work."""
    files: Tree
    """The fixture, visible tests included."""
    protected: frozenset[str]
    """Paths that every run of the visible tests restores: the tests themselves."""
    test_argv: tuple[str, ...]
    """Arguments after the interpreter that run the visible tests."""
    probe: str | None
    """Text of the probe file, in the task's language. It calls candidate code and knows no answer.
    ``None`` where all checks are of files."""
    checks: tuple[Check, ...]
    """The hidden checks."""
    solution: Change
    """A right change."""
    wrong: Mapping[str, Change]
    """Plausible wrong changes by name; at least one."""
    text_hash: str
    """SHA-256 (hex) over everything above: differs when the task changed."""


def changed(files: Tree, change: Change) -> dict[str, str]:
    """Return ``files`` after ``change``."""
    after = {path: text for path, text in files.items() if path not in change}
    return after | {path: text for path, text in change.items() if text is not None}
