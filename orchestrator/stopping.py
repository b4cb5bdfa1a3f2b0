"""Stop one gateway by identity, and prove that nothing of it is left."""

import signal
from collections.abc import Iterable
from pathlib import Path

from orchestrator import records
from orchestrator.errors import (
    IdentityUnknown,
    NotStopped,
    NotVerified,
    PidReused,
    StateUnusable,
)
from orchestrator.events import Event
from orchestrator.identity import Identity
from orchestrator.lifecycle import (
    Machine,
    Stopped,
    exit_of,
    find,
    hold_verified,
    in_turn,
    session_of,
    standing_of,
)
from orchestrator.ports import Absence, Held, Lock, ProcessInfo
from orchestrator.records import Ending, GatewayRecord, Instance

# After SIGKILL only a process in an uninterruptible system call lives on.
_KILL_WAIT_S = 5.0
_LEFTOVER_GRACE_S = 2.0
_PORT_WAIT_S = 2.0
_PORT_PAUSE_S = 0.02

RESTARTED = "the machine was restarted"
"""Why a gateway of an earlier boot ended."""


def stop(
    machine: Machine,
    instance: Instance,
    *,
    grace_s: float | None = None,
    held: Held | None = None,
    turn: Lock | None = None,
) -> Stopped:
    """Stop the gateway of that name; one that is down already is a success.

    Args:
        machine: The ports.
        instance: Which one.
        grace_s: Between SIGTERM and SIGKILL; ``None`` = as its record says.
        held: From ``Started``, when the caller has it: its exit status is known longer.
        turn: The instance's lock, where the caller has it for more than the stop.

    Raises:
        NotVerified: The process may not be ours; nothing was signalled.
        NotStopped: Something survived; the record is kept.
        StartUnderWay: Another command starts or stops it.
    """
    with in_turn(machine, instance, turn):
        record = find(machine, instance)
        if record is None:
            last = machine.state.read(records.ending_name(instance.id))
            ending = None if last is None else records.decode_ending(last)
            return Stopped(ending=ending, was_down=True)
        now = standing_of(machine, record)
        if now.state == "unknown":
            raise IdentityUnknown(record.identity.pid, now.why)
        if now.state == "reused" and now.seen is not None:
            forget(machine, record, held)
            raise PidReused(
                record.identity.pid,
                recorded_ticks=record.identity.start_ticks,
                seen_ticks=now.seen.identity.start_ticks,
            )
        grace = record.grace_s if grace_s is None else grace_s
        return put_away(machine, record, grace_s=grace, held=held)


def put_away(
    machine: Machine,
    record: GatewayRecord,
    *,
    grace_s: float,
    held: Held | None,
    because: str | None = None,
) -> Stopped:
    """End what is left of a gateway, prove the port free, write down how it ended.

    The caller holds the instance's lock. A leader that is dead already is not signalled, but what
    escaped from its session is.

    Raises:
        NotStopped: Something survived; the record is kept.
        NotVerified: The leader can't be told; nothing was signalled.
    """
    if held is None and standing_of(machine, record).is_of_earlier_boot:
        # Whoever has its port now is a stranger, visible or not.
        ending = forget(machine, record, None, because=RESTARTED)
        return Stopped(ending=ending, was_down=True)
    leader = held or hold_verified(machine, record.identity)
    try:
        return _end(machine, record, leader, grace_s, because)
    finally:
        if leader is not None and leader is not held:
            leader.close()


def _end(
    machine: Machine,
    record: GatewayRecord,
    leader: Held | None,
    grace_s: float,
    because: str | None,
) -> Stopped:
    events: list[Event] = []
    was_down = leader is None or leader.ended(0)
    # Before the first signal: who descends from whom is lost with the parent.
    known = {one.pid: one for one in session_of(machine, record.identity, record.run_id)}
    was_killed = False
    if leader is not None and not was_down:
        was_killed = _end_leader(machine, leader, grace_s, events)
    known |= {one.pid: one for one in session_of(machine, record.identity, record.run_id)}
    swept = sweep(machine, [one for one in known.values() if one.pid != record.identity.pid])
    if swept:
        _note(machine, events, "swept", pids=swept)
    _note(machine, events, "gone")
    _prove_port_free(machine, record, events)
    why = None if was_down else because
    ending = forget(
        machine, record, leader, was_asked=not was_down, events=tuple(events), because=why
    )
    return Stopped(ending=ending, was_down=was_down, was_killed=was_killed)


def _note(machine: Machine, events: list[Event], name: str, **detail: object) -> None:
    events.append(Event(name=name, at_ns=machine.clock.now_ns(), detail=detail))


def _end_leader(machine: Machine, leader: Held, grace_s: float, events: list[Event]) -> bool:
    """Send SIGTERM to the leader only: a cluster's master ends its workers itself.

    Returns:
        Whether it took SIGKILL to the whole group.
    """
    seen = machine.table.look(leader.pid)
    leader.send(signal.SIGTERM)
    if not isinstance(seen, Absence) and seen.state == "stopped":
        leader.send(signal.SIGCONT)  # a suspended process takes its SIGTERM only after this
    _note(machine, events, "term_sent", pid=leader.pid)
    try:
        if leader.ended(grace_s):
            return False
    except KeyboardInterrupt:
        pass  # a second Ctrl-C means "now": no grace, but nothing is left behind either
    _note(machine, events, "kill_sent", pid=leader.pid)
    end_at_once(leader)
    return True


