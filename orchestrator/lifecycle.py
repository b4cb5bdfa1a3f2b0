"""What starting, verifying and stopping share: the ports, the orders, and who is who.

Public functions: ``starting.start``, ``lifecycle.standing_of``, ``lifecycle.find``,
``starting.answers``, ``stopping.stop``, ``watch.Watcher``. Nothing is signalled unless ``hold_verified`` gave the
process out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from orchestrator import records
from orchestrator.entry import EntryMode, Program
from orchestrator.errors import IdentityUnknown, PidReused, RecordUnreadable, StartUnderWay
from orchestrator.events import Event, Exit
from orchestrator.exposure import members
from orchestrator.identity import Identity, Match, matches
from orchestrator.masking import mask
from orchestrator.ports import (
    Absence,
    BuildFacts,
    Clock,
    HealthProbe,
    Held,
    Holder,
    Lock,
    LogFile,
    ProcessInfo,
    ProcessTable,
    ShimFiles,
    Sockets,
    Spawner,
    StateFolder,
    TrafficMeter,
    Worktrees,
)
from orchestrator.readiness import HealthCheck
from orchestrator.records import Ending, GatewayRecord, Instance, Unreadable
from orchestrator.watch_ports import Meter, Premises


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Every port at once; ``system.machine()`` builds the real one, tests a fake one."""

    clock: Clock
    table: ProcessTable
    holder: Holder
    sockets: Sockets
    traffic: TrafficMeter
    probe: HealthProbe
    spawner: Spawner
    state: StateFolder
    facts: BuildFacts
    shims: ShimFiles
    log: LogFile
    worktrees: Worktrees
    meter: Meter
    premises: Premises
    machine_id: str | None = None
    """Which machine this is, as a hash that stays the same over restarts; ``None`` = not known."""
    without_keys: Callable[[str], str] = str
    """Takes the keys that this command knows out of what a gateway said: its shim doesn't know its
    clients' keys, and an error that it died of may hold one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to run once the port is known."""

    program: Program
    entry_mode: EntryMode = "shim"
    folder: Path
    """Working directory."""
    environment: Mapping[str, str]
    """The complete one, port variables included; ``GWB_RUN`` is added."""
    health: HealthCheck = field(default_factory=HealthCheck)
    secrets: tuple[str, ...] = ()
    """Values that must not be seen in errors and log tails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """Which gateway is wanted, and how long to wait for it."""

    instance: Instance
    run_id: str
    """Whole value of ``GWB_RUN``: unique, at least eight characters."""
    fingerprint: Mapping[str, str]
    """A hash per part; all the same = the same gateway is wanted again."""
    host: str = "127.0.0.1"
    """Literal loopback address; ``::1`` works too."""
    port: int | None = None
    """A wish; ``None`` = any free one below the ephemeral range."""
    is_port_fixed: bool = False
    """A wish that must come true: a taken port is an error."""
    ready_timeout_s: float = 60.0
    settle_s: float = 0.5
    grace_s: float = 10.0
    ttl_s: float | None = None
    """Ends this long after its start, or after it was asked for again."""
    idle_stop_s: float | None = None
    """Ends once nobody was connected for this long."""
    kill_patterns: tuple[str, ...] = ()
    """Regular expressions beside the built-in ones."""
    labels: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A gateway that is up and proven ours. ``held`` is for the watcher; close it at the end."""

    record: GatewayRecord
    held: Held
    events: tuple[Event, ...] = ()
    was_up: bool = False
    """True when it was up already and nothing was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """How a gateway ended, and what was needed for it."""

    ending: Ending | None
    """``None`` when nothing was on record and nothing ever ended under this name."""
    was_down: bool
    """True when there was nothing to stop."""
    was_killed: bool = False
    """True when SIGTERM and the grace time did not do."""


_TURN_PAUSE_S = 0.05

Verdict = Literal["up", "suspended", "gone", "reused", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a record is worth now."""

    state: Verdict
    why: str
    seen: ProcessInfo | None = None
    is_of_earlier_boot: bool = False
    """Gone because the machine was restarted: nothing of it can be left, its port says nothing."""


_ABSENT = {
    Absence.GONE: Standing(state="gone", why="no process has its PID"),
    Absence.HIDDEN: Standing(state="unknown", why="the process is hidden from this user"),
}
_STATES: Mapping[str, tuple[Verdict, str]] = {
    "alive": ("up", "same boot, namespace, PID and start"),
    "stopped": ("suspended", "it was stopped by a signal"),
    # PID 1 may reap late or never: waiting for the PID to vanish would never end.
    "zombie": ("gone", "it ended and waits to be reaped"),
}


def standing(machine: Machine, identity: Identity) -> Standing:
    """Say what became of a recorded process. Signals nothing, asks it nothing."""
    here = machine.table.ourselves()
    if identity.boot_id != here.boot_id:
        return Standing(state="unknown", why="it was recorded on another boot or machine")
    if identity.pid_namespace != here.pid_namespace:
        return Standing(state="unknown", why="it was recorded in another PID namespace")
    seen = machine.table.look(identity.pid)
    if isinstance(seen, Absence):
        return _ABSENT[seen]
    if matches(identity, seen.identity) is not Match.SAME:
        return Standing(state="reused", why="the PID belongs to another process", seen=seen)
    state, why = _STATES[seen.state]
    return Standing(state=state, why=why, seen=seen)


