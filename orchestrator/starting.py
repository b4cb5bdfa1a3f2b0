"""Start one gateway, renamed and detached, and prove that what answers is it."""

import random
from collections.abc import Callable
from datetime import datetime

from orchestrator.adoption import judge
from orchestrator.attempt import Attempt, PortLost, attempt
from orchestrator.errors import AnotherIsUp, IdentityUnknown, NoFreePort, PortTaken
from orchestrator.events import Event
from orchestrator.lifecycle import (
    Launch,
    Machine,
    Started,
    StartRequest,
    find,
    find_all,
    hold_verified,
    in_turn,
    session_of,
    standing,
    standing_of,
)
from orchestrator.masking import mask
from orchestrator.minding import with_lease
from orchestrator.ports import Absence, HealthQuestion, Lock, SoleLock
from orchestrator.readiness import HealthCheck, shortcoming
from orchestrator.records import Adopter, GatewayRecord, differing
from orchestrator.stopping import forget, put_away

# Below the ephemeral range, above what people type: 3000, 4000, 8000, 8080.
_LOWEST_PORT = 20_000
_PORTS_TRIED = 50
_RACES = 3
_COMMAND_SHOWN = 120


def start(
    machine: Machine,
    request: StartRequest,
    launch_at: Callable[[int], Launch],
    *,
    turn: Lock | None = None,
) -> Started:
    """Start the gateway, or return the one that is up already.

    Args:
        machine: The ports.
        request: Which gateway is wanted.
        launch_at: Returns what to run on a given port; called again when another process won the
            race for a port that nobody fixed.
        turn: The instance's lock, where the caller has it for more than the start.

    Raises:
        NotStarted: One of its kinds; nothing of ours is left running.
        NotVerified: A record of the same name can't be told; nothing was started.
    """
    with in_turn(machine, request.instance, turn):
        up = _already_up(machine, request)
        if up is None:
            us = machine.table.ourselves().pid
            adopter = judge(*machine.spawner.adopter(), launcher=us)
            up = _on_some_port(machine, request, launch_at, adopter)
        return with_lease(machine, request, up)


def _already_up(machine: Machine, request: StartRequest) -> Started | None:
    record = find(machine, request.instance)
    if record is None:
        return None
    now = standing_of(machine, record)
    if now.state == "unknown":
        raise IdentityUnknown(record.identity.pid, now.why)
    # Its starter died before it was ready (the lock is ours): nobody waits for that one.
    is_half_started = record.ready_after_ms is None
    if now.state in ("gone", "reused") or is_half_started:
        _clear(machine, record, now.state)
        return None
    different = differing(record.fingerprint, request.fingerprint)
    if different:
        raise AnotherIsUp(record.name, record.identity.pid, record.port, different)
    held = hold_verified(machine, record.identity)
    if held is None:
        return None
    fault = answers(machine, record)
    event = Event(name="found_up", at_ns=machine.clock.now_ns(), detail={"fault": fault})
    return Started(record=record, held=held, events=(event,), was_up=True)


def _clear(machine: Machine, record: GatewayRecord, state: str) -> None:
    """Put away what an earlier start left: under its lock nobody else is at it."""
    if state == "reused":
        forget(machine, record, None)
    else:
        put_away(machine, record, grace_s=record.grace_s, held=None)


def answers(
    machine: Machine, record: GatewayRecord, check: HealthCheck | None = None
) -> str | None:
    """Ask a running gateway once; return what is wrong, ``None`` = it answered from its session.

    Args:
        machine: The ports.
        record: Which one.
        check: What to expect; by default any HTTP answer will do, as long as it is its own.
    """
    mine = frozenset(one.pid for one in session_of(machine, record.identity, record.run_id))
    asked = check.path if check else record.health_path
    question = HealthQuestion(host=record.host, port=record.port, path=asked, timeout_s=5.0)
    answer = machine.probe.ask(question, mine)
    expected = check or HealthCheck(path=asked, status=answer.status or 0)
    return shortcoming(answer, expected, mine)


def _on_some_port(
    machine: Machine,
    request: StartRequest,
    launch_at: Callable[[int], Launch],
    adopter: Adopter,
) -> Started:
    lost: list[int] = []
    while True:
        port, reservation = _reserve(machine, request, avoided=lost)
        try:
            made = Attempt(request=request, launch=launch_at(port), port=port, adopter=adopter)
            return attempt(machine, made)
        except PortLost as race:
            lost.append(port)
            if request.is_port_fixed:
                raise _port_taken(machine, port) from race
            if len(lost) >= _RACES:
                raise race.died from race
        finally:
            reservation.remove()


def _reserve(
    machine: Machine, request: StartRequest, *, avoided: list[int]
) -> tuple[int, SoleLock]:
    wish = request.port
    if wish is not None and wish not in avoided:
        taken = _take_port(machine, wish)
        if not isinstance(taken, str):
            return wish, taken
        if request.is_port_fixed:
            raise _port_taken(machine, wish, taken)
    floor = machine.sockets.ephemeral_floor()
    for port in random.sample(range(_LOWEST_PORT, max(floor, _LOWEST_PORT + 100)), _PORTS_TRIED):
        taken = _take_port(machine, port)
        if not isinstance(taken, str):
            return port, taken
    raise NoFreePort(_PORTS_TRIED, _LOWEST_PORT, floor - 1)


def _port_taken(machine: Machine, port: int, reserved: str | None = None) -> PortTaken:
    """Name who has a port; where it is one of our own, name the command that stops it."""
    said = holders_of(machine, port) or ((reserved,) if reserved else ())
    pids = {pid for listener in machine.sockets.listeners(port) for pid in listener.pids}
    for one in find_all(machine):
        if not isinstance(one, GatewayRecord) or one.identity.pid not in pids:
            continue
        if standing(machine, one.identity).state in ("up", "suspended"):
            return PortTaken(port, said, ours=(one.identity.pid, one.name))
    return PortTaken(port, said)


def _take_port(machine: Machine, port: int) -> SoleLock | str:
    us = machine.table.ourselves().pid
    lock = machine.state.lock(f"{port}.port", f"a start of ours, PID {us}")
    if isinstance(lock, str):
        return f"reserved by {lock}"
    obstacle = machine.sockets.obstacle(port)
    if obstacle is not None:
        lock.remove()
        return obstacle
    return lock


def holders_of(machine: Machine, port: int) -> tuple[str, ...]:
    """Describe who listens on a port: PID, command, folder, since when."""
    now = machine.clock.utcnow()
    said = []
    for listener in machine.sockets.listeners(port):
        where = f"on {listener.host}"
        if not listener.pids:
            said.append(f"a process this user may not see ({where})")
        said += [f"{_who(machine, pid, now)} ({where})" for pid in sorted(listener.pids)]
    return tuple(dict.fromkeys(said))


def _who(machine: Machine, pid: int, now: datetime) -> str:
    seen = machine.table.look(pid)
    if isinstance(seen, Absence):
        return f"PID {pid}"
    command = mask(seen.command)
    shown = command if len(command) <= _COMMAND_SHOWN else command[:_COMMAND_SHOWN] + "…"
    folder = f" in `{seen.folder}`" if seen.folder else ""
    since = ""
    if seen.age_s is not None:
        born = now.timestamp() - seen.age_s
        since = f" since {datetime.fromtimestamp(born, tz=now.tzinfo):%Y-%m-%d %H:%M:%S} UTC"
    return f"PID {pid} `{shown}`{folder}{since}"