def end_at_once(leader: Held) -> None:
    """Kill a leader and the group whose number is its PID; one that is dead is left alone.

    Raises:
        NotStopped: It survived.
    """
    if leader.ended(0):
        return
    leader.send(signal.SIGKILL, group=True)
    leader.send(signal.SIGKILL)
    if not leader.ended(_KILL_WAIT_S):
        raise NotStopped([leader.pid])


def sweep(
    machine: Machine, members: Iterable[ProcessInfo], *, grace_s: float = _LEFTOVER_GRACE_S
) -> list[int]:
    """End processes one by one, each by its identity; return who was signalled.

    Never ourselves, an ancestor of ours, or a process of another user.

    Args:
        machine: The ports.
        members: As they were seen; one whose PID is another's by now is left alone.
        grace_s: Between SIGTERM and SIGKILL.

    Raises:
        NotStopped: One survived SIGKILL.
    """
    spared = ourselves_and_ancestors(machine)
    us = machine.table.look(machine.table.ourselves().pid)
    user = None if isinstance(us, Absence) else us.user
    held: list[Held] = []
    try:
        for one in members:
            if one.pid in spared or one.user != user:
                continue
            member = _hold_member(machine, one.identity)
            if member is not None:
                held.append(member)
        for number, wait_s in (
            (signal.SIGTERM, grace_s),
            (signal.SIGKILL, _KILL_WAIT_S),
        ):
            left = [member for member in held if not member.ended(0)]
            for member in left:
                member.send(number)
            _wait_for(machine, left, wait_s)
        survivors = [member.pid for member in held if not member.ended(0)]
        if survivors:
            raise NotStopped(survivors)
        return [member.pid for member in held]
    finally:
        for member in held:
            member.close()


def _wait_for(machine: Machine, members: list[Held], wait_s: float) -> None:
    deadline_ns = machine.clock.now_ns() + int(wait_s * 1e9)
    for member in members:
        member.ended(max(0.0, (deadline_ns - machine.clock.now_ns()) / 1e9))


def _hold_member(machine: Machine, identity: Identity) -> Held | None:
    try:
        return hold_verified(machine, identity)
    except NotVerified:
        return None  # it ended, and its PID is somebody else's already


def ourselves_and_ancestors(machine: Machine) -> frozenset[int]:
    """Return the PIDs that no command of ours may ever signal."""
    pid = machine.table.ourselves().pid
    line: set[int] = set()
    while pid > 0 and pid not in line:
        line.add(pid)
        seen = machine.table.look(pid)
        pid = 0 if isinstance(seen, Absence) else seen.parent
    return frozenset(line)


def _prove_port_free(machine: Machine, record: GatewayRecord, events: list[Event]) -> None:
    """Wait until nobody of ours listens; somebody else who took the port meanwhile is no fault."""
    deadline_ns = machine.clock.now_ns() + int(_PORT_WAIT_S * 1e9)
    while True:
        left = machine.sockets.listeners(record.port)
        if not left:
            _note(machine, events, "port_free", port=record.port)
            return
        mine = {one.pid for one in session_of(machine, record.identity, record.run_id)}
        holders = {pid for listener in left for pid in listener.pids}
        if holders and not holders & mine:
            _note(machine, events, "port_taken", port=record.port, pids=sorted(holders))
            return
        if machine.clock.now_ns() >= deadline_ns:
            raise NotStopped(sorted(holders), port=record.port)
        machine.clock.sleep(_PORT_PAUSE_S)


def forget(
    machine: Machine,
    record: GatewayRecord,
    leader: Held | None,
    *,
    was_asked: bool = False,
    events: tuple[Event, ...] = (),
    because: str | None = None,
) -> Ending:
    """Write down how it ended, then remove shim and record, in this order.

    On a full disk the other way round: what is removed makes room.

    Raises:
        StateUnusable: Its ending can't be written down, or its record can't be removed.
    """
    ending = Ending(
        identity=record.identity,
        run_id=record.run_id,
        name=record.name,
        worktree=record.worktree,
        port=record.port,
        log=record.log,
        ended_at=machine.clock.utcnow().isoformat(timespec="milliseconds"),
        was_asked=was_asked,
        exit=exit_of(machine, leader, record),
        events=events,
        because=because,
        stop_asked=record.stop_asked,
    )
    name, data = records.ending_name(record.id), records.encode(ending)
    try:
        machine.state.write(name, data)
    except StateUnusable:
        _remove_files(machine, record)
        machine.state.write(name, data)
    else:
        _remove_files(machine, record)
    return ending


def _remove_files(machine: Machine, record: GatewayRecord) -> None:
    for path in record.files:
        machine.shims.remove(Path(path))
    machine.state.remove(records.record_name(record.id))
