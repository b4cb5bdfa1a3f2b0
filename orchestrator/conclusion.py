"""How a job ended: from the child's own object, or from what is left when it died."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator import aftermath
from orchestrator.bench_child import ChildEnd
from orchestrator.bringing import Up
from orchestrator.commands import how_ended
from orchestrator.errors import OrchestratorError
from orchestrator.events import Trouble
from orchestrator.facts import gateway_state, record_facts
from orchestrator.lifecycle import Machine, Stopped
from orchestrator.link import JobLink
from orchestrator.tidings import Tidings
from orchestrator.unseen import unseen

GATEWAY_DIED = 4
INCOMPLETE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnd:
    """How a job ended."""

    exit_code: int
    reason: str
    said: Mapping[str, Any]
    """The measuring process's own object; empty = it had none."""
    gateway: Mapping[str, Any]
    headline: str = ""
    stop_fault: OrchestratorError | None = None
    """Why something of the gateway may be left; what was measured is saved all the same."""
    files: tuple[str, ...] = ()
    next: str | None = None


@dataclass(slots=True, kw_only=True)
class Course:
    """What happened so far; only the main thread writes, but for ``lost``."""

    up: Up
    link: JobLink
    tidings: Tidings
    journal: Path | None = None
    journal_ns: int = 0
    lost: Trouble | None = None
    """Why the gateway could not be measured any further."""
    stopped: Stopped | None = None
    stop_fault: OrchestratorError | None = None
    on_measured: Callable[[], None] = field(default=lambda: None)


def conclude(machine: Machine, course: Course, end: ChildEnd, *, interrupted: int | None) -> JobEnd:
    """Return how the job ended; the journal of a child that died is closed first.

    Args:
        machine: The ports.
        course: What happened.
        end: How the measuring process ended.
        interrupted: Exit code of the signal that asked us to end; ``None`` = none did.
    """
    gateway = {
        **record_facts(course.up.started.record),
        "stopped": course.stopped is not None,
        "exit": gateway_state(course.up, course.stopped)["exit"],
    }
    if end.said is not None and end.status >= 0:
        code = int(end.said["exitCode"])
        return JobEnd(
            exit_code=_own_code(code, course),
            reason="not_stopped"
            if _spoils(code, course)
            else str(end.said.get("reason") or "done"),
            stop_fault=course.stop_fault,
            said=end.said,
            gateway=gateway,
        )
    return _after_death(machine, course, end, gateway, interrupted)


def _own_code(code: int, course: Course) -> int:
    """A run that the gateway's death cut short is 4; one that left something behind is not 0."""
    if code == INCOMPLETE and course.lost is not None:
        return GATEWAY_DIED
    return course.stop_fault.exit_code if _spoils(code, course) and course.stop_fault else code


def _spoils(code: int, course: Course) -> bool:
    return code == 0 and course.stop_fault is not None


def _after_death(
    machine: Machine,
    course: Course,
    end: ChildEnd,
    gateway: Mapping[str, Any],
    interrupted: int | None,
) -> JobEnd:
    """Close the journal of a child that died, and have the reports made of it."""
    how = how_ended(end.status)
    code = GATEWAY_DIED if course.lost is not None else INCOMPLETE
    code = interrupted or code
    if course.journal is None:
        return JobEnd(
            exit_code=code,
            reason="client_killed",
            said={},
            gateway=gateway,
            headline=f"the measuring process {how}; nothing was measured",
        )
    _close_journal(machine, course, course.journal, how=how, exit_code=code)
    return JobEnd(
        exit_code=code,
        reason="client_killed",
        said={},
        gateway=gateway,
        headline=f"the measuring process {how}; what it had measured is kept in `{course.journal}`",
        files=_rendered(course.journal),
        next=f"gateway-bench resume {course.journal}",
    )


def _close_journal(
    machine: Machine, course: Course, journal: Path, *, how: str, exit_code: int
) -> None:
    state = aftermath.read_state(journal)
    if state.has_end:
        return
    now_ns, at = machine.clock.now_ns(), machine.clock.utcnow()
    stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    since_ms = (now_ns - course.journal_ns) / 1e6
    lost = course.lost
    records = [
        aftermath.incident(
            kind="client_killed",
            at=stamp,
            at_ns=now_ns,
            summary=f"The measuring process {how}. Requests in flight may have been billed.",
            detail={"inFlight": list(state.in_flight)},
            touched=state.in_flight,
        ),
        {
            "type": "gateway",
            **gateway_state(course.up, course.stopped),
            "simulatedUpstream": course.up.near.upstream.is_simulated,
        },
        aftermath.footer(
            at=stamp,
            offset_ms=max(state.begun_offset_ms + since_ms, state.last_offset_ms),
            reason="killed" if lost is None else "gateway",
            exit_code=exit_code,
        ),
    ]
    if lost is not None:
        cause = aftermath.incident(
            kind=lost.incident_class,
            at=stamp,
            at_ns=lost.at_ns,
            summary=lost.summary,
            detail=lost.detail,
            touched=state.in_flight,
        )
        records.insert(0, cause)
    records = [*_unwritten_notes(course, state, stamp), *records]
    aftermath.append(journal, tuple(records), is_torn=state.is_torn)


def _unwritten_notes(
    course: Course, state: aftermath.JournalState, stamp: str
) -> list[dict[str, Any]]:
    """Return what was noticed and did not get into the journal before its writer died."""
    return [
        aftermath.incident(
            kind=note.incident_class,
            at=stamp,
            at_ns=note.at_ns,
            summary=note.summary,
            detail=note.detail,
            touched=() if note.since_ns is None else state.in_flight,
        )
        for note in course.tidings.notes
        if (note.incident_class, note.at_ns) not in state.incidents
    ]


def _rendered(journal: Path) -> tuple[str, ...]:
    """Have the reports made; the journal alone is named when that goes wrong too."""
    with unseen("bench", ["render", str(journal)]) as command:
        rendered = subprocess.run(
            command.argv,
            executable=command.executable,
            env=command.environment,
            pass_fds=(command.descriptor,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=False,
            process_group=0,
        )
    listed = tuple(line for line in rendered.stdout.decode().splitlines() if line.startswith("/"))
    return (*listed, *([] if str(journal) in listed else [str(journal)]))
