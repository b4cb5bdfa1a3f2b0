"""Watch a gateway that we did not start: prove that it owns its port, and never signal it.

One of ours that is on record is held like any that we use, so that nothing ends it meanwhile.
"""

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from orchestrator.bringing import SIMULATOR_TOKEN, Up
from orchestrator.description import GatewayConfig
from orchestrator.environment import GatewayEnvironment
from orchestrator.errors import NotVerified
from orchestrator.exposure import exposed, patterns_for
from orchestrator.faults import NotAttached
from orchestrator.holding import hold_for_use
from orchestrator.identity import Match, matches
from orchestrator.launching import HOST, Surroundings, Upstream
from orchestrator.lifecycle import Machine, Started, find, find_all, hold_verified, session_of
from orchestrator.masking import mask, secret_values
from orchestrator.ports import Absence, HealthQuestion, Held, ProcessInfo
from orchestrator.readiness import HealthCheck, shortcoming
from orchestrator.records import Adopter, GatewayRecord, Instance, attached_name
from orchestrator.stopping import ourselves_and_ancestors
from orchestrator.wanted import ANSWER_BOOK, Wanted, generated_folder, upstream_of, worktree_of

ATTACHED = "attached"
"""Entry mode of a process that nobody started here."""

_REACHED = frozenset((HOST, "0.0.0.0", "::"))  # noqa: S104  # compared with, not bound
_TRIES = 3
_PAUSE_S = 0.3
_TIMEOUT_S = 5.0
_HEALTH_KEYS = ("health.path", "health.status", "health.text", "health.field", "health.equals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A process that may be attached to, held."""

    seen: ProcessInfo
    held: Held
    record: GatewayRecord | None
    """Of ours, where it is on record."""


def candidate(machine: Machine, pid: int) -> Candidate:
    """Take hold of a process that is ours to see.

    Raises:
        NotAttached: There is none, or it can't be told, or it is ourselves.
        NotVerified: It became another process meanwhile.
    """
    seen = machine.table.look(pid)
    if seen is Absence.GONE:
        raise NotAttached(pid, "no process has this PID", "check the number")
    if isinstance(seen, Absence):
        raise NotAttached(pid, "it is hidden from this user", "attach as the user who runs it")
    if seen.state == "zombie":
        raise NotAttached(pid, "it has ended", "check the number")
    if pid in ourselves_and_ancestors(machine):
        raise NotAttached(pid, "this command runs under it", "name the gateway's own process")
    _require_same_namespace(machine, pid)
    held = hold_verified(machine, seen.identity)
    if held is None:
        raise NotAttached(pid, "it ended just now", "check the number")
    on_record = [
        one
        for one in find_all(machine)
        if isinstance(one, GatewayRecord) and matches(one.identity, seen.identity) is Match.SAME
    ]
    return Candidate(seen=seen, held=held, record=next(iter(on_record), None))


def _require_same_namespace(machine: Machine, pid: int) -> None:
    ours, theirs = machine.table.ourselves().pid_namespace, machine.table.detail(pid).namespace
    if theirs == ours:
        return
    if theirs is None:
        raise NotAttached(
            pid, "which PID namespace it is in can't be seen", "attach as the user who runs it"
        )
    raise NotAttached(pid, "it is in another PID namespace", "attach from inside of its container")


def attach(machine: Machine, wanted: Wanted, pid: int) -> Up:
    """Prove that a running process is a gateway, and give it as one that is up.

    Raises:
        NotAttached: It can't be proven.
        StartUnderWay: A clean-up is removing it.
    """
    found = candidate(machine, pid)
    try:
        record = found.record or _record(machine, wanted, found.seen)
        _require_answer(machine, wanted.config, record, found)
        instance = Instance(worktree=Path(record.worktree), name=record.name)
        hold = hold_for_use(machine, instance, wanted.run_id)
    except BaseException:
        found.held.close()
        raise
    folder = generated_folder(machine, instance)
    near = Surroundings(
        caller=wanted.caller,
        generated=folder,
        upstream=_upstream(machine, found.record),
        answer_book=folder / ANSWER_BOOK,
        models=wanted.models,
        key_names=wanted.key_names,
    )
    return Up(
        wanted=wanted,
        started=Started(record=record, held=found.held, was_up=True),
        near=near,
        # Only what its log and command line may show of the caller's secrets matters here.
        environment=GatewayEnvironment(
            values=dict(wanted.caller), added=(), dropped=(), shadowed=(), replaced=()
        ),
        hold=hold,
    )


def _record(machine: Machine, wanted: Wanted, seen: ProcessInfo) -> GatewayRecord:
    """Describe a stranger as far as it can be seen; nothing of this is written down."""
    identity = seen.identity
    members = session_of(machine, identity, wanted.run_id)
    folder = Path(seen.folder) if seen.folder else Path("/")
    worktree = worktree_of(folder)
    parent = machine.table.look(seen.parent)
    now = machine.clock.utcnow()
    age = timedelta(seconds=seen.age_s or 0.0)
    found = exposed(members, patterns_for(entry=None, worktree=worktree))
    name = attached_name(seen.pid)
    return GatewayRecord(
        id=Instance(worktree=worktree, name=name).id,
        worktree=str(worktree),
        name=name,
        run_id=wanted.run_id,
        identity=identity,
        members=tuple(one.identity for one in members),
        host=HOST,
        port=_port(machine, wanted.config, seen, members),
        health_path=wanted.config.health.path,
        # Where it writes to is its own affair: no log of ours to read, guard or empty.
        log=os.devnull,
        entry=None,
        entry_mode=ATTACHED,
        build=machine.facts.build(worktree, None),
        adopter=Adopter(
            pid=seen.parent, name="unknown" if isinstance(parent, Absence) else parent.name
        ),
        started_at=(now - age).isoformat(timespec="milliseconds"),
        started_ns=machine.clock.now_ns() - int((seen.age_s or 0.0) * 1e9),
        grace_s=0.0,
        exposure=tuple(found),
        warnings=(
            f"it was not started here: `{mask(seen.command, secret_values(wanted.caller))}` "
            "is watched and never stopped",
        ),
        labels={
            "preset": wanted.config.preset,
            "upstream": wanted.config.upstream,
            "apiKeyEnv": wanted.config.api_key_env,
            ATTACHED: True,
        },
    )


def _port(
    machine: Machine, config: GatewayConfig, seen: ProcessInfo, members: tuple[ProcessInfo, ...]
) -> int:
    mine = {one.pid for one in members}
    listening = {
        one.port
        for one in machine.sockets.all_listeners()
        if one.pids & mine and one.host in _REACHED
    }
    if config.port is not None and config.is_port_fixed:
        if config.port in listening:
            return config.port
        known = ", ".join(map(str, sorted(listening))) or "nothing that reaches 127.0.0.1"
        raise NotAttached(
            seen.pid, f"it does not listen on port {config.port}, but on {known}", "check `--port`"
        )
    if len(listening) == 1:
        return listening.pop()
    if not listening:
        raise NotAttached(
            seen.pid,
            "nothing of it listens on a port of 127.0.0.1 that this user can see",
            "name the process that listens, or wait until it does",
        )
    ports = ", ".join(map(str, sorted(listening)))
    raise NotAttached(seen.pid, f"it listens on several ports: {ports}", "name one with `--port`")


def _require_answer(
    machine: Machine, config: GatewayConfig, record: GatewayRecord, found: Candidate
) -> None:
    """Ask it for health on a connection that has to be its own."""
    is_described = any(config.origins.get(key, "default") != "default" for key in _HEALTH_KEYS)
    fault: str | None = None
    for _ in range(_TRIES):
        mine = {one.pid for one in session_of(machine, record.identity, record.run_id)}
        question = HealthQuestion(
            host=record.host,
            port=record.port,
            path=config.health.path,
            timeout_s=_TIMEOUT_S,
            headers=config.health.headers,
        )
        answer = machine.probe.ask(question, mine)
        # Without a description any answer will do, as long as it is its own.
        anything = HealthCheck(path=config.health.path, status=answer.status or 0)
        fault = shortcoming(answer, config.health if is_described else anything, frozenset(mine))
        if fault is None or found.held.ended(_PAUSE_S):
            break
    if found.held.ended(0):
        raise NotAttached(record.identity.pid, "it ended just now", "check the number")
    if fault is not None:
        url = f"http://{record.host}:{record.port}{config.health.path}"
        raise NotAttached(
            record.identity.pid,
            f"`{url}` did not prove to be it: {fault}",
            "check `--port`, `--health` and `--health-status`",
        )


def _upstream(machine: Machine, record: GatewayRecord | None) -> Upstream:
    """Return where one of ours sends its requests; of a stranger nothing is known."""
    chosen = None if record is None else record.labels.get("upstream")
    if record is None or chosen not in ("embedded", "simulated"):
        return Upstream()
    if chosen == "embedded":
        return Upstream(token=SIMULATOR_TOKEN, is_simulated=True)
    instance = Instance(worktree=Path(record.worktree), name=record.name)
    try:
        simulator = find(machine, upstream_of(instance))
    except NotVerified:
        simulator = None
    if simulator is None:
        return Upstream()
    address = f"http://{simulator.host}:{simulator.port}"
    return Upstream.at(address, token=SIMULATOR_TOKEN, is_simulated=True)
