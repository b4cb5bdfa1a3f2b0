"""How a job ended: from the child's own object, or from what is left when it died."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from orchestrator import aftermath
from orchestrator.around import Say
from orchestrator.bench_child import ChildEnd
from orchestrator.bringing import Up
from orchestrator.commands import how_ended
from orchestrator.errors import OrchestratorError
from orchestrator.events import Trouble
from orchestrator.facts import gateway_state, record_facts
from orchestrator.lifecycle import Machine, Stopped
from orchestrator.link import Line
from orchestrator.tidings import Tidings
from orchestrator.unseen import unseen

ARMS: Mapping[str, str] = {"a": "base", "b": "changed"}
"""What the measuring process calls the sides of a comparison."""
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
    line: Line
    tidings: Tidings
    say: Say = lambda _: None
    side: str | None = None
    """Which of two gateways it is: ``a`` or ``b``; ``None`` = there is only one."""
    journal: Path | None = None
    journal_ns: int = 0
    lost: Trouble | None = None
    """Why the gateway could not be measured any further."""
    stopped: Stopped | None = None
    stop_fault: OrchestratorError | None = None

    def of_side(self, trouble: Trouble) -> Trouble:
        """Return what is wrong with the gateway, and of two with which."""
        if self.side is None:
            return trouble
        return replace(
            trouble,
            summary=f"Side {self.side}: {trouble.summary}",
            detail={**trouble.detail, "side": self.side},
        )


def conclude(
    machine: Machine, courses: Sequence[Course], end: ChildEnd, *, interrupted: int | None
) -> JobEnd:
    """Return how the job ended; the journal of a child that died is closed first.

    Args:
        machine: The ports.
        courses: What happened, of each gateway.
        end: How the measuring process ended.
        interrupted: Exit code of the signal that asked us to end; ``None`` = none did.
    """
    gateway = _of_all(courses)
    if end.said is not None and end.status >= 0:
        code = int(end.said["exitCode"])
        fault = next((one.stop_fault for one in courses if one.stop_fault is not None), None)
        is_spoilt = code == 0 and fault is not None
        reason = "not_stopped" if is_spoilt else str(end.said.get("reason") or "done")
        return JobEnd(
            exit_code=_own_code(code, courses, fault),
            reason=reason,
            stop_fault=fault,
            said=end.said,
            gateway=gateway,
        )
    return _after_death(machine, courses, end, gateway, interrupted)


def _of_all(courses: Sequence[Course]) -> dict[str, Any]:
    """Return what ``--json`` says of the gateway; of two by side."""
    told = {
        one.side: {
            **record_facts(one.up.started.record),
            "stopped": one.stopped is not None,
            "exit": gateway_state(one.up, one.stopped)["exit"],
        }
        for one in courses
    }
    if None in told:
        return told[None]
    return {str(side): facts for side, facts in told.items()}


def _own_code(code: int, courses: Sequence[Course], fault: OrchestratorError | None) -> int:
    """A run that a gateway's death cut short is 4; one that left something behind is not 0."""
    if code == INCOMPLETE and _first_lost(courses) is not None:
        return GATEWAY_DIED
    return fault.exit_code if code == 0 and fault is not None else code


def _first_lost(courses: Sequence[Course]) -> Trouble | None:
    lost = [one.lost for one in courses if one.lost is not None]
    return min(lost, key=lambda one: one.at_ns, default=None)


def _after_death(
    machine: Machine,
    courses: Sequence[Course],
    end: ChildEnd,
    gateway: Mapping[str, Any],
    interrupted: int | None,
) -> JobEnd:
    """Close the journal of a child that died, and have the reports made of it."""
    how = how_ended(end.status)
    code = INCOMPLETE if _first_lost(courses) is None else GATEWAY_DIED
    code = interrupted or code
    journal = courses[0].journal
    if journal is None:
        headline = f"the measuring process {how}; nothing was measured"
        return JobEnd(
            exit_code=code,
            reason="client_killed" if interrupted is None else "interrupted",
            said={},
            gateway=gateway,
            headline=headline
            if interrupted is None
            else "interrupted before anything was measured",
        )
    _close_journal(machine, courses, journal, how=how, exit_code=code)
    return JobEnd(
        exit_code=code,
        reason="client_killed",
        said={},
        gateway=gateway,
        headline=f"the measuring process {how}; what it had measured is kept in `{journal}`",
        files=_rendered(journal),
        next=f"gateway-bench resume {quote(str(journal))}",
    )


def _close_journal(
    machine: Machine, courses: Sequence[Course], journal: Path, *, how: str, exit_code: int
) -> None:
    state = aftermath.read_state(journal)
    if state.has_end:
        return
    now_ns, at = machine.clock.now_ns(), machine.clock.utcnow()
    stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    since_ms = (now_ns - courses[0].journal_ns) / 1e6
    lost = _first_lost(courses)
    causes = [
        aftermath.incident(
            kind=one.lost.incident_class,
            at=stamp,
            at_ns=one.lost.at_ns,
            summary=one.lost.summary,
            detail=one.lost.detail,
            touched=state.in_flight,
        )
        for one in courses
        if one.lost is not None
    ]
    death = aftermath.incident(
        kind="client_killed",
        at=stamp,
        at_ns=now_ns,
        summary=f"The measuring process {how}. Requests in flight may have been billed.",
        detail={"inFlight": list(state.in_flight)},
        touched=state.in_flight,
    )
    footer = aftermath.footer(
        at=stamp,
        offset_ms=max(state.begun_offset_ms + since_ms, state.last_offset_ms),
        reason="killed" if lost is None else "gateway",
        exit_code=exit_code,
    )
    notes = [note for one in courses for note in _unwritten_notes(one, state, stamp)]
    ends = [_gateway_record(one) for one in courses]
    aftermath.append(journal, (*notes, *causes, death, *ends, footer), is_torn=state.is_torn)


def _gateway_record(course: Course) -> dict[str, Any]:
    record = {
        "type": "gateway",
        **gateway_state(course.up, course.stopped),
        "simulatedUpstream": course.up.near.upstream.is_simulated,
    }
    return record if course.side is None else {**record, "side": ARMS[course.side]}


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