def standing_of(
    machine: Machine, record: GatewayRecord, table: Iterable[ProcessInfo] | None = None
) -> Standing:
    """Say what became of a gateway on record; a restart of its machine has ended it.

    Args:
        machine: The ports.
        record: Which one.
        table: All processes, where the caller has them; else they are read when it takes them.
    """
    if not records.is_of_earlier_boot(record, machine.table.ourselves(), machine.machine_id):
        return standing(machine, record.identity)
    everyone = machine.table.everyone() if table is None else table
    bearer = next((one.pid for one in everyone if one.marker == record.run_id), None)
    if bearer is not None:
        why = f"it was recorded on an earlier boot, and yet PID {bearer} carries its marker"
        return Standing(state="unknown", why=why)
    why = "it ended with an earlier boot of this machine"
    return Standing(state="gone", why=why, is_of_earlier_boot=True)


def hold_verified(machine: Machine, identity: Identity) -> Held | None:
    """Take hold of a recorded process: the only way to something that may be signalled.

    The PID is held first and compared after: whatever was compared is what is held.

    Returns:
        ``None`` when the process is gone (a zombie is).

    Raises:
        PidReused: The PID belongs to another process.
        IdentityUnknown: It can't be told.
    """
    held = machine.holder.hold(identity.pid)
    now = standing(machine, identity)
    if held is not None and now.state in ("up", "suspended"):
        return held
    if held is not None:
        held.close()
    if now.state == "reused" and now.seen is not None:
        raise PidReused(
            identity.pid,
            recorded_ticks=identity.start_ticks,
            seen_ticks=now.seen.identity.start_ticks,
        )
    if now.state == "unknown":
        raise IdentityUnknown(identity.pid, now.why)
    return None


def session_of(machine: Machine, identity: Identity, run_id: str) -> tuple[ProcessInfo, ...]:
    """Return every living process of a gateway: session, marker, descendants."""
    everyone = members(machine.table.everyone(), leader=identity, marker=run_id)
    return tuple(process for process in everyone if process.state != "zombie")


def take_turn(machine: Machine, instance: Instance, *, patience_s: float = 0.0) -> Lock:
    """Take the lock under which an instance is started or stopped, with all that belongs to it.

    Args:
        machine: The ports.
        instance: Which one.
        patience_s: How long to wait while somebody else has it; 0 = not at all.

    Raises:
        StartUnderWay: Somebody else has it.
    """
    now = machine.clock.utcnow().isoformat(timespec="seconds")
    note = f"PID {machine.table.ourselves().pid} since {now}"
    deadline_ns = machine.clock.now_ns() + int(patience_s * 1e9)
    while True:
        lock = machine.state.lock(records.lock_name(instance.id), note)
        if not isinstance(lock, str):
            return lock
        if machine.clock.now_ns() >= deadline_ns:
            raise StartUnderWay(instance.name, str(instance.worktree), lock)
        machine.clock.sleep(_TURN_PAUSE_S)


@contextmanager
def in_turn(
    machine: Machine, instance: Instance, turn: Lock | None, *, patience_s: float = 0.0
) -> Iterator[Lock]:
    """Have an instance's lock inside the context: the caller's, or one of our own.

    Args:
        machine: The ports.
        instance: Which one.
        turn: What the caller holds already, for more than this step; it stays the caller's.
        patience_s: How long to wait for one of our own.

    Raises:
        StartUnderWay: Somebody else has it.
    """
    if turn is not None:
        yield turn
        return
    own = take_turn(machine, instance, patience_s=patience_s)
    try:
        yield own
    finally:
        own.release()


class _ShimRecord(msgspec.Struct):
    pid: int
    code: int
    error: str | None = None


def exit_of(machine: Machine, held: Held | None, record: GatewayRecord) -> Exit:
    """Say how a dead gateway ended: by the system, else by what its shim left behind."""
    end = Exit() if held is None else held.exit()
    left = machine.state.read(record.exit_file) if record.exit_file else None
    try:
        said = None if left is None else msgspec.json.decode(left, type=_ShimRecord)
    except msgspec.MsgspecError:
        said = None
    if said is None or said.pid != record.identity.pid:
        return end
    if end.source == "unknown":
        end = msgspec.structs.replace(end, code=said.code, source="shim")
    # Whole keys first: what has the shape of one may be a part of it.
    error = mask(machine.without_keys(said.error)) if said.error else None
    return msgspec.structs.replace(end, error=error)


def find(machine: Machine, instance: Instance) -> GatewayRecord | None:
    """Read the record of an instance.

    Raises:
        RecordUnreadable: It is truncated, of a newer version, or of another instance.
    """
    name = records.record_name(instance.id)
    data = machine.state.read(name)
    if data is None:
        return None
    record = records.decode(data)
    path = str(machine.state.root / name)
    if isinstance(record, Unreadable):
        raise RecordUnreadable(path, record.why)
    if (record.worktree, record.name) != (str(instance.worktree), instance.name):
        raise RecordUnreadable(path, f"belongs to `{record.name}` of `{record.worktree}`")
    return record


def find_all(machine: Machine) -> tuple[GatewayRecord | RecordUnreadable, ...]:
    """Read every record of this user, unreadable ones as the error they are."""
    found: list[GatewayRecord | RecordUnreadable] = []
    for name in machine.state.names(".json"):
        record = records.decode(machine.state.read(name) or b"")
        if isinstance(record, Unreadable):
            found.append(RecordUnreadable(str(machine.state.root / name), record.why))
        else:
            found.append(record)
    return tuple(found)
