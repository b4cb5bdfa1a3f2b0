"""Runs a candidate's tree in the sandbox: its visible tests for the model, the hidden checks for us.

The two have nothing in common but the sandbox. What the visible tests say is a courtesy to the
model: they run beside candidate code, which can make them say anything. The hidden checks send
inputs into fresh processes and compare the data that comes back here; no exit status, line or file
from inside can mean "right". A check of files that are data is judged here without running anything.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Protocol

import msgspec

from bench.agent.comparing import Unreadable, fault_in, quote, read_answers
from bench.agent.task import Check, Language, ProbeCheck, Task, Tree, TreeCheck, changed
from bench.agent.trees import folders, unfit
from bench.model.record import Record
from bench.sandbox.program import Limits, Outcome, Program
from bench.seeds import SeededStream

ROUNDS = 2
"""Fresh processes that answer every check, each in an order of its own."""
RESTARTS = 3
"""Further processes of a round after one that ended before its last answer."""
GRADING_FOLDER = ".grading"
"""Holds driver and probe while hidden checks run; a candidate's files of that name are left out."""

VISIBLE_HEAD, VISIBLE_TAIL = 2_000, 6_000
"""Characters that the model sees of the beginning and the end of a test run."""

LIMITS: Mapping[Language, Limits] = {
    "python": Limits(),
    # Node starts about a dozen threads of its own, and a pids limit counts threads.
    "javascript": Limits(processes=64),
}
_DRIVERS: Mapping[Language, tuple[str, str]] = {
    "python": ("driver.py", "probe.py"),
    "javascript": ("driver.mjs", "probe.mjs"),
}


class Runs(Protocol):
    """Where candidate code runs: the sandbox, or a stand-in."""

    async def run(self, program: Program) -> Outcome:
        """Run ``program`` to its end or to a limit."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleRun:
    """What a run of the visible tests came to."""

    passed: bool | None
    """The test runner ended by itself with status 0; ``None`` = it could not be started. Candidate
    code can fake this: it is shown to the model and never counts as solved."""
    output: str
    """For the model: beginning and end of what was printed, then how it ended."""
    outcome: Outcome


class CheckResult(Record, frozen=True, kw_only=True):
    """One hidden check."""

    id: str
    passed: bool
    fault: str | None = None
    """Why not, in one line; may quote hostile values, escaped to ASCII. Not for the model."""


class Grade(Record, frozen=True, kw_only=True):
    """The verdict over a candidate's tree."""

    passed: bool | None
    """Every check is right; ``None`` = the sandbox could not run, so nobody knows."""
    score: float | None
    """Share of the checks that are right; ``None`` with ``passed``."""
    detail: str
    """One sentence."""
    checks: tuple[CheckResult, ...] = ()
    ends: tuple[str, ...] = ()
    """How each sandboxed process ended, in order."""
    sandbox_ms: float = 0.0
    """Time inside the sandbox, its making included."""


async def run_visible(task: Task, tree: Tree, sandbox: Runs) -> VisibleRun:
    """Run the task's own tests, restored to what they were, over the candidate's ``tree``."""
    restored = _restored(task, tree)
    fault = unfit(restored)
    if fault is not None:
        outcome = Outcome(
            end="refused",
            exit_code=None,
            signal=None,
            stdout=b"",
            stderr=fault.encode(),
            output_cut=False,
            duration_ns=0,
        )
        return VisibleRun(passed=False, output=f"the tests were not run: {fault}", outcome=outcome)
    outcome = await sandbox.run(
        Program(
            language=task.language,
            argv=task.test_argv,
            files=_encoded(restored),
            limits=LIMITS[task.language],
        )
    )
    return VisibleRun(
        passed=None if outcome.end == "refused" else _ended_well(outcome),
        output=_for_the_model(outcome),
        outcome=outcome,
    )


