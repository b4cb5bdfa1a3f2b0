"""One attempt to start a gateway on one port: execute, confirm, wait until it is proven ready.

Whatever goes wrong after the fork, what was started is ended before the error leaves here.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from orchestrator import records
from orchestrator.databases import named_databases
from orchestrator.entry import EntryPlan, Program, ShimPlace, plan_entry, read_command
from orchestrator.errors import DiedBeforeReady, EntryMissing, NeverReady, NotDetached, NotStarted
from orchestrator.events import Event, described
from orchestrator.evidence import gather
from orchestrator.exposure import MARKER, RECORD_MARKER, Exposure, exposed, patterns_for
from orchestrator.identity import Identity
from orchestrator.lifecycle import Launch, Machine, Started, StartRequest, exit_of, session_of
from orchestrator.masking import mask
from orchestrator.port_words import says_port_is_taken
from orchestrator.ports import Absence, Held, ProcessInfo, SpawnOrder
from orchestrator.readiness import Progress, step
from orchestrator.records import Adopter, GatewayRecord
from orchestrator.stopping import end_at_once, put_away

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.5
_GIVE_UP_GRACE_S = 2.0
_TAIL_LINES = 50
# A channel to the parent of ours: a Node with these would try to use a descriptor it hasn't got.
_OF_OUR_PARENT = ("NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "NODE_UNIQUE_ID")
_RUNNERS = frozenset(("npm", "npm-cli", "npx", "npx-cli", "pnpm", "pnpx", "yarn", "corepack"))


class PortLost(Exception):
    """Somebody else took the port between our look and the gateway's bind; never reaches people."""

    def __init__(self, died: DiedBeforeReady) -> None:
        super().__init__(died.message)
        self.died = died


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What one attempt is made of."""

    request: StartRequest
    launch: Launch
    port: int
    adopter: Adopter


@dataclass(slots=True, kw_only=True)
class _Coming:
    """A gateway that comes up."""

    held: Held
    record: GatewayRecord
    events: list[Event] = field(default_factory=list)


def attempt(machine: Machine, made: Attempt) -> Started:
    """Start on one port.

    Raises:
        PortLost: Another process has the port, or had it when the gateway wanted it.
        NotStarted: Anything else; what was started has been ended.
    """
    search_path = made.launch.environment.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    program, executable = _resolve(machine, made.launch.program, search_path, made.launch.folder)
    made = replace(made, launch=replace(made.launch, program=program))
    plan = _plan(machine, made, executable)
    machine.log.begin(_log(machine, made))
    if plan.exit_file is not None:
        machine.state.remove(plan.exit_file.name)
    if plan.shim is not None:
        machine.shims.place(plan.shim.path, plan.shim.text, plan.shim.link_to)
    coming = _spawn(machine, made, plan)
    try:
        _confirm_detached(machine, made, coming)
        _wait_until_ready(machine, made, coming)
        return _ready(machine, made, coming)
    except BaseException:
        # Ctrl-C included: nobody but us knows of this process.
        put_away(machine, coming.record, grace_s=_GIVE_UP_GRACE_S, held=coming.held)
        coming.held.close()
        raise


def _log(machine: Machine, made: Attempt) -> Path:
    return machine.state.root / records.log_name(made.request.instance.id)


def _plan(machine: Machine, made: Attempt, executable: Path) -> EntryPlan:
    launch, program = made.launch, made.launch.program
    if program.entry is not None and not machine.facts.is_file(program.entry):
        raise EntryMissing("entry file", str(program.entry))
    runs_main = True
    if program.runtime == "node" and launch.entry_mode == "shim" and program.entry is not None:
        runs_main = machine.facts.runs_main(executable)
    place = ShimPlace(folder=machine.state.root, stem=made.request.instance.id)
    return plan_entry(
        program, launch.entry_mode, executable=executable, place=place, runs_main=runs_main
    )


def _resolve(
    machine: Machine, program: Program, search_path: str, folder: Path
) -> tuple[Program, Path]:
    """Find the interpreter; a script with a Python or Node first line is run by that."""

    def found(name: str) -> Path:
        path = machine.facts.program(name, search_path=search_path, folder=folder)
        if path is None:
            raise EntryMissing("program", name, hint="install it, or give its full path")
        return path

    executable = found(program.interpreter)
    if program.runtime != "native":
        return program, executable
    through = machine.facts.script_of(executable)
    if not through:
        return program, executable
    script = read_command([*through, *program.arguments], folder)
    if script.runtime == "native":
        return program, executable
    return script, found(script.interpreter)


def _environment(machine: Machine, made: Attempt, plan: EntryPlan) -> dict[str, str]:
    environment = {
        name: value for name, value in made.launch.environment.items() if name not in _OF_OUR_PARENT
    }
    environment[MARKER] = made.request.run_id
    record = machine.state.root / records.record_name(made.request.instance.id)
    environment[RECORD_MARKER] = str(record)
    if plan.path_first is not None:
        rest = environment.get("PATH")
        environment["PATH"] = f"{plan.path_first}:{rest}" if rest else str(plan.path_first)
    return environment


def _spawn(machine: Machine, made: Attempt, plan: EntryPlan) -> _Coming:
    order = SpawnOrder(
        executable=plan.executable,
        argv=plan.argv,
        environment=_environment(machine, made, plan),
        folder=made.launch.folder,
        log=_log(machine, made),
    )
    written: str | None = None
    held: Held | None = None
    try:
        record = _first_record(machine, made, plan)
        with machine.spawner.spawn(order) as birth:
            # It waits here and its PID can't be given away: what is held is what was forked.
            held, identity = _hold_newborn(machine, birth.pid)
            record = msgspec.structs.replace(
                record, identity=identity, started_ns=machine.clock.now_ns()
            )
            written = records.record_name(record.id)
            machine.state.write(written, records.encode(record))
    except BaseException:
        if held is not None:
            # An interruption may have come after the word: it may be executing already.
            end_at_once(held)
            held.close()
        if written is not None:
            machine.state.remove(written)
        if plan.shim is not None:
            machine.shims.remove(plan.shim.path)
        raise
    coming = _Coming(held=held, record=record)
    coming.events.append(Event(name="spawned", at_ns=record.started_ns, detail={"pid": held.pid}))
    return coming


def _hold_newborn(machine: Machine, pid: int) -> tuple[Held, Identity]:
    held = machine.holder.hold(pid)
    seen = machine.table.look(pid)
    if held is None or isinstance(seen, Absence):
        raise NotStarted("the gateway ended before it was executed")
    return held, seen.identity


def _first_record(machine: Machine, made: Attempt, plan: EntryPlan) -> GatewayRecord:
    request, launch = made.request, made.launch
    worktree = request.instance.worktree
    entry = launch.program.entry
    if entry is not None and entry.stem in _RUNNERS:
        entry = None  # what they start is the gateway: the build is not theirs to tell
    warnings = [] if plan.warning is None else [plan.warning]
    build = machine.facts.build(worktree, entry)
    if build.newer_source is not None:
        warnings.append(f"the build is older than its source `{build.newer_source}`")
    files = [str(path) for path in (plan.shim and plan.shim.path, plan.exit_file) if path]
    return GatewayRecord(
        id=request.instance.id,
        worktree=str(worktree),
        name=request.instance.name,
        run_id=request.run_id,
        identity=machine.table.ourselves(),
        machine=machine.machine_id,
        host=request.host,
        port=made.port,
        health_path=launch.health.path,
        log=str(_log(machine, made)),
        entry=str(entry) if entry else launch.program.module,
        entry_mode=plan.mode,
        files=tuple(files),
        exit_file=plan.exit_file.name if plan.exit_file else None,
        build=build,
        adopter=made.adopter,
        fingerprint=dict(request.fingerprint),
        started_at=machine.clock.utcnow().isoformat(timespec="milliseconds"),
        started_ns=machine.clock.now_ns(),
        grace_s=request.grace_s,
        databases=_databases(made),
        warnings=tuple(warnings),
        labels=dict(request.labels),
    )


def _databases(made: Attempt) -> dict[str, str]:
    """Return the databases that its environment names; a gateway of our own uses none of them."""
    if made.request.labels.get("upstream") == "embedded":
        return {}
    return named_databases(made.launch.environment, str(made.launch.folder))


def _confirm_detached(machine: Machine, made: Attempt, coming: _Coming) -> None:
    pid = coming.held.pid
    seen = machine.table.look(pid)
    if isinstance(seen, Absence) or seen.state == "zombie":
        return  # the wait for readiness tells how it ended
    if seen.parent != made.adopter.pid:
        parent = machine.table.look(seen.parent)
        raise NotDetached(seen.parent, "unknown" if isinstance(parent, Absence) else parent.name)
    if not seen.session == seen.group == pid or seen.has_terminal:
        message = (
            f"the gateway is not cut loose: PID {pid}, session {seen.session}, group {seen.group}, "
            f"terminal {'yes' if seen.has_terminal else 'no'}"
        )
        raise NotStarted(message)
    coming.events.append(
        Event(
            name="adopted",
            at_ns=machine.clock.now_ns(),
            detail={"pid": made.adopter.pid, "name": made.adopter.name},
        )
    )


def _wait_until_ready(machine: Machine, made: Attempt, coming: _Coming) -> None:
    request, check = made.request, made.launch.health
    progress = Progress(
        deadline_ns=coming.record.started_ns + int(request.ready_timeout_s * 1e9),
        settle_ns=int(request.settle_s * 1e9),
    )
    pause_s = _FIRST_PAUSE_S
    while True:
        turn = gather(machine, request, coming.record, coming.held, check)
        was_proven = progress.proven_ns is not None
        progress, following = step(progress, turn, check)
        match following:
            case "ready":
                return
            case "died":
                raise _death(machine, made, coming)
            case "late":
                raise _lateness(machine, made, progress)
            case "settle":
                if not was_proven:
                    coming.events.append(Event(name="proven", at_ns=turn.at_ns))
                coming.held.ended(request.settle_s)
            case "ask":
                # The pause ends at once when it dies.
                coming.held.ended(pause_s)
                pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def _tail(machine: Machine, made: Attempt) -> tuple[str, ...]:
    lines = machine.log.tail(_log(machine, made), _TAIL_LINES)
    return tuple(mask(line, made.launch.secrets) for line in lines)


def _lateness(machine: Machine, made: Attempt, progress: Progress) -> NeverReady:
    return NeverReady(
        f"http://{made.request.host}:{made.port}{made.launch.health.path}",
        made.request.ready_timeout_s,
        [mask(one, made.launch.secrets) for one in progress.said],
        _tail(machine, made),
        str(_log(machine, made)),
    )


def _death(machine: Machine, made: Attempt, coming: _Coming) -> Exception:
    after_ms = (machine.clock.now_ns() - coming.record.started_ns) / 1e6
    end = exit_of(machine, coming.held, coming.record)
    tail = _tail(machine, made)
    died = DiedBeforeReady(described(end), after_ms, tail, coming.record.log)
    # Whoever had a port that nobody ordered may be gone by now; one that was ordered needs a name.
    is_lost = not made.request.is_port_fixed or bool(machine.sockets.listeners(made.port))
    return PortLost(died) if is_lost and says_port_is_taken(tail, made.port) else died


def _ready(machine: Machine, made: Attempt, coming: _Coming) -> Started:
    at_ns = machine.clock.now_ns()
    session = session_of(machine, coming.record.identity, made.request.run_id)
    found = _exposures(session, made, coming.record)
    coming.events.append(Event(name="ready", at_ns=at_ns))
    record = msgspec.structs.replace(
        coming.record,
        ready_after_ms=(at_ns - coming.record.started_ns) / 1e6,
        members=tuple(one.identity for one in session),
        exposure=found,
    )
    machine.state.write(records.record_name(record.id), records.encode(record))
    return Started(record=record, held=coming.held, events=tuple(coming.events))


def _exposures(
    session: tuple[ProcessInfo, ...], made: Attempt, record: GatewayRecord
) -> tuple[Exposure, ...]:
    """Match every member's command line against every pattern; what is shown is masked."""
    patterns = patterns_for(
        entry=made.launch.program.entry,
        worktree=Path(record.worktree),
        more=made.request.kill_patterns,
    )
    return tuple(
        msgspec.structs.replace(one, command=mask(one.command, made.launch.secrets))
        for one in exposed(session, patterns)
    )
