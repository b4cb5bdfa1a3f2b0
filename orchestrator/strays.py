"""What every gateway on record, and everything that looks like one, is worth now. Pure.

Process table x records x holds x working trees -> verdicts with their reasons. Kills nothing, and
nothing is called ours for its name, folder, parent or port.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from orchestrator.exposure import members
from orchestrator.holding import Holding
from orchestrator.identity import Identity
from orchestrator.masking import mask
from orchestrator.ports import ProcessDetail, ProcessInfo
from orchestrator.records import GatewayRecord
from orchestrator.suspects import Suspicion
from orchestrator.verdicts import (
    Known,
    Marked,
    Scene,
    Verdict,
    idle_s_of,
    judge_marked,
    judge_outside,
    judge_record,
)
from orchestrator.worktrees import undeleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """One line of the list; ``None`` = not known, or there is none."""

    verdict: Verdict
    reason: str
    identity: Identity | None = None
    name: str | None = None
    run_id: str | None = None
    worktree: str | None = None
    is_worktree_gone: bool = False
    branch: str | None = None
    ports: tuple[int, ...] = ()
    age_s: float | None = None
    """Of the process."""
    idle_s: float | None = None
    """Since its start, or since it was last used."""
    memory_bytes: int | None = None
    """Resident, of all its processes."""
    held_by: Holding | None = None
    command: str | None = None
    """Masked."""
    record: GatewayRecord | None = None
    record_path: str | None = None
    processes: tuple[ProcessInfo, ...] = ()
    """All that belong to it, as they were seen."""

    @property
    def pid(self) -> int | None:
        """The PID; ``None`` when no process is known."""
        return None if self.identity is None else self.identity.pid


_ORDER = tuple(Verdict)
# What listens in place of a container's process.
_FORWARDER = re.compile(r"docker-proxy|rootlessport|conmon|slirp4netns|pasta")


def strays(scene: Scene) -> tuple[Stray, ...]:
    """Return every gateway and every candidate with a verdict and its reason."""
    found = [_of_record(one, scene) for one in scene.known]
    found += [_of_unreadable(path, why) for path, why in scene.unreadable]
    found += [_of_marked(one, scene) for one in scene.marked]
    found += [_of_suspicion(one, scene) for one in scene.suspicions]
    return tuple(sorted(found, key=_rank))


def _rank(stray: Stray) -> tuple[int, str, str, int]:
    where = _ORDER.index(stray.verdict)
    return where, stray.worktree or "~", stray.name or "", stray.pid or 0


def marked_without_record(
    table: Iterable[ProcessInfo], known_runs: Collection[str], spared: Collection[int]
) -> dict[str, tuple[ProcessInfo, ...]]:
    """Return the living processes that carry our marker, by its value, where no record has it.

    Args:
        table: The process table.
        known_runs: Whole values of the marker that are on record.
        spared: PIDs of ourselves and our ancestors.
    """
    found: dict[str, list[ProcessInfo]] = {}
    for one in table:
        is_ours = one.marker is not None and one.marker not in known_runs
        if is_ours and one.marker and one.state != "zombie" and one.pid not in spared:
            found.setdefault(one.marker, []).append(one)
    return {run_id: tuple(processes) for run_id, processes in found.items()}


def memory_of(processes: Iterable[ProcessInfo], details: Mapping[int, ProcessDetail]) -> int | None:
    """Add up the resident memory; ``None`` when none of it is known."""
    sizes = [details[one.pid].resident_bytes for one in processes if one.pid in details]
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None


def _of_record(known: Known, scene: Scene) -> Stray:
    record, seen = known.record, known.standing.seen
    alive = known.standing.state in ("up", "suspended")
    session = tuple(
        one
        for one in members(scene.table, leader=record.identity, marker=record.run_id)
        if one.state != "zombie"
    )
    age_s = seen.age_s if alive and seen is not None else None
    verdict, reason = judge_record(known, scene, session)
    folder = undeleted(seen.folder or "") if alive and seen is not None else ("", False)
    # Another folder may have taken the path of the one that was removed.
    is_gone = known.place.is_gone or folder == (record.worktree, True)
    return Stray(
        verdict=verdict,
        reason=_with_place(reason, known, is_gone=is_gone),
        identity=record.identity,
        name=record.name,
        run_id=record.run_id,
        worktree=record.worktree,
        is_worktree_gone=is_gone,
        branch=record.build.branch or known.place.branch,
        ports=(record.port,),
        age_s=age_s,
        idle_s=idle_s_of(known),
        memory_bytes=memory_of(session, scene.details),
        held_by=known.held_by,
        command=mask(seen.command) if alive and seen is not None else None,
        record=record,
        record_path=f"{scene.state_root}/{record.id}.json",
        processes=session,
    )


def _with_place(reason: str, known: Known, *, is_gone: bool) -> str:
    if is_gone:
        return f"{reason}; its worktree was removed"
    built, now = known.record.build.branch, known.place.branch
    if built and now and built != now:
        return f"{reason}; its worktree is on `{now}` now"
    return reason


def _of_unreadable(path: str, why: str) -> Stray:
    return Stray(
        verdict=Verdict.UNVERIFIED,
        reason=f"the record `{path}` {why}; it stays until you remove it",
        record_path=path,
    )


def _of_marked(marked: Marked, scene: Scene) -> Stray:
    head = marked.head
    verdict, reason = judge_marked(marked, scene)
    more = len(marked.processes) - 1
    made = _of_process(head, verdict, reason + (f"; {more} more of it" if more else ""), scene)
    return replace(
        made,
        run_id=marked.run_id,
        held_by=marked.held_by,
        record_path=marked.record_path,
        processes=marked.processes,
        memory_bytes=memory_of(marked.processes, scene.details),
        ports=tuple(sorted({port for one in marked.processes for port in _ports(one, scene)})),
    )


def _of_suspicion(suspicion: Suspicion, scene: Scene) -> Stray:
    one = suspicion.process
    if _FORWARDER.match(one.name):
        return _of_process(one, Verdict.CONTAINER, f"{suspicion.why}, for a container", scene)
    outside = judge_outside(one, scene)
    if outside is not None:
        return _of_process(one, outside[0], f"{suspicion.why}; {outside[1]}", scene)
    holding = scene.attached.get(one.pid)
    if holding is not None:
        made = _of_process(one, Verdict.HELD, f"{suspicion.why}; attached to, and in use", scene)
        return replace(made, held_by=holding)
    return _of_process(one, Verdict.SUSPECT, suspicion.why, scene)


def _of_process(one: ProcessInfo, verdict: Verdict, reason: str, scene: Scene) -> Stray:
    place = scene.places.get(one.pid)
    is_gone = place is not None and place.is_gone
    return Stray(
        verdict=verdict,
        reason=f"{reason}; its folder was removed" if is_gone else reason,
        identity=one.identity,
        worktree=None if place is None else place.worktree,
        is_worktree_gone=is_gone,
        branch=None if place is None else place.branch,
        ports=_ports(one, scene),
        age_s=one.age_s,
        idle_s=one.age_s,
        memory_bytes=memory_of((one,), scene.details),
        command=mask(one.command),
        processes=(one,),
    )


def _ports(one: ProcessInfo, scene: Scene) -> tuple[int, ...]:
    return scene.ports.get(one.pid, ())
