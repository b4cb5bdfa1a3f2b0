"""Remove what `removals` decided on: each under its locks, looked at again, by identity only."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from orchestrator import records
from orchestrator.errors import OrchestratorError, RecordUnreadable
from orchestrator.lifecycle import Machine, find, session_of, standing_of
from orchestrator.ports import Absence, ProcessInfo, SoleLock
from orchestrator.records import UPSTREAM_OF, GatewayRecord, Instance
from orchestrator.removals import Removal
from orchestrator.stopping import RESTARTED, forget, put_away, sweep
from orchestrator.strays import Stray
from orchestrator.survey import attached_id, use_ids
from orchestrator.verdicts import Verdict

_GRACE_S = 10.0
_LOCK_TRIES = 5
_LOCK_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What became of one removal."""

    removal: Removal
    is_done: bool
    why: str
    """What was done, or why nothing was."""
    fault: OrchestratorError | None = None
    """What went wrong; ``None`` = it was done, or rightly left alone."""


class Skipped(Exception):
    """Something changed since it was looked at; never reaches people as an error."""


def clean(
    machine: Machine,
    wanted: Iterable[Removal],
    *,
    is_ended: Callable[[], bool],
    tidy: Callable[[GatewayRecord], None] = lambda _: None,
) -> tuple[Removed, ...]:
    """Do each removal that is one; a fault of one does not keep the next from being done.

    Args:
        machine: The ports.
        wanted: From ``removals.removals``; what is to be kept is passed over.
        is_ended: Asked before each: somebody wants us to end.
        tidy: Called with each gateway on record once it is down, under its locks.
    """
    done = []
    for removal in wanted:
        if removal.action == "keep":
            continue
        if is_ended():
            break
        done.append(_removed(machine, removal, tidy))
    return tuple(done)


def _removed(machine: Machine, removal: Removal, tidy: Callable[[GatewayRecord], None]) -> Removed:
    try:
        if removal.action == "end":
            said = _end(machine, removal.stray)
        else:
            said = _put_away(machine, removal.stray, tidy)
    except Skipped as skipped:
        return Removed(removal=removal, is_done=False, why=str(skipped))
    except OrchestratorError as fault:
        return Removed(removal=removal, is_done=False, why=fault.message, fault=fault)
    return Removed(removal=removal, is_done=True, why=said)


@contextmanager
def alone(machine: Machine, uses: Iterable[str], instance_id: str) -> Iterator[list[SoleLock]]:
    """Hold every lock of an instance, and give them: nobody uses, starts or stops it meanwhile."""
    now = machine.clock.utcnow().isoformat(timespec="seconds")
    note = f"a clean-up, PID {machine.table.ourselves().pid} since {now}"
    names = [*(records.use_name(one) for one in uses), records.lock_name(instance_id)]
    held = []
    try:
        for name in names:
            lock = _lock(machine, name, note)
            if lock is None:
                raise Skipped("somebody took it into use, or starts or stops it")
            held.append(lock)
        yield held
    finally:
        for lock in held:
            lock.release()


def _lock(machine: Machine, name: str, note: str) -> SoleLock | None:
    # Whoever only asks whether it is held has it for an instant.
    for _ in range(_LOCK_TRIES):
        lock = machine.state.lock(name, note)
        if not isinstance(lock, str):
            return lock
        machine.clock.sleep(_LOCK_PAUSE_S)
    return None


def _put_away(machine: Machine, stray: Stray, tidy: Callable[[GatewayRecord], None]) -> str:
    """Stop a gateway on record, or put the record of a dead one away."""
    record = stray.record
    assert record is not None  # noqa: S101  these verdicts come from records only
    with alone(machine, use_ids(record), record.id):
        _require_same(machine, record)
        _require_no_owner(machine, record)
        now = standing_of(machine, record)
        if now.state == "unknown":
            raise Skipped(now.why)
        if now.state == "reused" or (now.state == "gone" and not _left(machine, record)):
            forget(machine, record, None, because=RESTARTED if now.is_of_earlier_boot else None)
            said = "its record is put away"
        elif now.state == "gone":
            put_away(machine, record, grace_s=record.grace_s, held=None)
            said = "what was left of it is ended, its record put away"
        else:
            if stray.verdict is Verdict.DEAD:
                raise Skipped("it is up")
            stopped = put_away(machine, record, grace_s=record.grace_s, held=None)
            said = "killed after its grace" if stopped.was_killed else "stopped"
        try:
            tidy(record)
        finally:
            shutil.rmtree(machine.state.root / f"{record.id}.d", ignore_errors=True)
    return said


def _require_same(machine: Machine, record: GatewayRecord) -> None:
    now = records.decode(machine.state.read(records.record_name(record.id)) or b"{}")
    if not isinstance(now, GatewayRecord) or now.identity != record.identity:
        raise Skipped("its record changed meanwhile")


def _require_no_owner(machine: Machine, record: GatewayRecord) -> None:
    """Leave the simulator of a gateway alone that may be up."""
    owner = record.labels.get(UPSTREAM_OF)
    if owner is None:
        return
    try:
        find(machine, Instance(worktree=Path(record.worktree), name=str(owner)))
    except RecordUnreadable as fault:
        raise Skipped("the record of its gateway can't be read") from fault


def _left(machine: Machine, record: GatewayRecord) -> bool:
    return bool(session_of(machine, record.identity, record.run_id))


def _end(machine: Machine, stray: Stray) -> str:
    """End processes that no record speaks of, those of the list only."""
    if stray.verdict is Verdict.SUSPECT:
        attached = attached_id(machine, stray.processes[0])
        with alone(machine, (attached,), attached):
            return _swept(machine, stray.processes[:1])
    assert stray.record_path is not None  # noqa: S101  without it the verdict is another
    instance_id = PurePath(stray.record_path).stem
    with alone(machine, (instance_id,), instance_id):
        record = records.decode(machine.state.read(records.record_name(instance_id)) or b"{}")
        if isinstance(record, GatewayRecord) and record.run_id == stray.run_id:
            raise Skipped("it is on record meanwhile")
        return _swept(machine, [one for one in stray.processes if _is_marked(machine, one)])


def _is_marked(machine: Machine, one: ProcessInfo) -> bool:
    seen = machine.table.look(one.pid)
    return not isinstance(seen, Absence) and seen.marker == one.marker


def _swept(machine: Machine, processes: Iterable[ProcessInfo]) -> str:
    ended = sweep(machine, processes, grace_s=_GRACE_S)
    if not ended:
        raise Skipped("it is gone")
    return "ended " + ", ".join(f"PID {pid}" for pid in ended)