async def grade(task: Task, tree: Tree, sandbox: Runs) -> Grade:
    """Return the verdict over ``tree``: the same for the same tree, whenever and wherever.

    Each of `ROUNDS` rounds runs every check in an order drawn from the tree's own content, so that
    what one call leaves behind meets another call each time. A failed round ends the grading.
    """
    tree = _restored(task, tree)
    fault = unfit(tree)
    if fault is not None:
        failed = tuple(_result(check, f"not run: {fault}") for check in task.checks)
        return Grade(passed=False, score=0.0, detail=fault, checks=failed)
    faults: dict[str, str | None] = {}
    outcomes: list[Outcome] = []
    draw = SeededStream(_fingerprint(task, tree), label="order of checks")
    for _ in range(ROUNDS):
        checks = draw.shuffled(task.checks)
        ran = await _round(task, tree, checks, sandbox)
        outcomes.extend(ran.outcomes)
        faults |= ran.faults
        if ran.refused or any(faults.values()):
            break
    refusal = next((end for end in outcomes if end.end == "refused"), None)
    if refusal is not None:
        return _unknown(refusal, outcomes)
    return _verdict(task, faults, outcomes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    faults: Mapping[str, str | None]
    """By check; ``None`` = right."""
    outcomes: tuple[Outcome, ...]
    refused: bool = False


async def _round(task: Task, tree: Tree, checks: Sequence[Check], sandbox: Runs) -> _Round:
    faults = {check.id: check.judge(tree) for check in checks if isinstance(check, TreeCheck)}
    waiting = [check for check in checks if isinstance(check, ProbeCheck)]
    outcomes: list[Outcome] = []
    while waiting and len(outcomes) <= RESTARTS:
        outcome = await sandbox.run(_program(task, tree, waiting))
        outcomes.append(outcome)
        if outcome.end == "refused":
            return _Round(faults=faults, outcomes=tuple(outcomes), refused=True)
        try:
            seen = read_answers(outcome.stdout, [check.id for check in waiting])
        except Unreadable as error:
            faults |= {check.id: f"the answers were tampered with: {error}" for check in waiting}
            waiting = []
            break
        answered, waiting = waiting[: len(seen)], waiting[len(seen) :]
        for check, observed in zip(answered, seen, strict=True):
            faults[check.id] = fault_in(observed, check.expects)
        if waiting:
            faults[waiting.pop(0).id] = f"no answer: {_end(outcome)}"
    faults |= {
        check.id: "not reached: the code ended before it again and again" for check in waiting
    }
    return _Round(faults=faults, outcomes=tuple(outcomes))


def _program(task: Task, tree: Tree, checks: Sequence[ProbeCheck]) -> Program:
    driver, probe = _DRIVERS[task.language]
    order = {
        "probe": f"{GRADING_FOLDER}/{probe}",
        "calls": [{"id": check.id, "probe": check.probe, "input": check.input} for check in checks],
    }
    own = {
        path: text
        for path, text in tree.items()
        if path.split("/")[0].casefold() != GRADING_FOLDER  # one folder where case means nothing
    }
    own |= {
        f"{GRADING_FOLDER}/{driver}": _driver_text(driver),
        f"{GRADING_FOLDER}/{probe}": task.probe or "",
    }
    return Program(
        language=task.language,
        argv=(f"{GRADING_FOLDER}/{driver}",),
        files=_encoded(own),
        stdin=msgspec.json.encode(order),
        limits=LIMITS[task.language],
    )


def _verdict(task: Task, faults: Mapping[str, str | None], outcomes: Sequence[Outcome]) -> Grade:
    results = tuple(_result(check, faults[check.id]) for check in task.checks)
    right = sum(result.passed for result in results)
    first = next((result for result in results if not result.passed), None)
    detail = f"{right} of {len(results)} hidden checks are right"
    return Grade(
        passed=first is None,
        score=right / len(results),
        detail=detail if first is None else f"{detail}; {first.id}: {first.fault}",
        checks=results,
        ends=tuple(outcome.end for outcome in outcomes),
        sandbox_ms=_spent_ms(outcomes),
    )


def _unknown(refusal: Outcome, outcomes: Sequence[Outcome]) -> Grade:
    said = quote(refusal.stderr.decode(errors="replace"))
    return Grade(
        passed=None,
        score=None,
        detail=f"the sandbox did not run the code: {said}",
        ends=tuple(outcome.end for outcome in outcomes),
        sandbox_ms=_spent_ms(outcomes),
    )


def _result(check: Check, fault: str | None) -> CheckResult:
    return CheckResult(id=check.id, passed=fault is None, fault=fault)


def _restored(task: Task, tree: Tree) -> dict[str, str]:
    """Return the tree with the tests as they were, and without what stands in their place."""
    original = {path: task.files[path] for path in task.protected}
    in_the_way = {folder: None for path in original for folder in folders(path)}
    return changed(tree, {**in_the_way, **original})


def _fingerprint(task: Task, tree: Tree) -> int:
    content = msgspec.json.encode([task.text_hash, sorted(tree.items())])
    return int.from_bytes(hashlib.sha256(content).digest())


def _encoded(tree: Tree) -> dict[str, bytes]:
    return {path: text.encode() for path, text in tree.items()}


def _ended_well(outcome: Outcome) -> bool:
    return outcome.end == "exited" and outcome.exit_code == 0


def _for_the_model(outcome: Outcome) -> str:
    printed = (outcome.stdout + outcome.stderr).decode(errors="replace")
    left_out = len(printed) - VISIBLE_HEAD - VISIBLE_TAIL
    if left_out > 0:
        head, tail = printed[:VISIBLE_HEAD], printed[-VISIBLE_TAIL:]
        printed = f"{head}\n[{left_out} characters left out]\n{tail}"
    return f"{printed.rstrip()}\n[{_end(outcome)}]".lstrip()


def _end(outcome: Outcome) -> str:
    match outcome.end:
        case "exited":
            return f"exit code {outcome.exit_code}"
        case "signalled":
            return f"ended by {outcome.signal}"
        case "refused":
            return "the sandbox did not run it"
        case _:
            return f"stopped by the sandbox: {outcome.end.replace('_', ' ')}"


def _spent_ms(outcomes: Sequence[Outcome]) -> float:
    return sum(outcome.duration_ns + outcome.setup_ns for outcome in outcomes) / 1e6


@cache
def _driver_text(name: str) -> str:
    return resources.files("bench.agent.drivers").joinpath(name).read_text(encoding="utf-8")
