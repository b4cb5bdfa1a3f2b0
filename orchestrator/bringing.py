"""Bring a described gateway up with everything around it, and take all of it down again.

services → simulator → build → prepare → start, and backwards. What was begun is undone on every
way out; what somebody else owns (services) is only looked at. All of it happens under the lock of
the instance: two commands never bring up, take down or tidy the same gateway at once.
"""

import hashlib
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from orchestrator import records
from orchestrator.around import Say, prepare, require_services, tear_down
from orchestrator.config import Sources, resolve
from orchestrator.description import GatewayConfig
from orchestrator.environment import GatewayEnvironment
from orchestrator.errors import OrchestratorError, StartUnderWay
from orchestrator.faults import UpstreamKeyMissing
from orchestrator.health_now import health_label
from orchestrator.holding import hold_for_use
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.launching import (
    Surroundings,
    Upstream,
    description_hash,
    environment_for,
    launch_for,
)
from orchestrator.lifecycle import (
    Machine,
    Started,
    StartRequest,
    Stopped,
    find,
    in_turn,
    standing,
    take_turn,
)
from orchestrator.locate import Located, locate
from orchestrator.ports import Held, Lock
from orchestrator.records import Instance
from orchestrator.starting import start
from orchestrator.stopping import stop

SIMULATOR_TOKEN = "test-token"  # noqa: S105  the simulator's seeded token, known to everybody
ANSWER_BOOK = "answers.jsonl"
# Beyond its grace, what a stop by somebody else may take: SIGKILL, sweep, the port.
_OTHERS_STOP_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One start: which gateway, under which name, for whom."""

    config: GatewayConfig
    located: Located
    name: str
    run_id: str
    caller: Mapping[str, str]
    models: tuple[str, ...] = ()
    key_names: tuple[str, ...] = ()
    ttl_s: float | None = None
    """It ends by itself after this long."""
    idle_stop_s: float | None = None
    """It ends by itself once nobody was connected for this long."""
    labels: Mapping[str, Any] = field(default_factory=dict)

    @property
    def instance(self) -> Instance:
        """Who it is among all gateways of this user."""
        return Instance(worktree=worktree_of(self.located.folder), name=self.name)

    @property
    def upstream_instance(self) -> Instance:
        """Its simulator, where it has one."""
        return upstream_of(self.instance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Up:
    """A gateway that is up with what is around it."""

    wanted: Wanted
    started: Started
    near: Surroundings
    environment: GatewayEnvironment
    hold: Lock
    """Keeps clean-ups away for as long as it is used; whoever brought it up lets go of it."""

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://{self.started.record.host}:{self.started.record.port}"

    @property
    def base_url(self) -> str:
        """What a client of it is given."""
        return f"{self.url}{self.wanted.config.api_path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Down:
    """What became of a gateway and all around it."""

    stopped: Stopped | None
    """``None`` = it could not be stopped."""
    fault: OrchestratorError | None
    """The first thing that went wrong, in the order of the steps."""


def worktree_of(folder: Path) -> Path:
    """Return the real path of the git worktree that holds ``folder``, else of the folder."""
    real = folder.resolve()
    return next((one for one in (real, *real.parents) if (one / ".git").exists()), real)


def upstream_of(instance: Instance) -> Instance:
    """Return the name of the simulator that belongs to a gateway."""
    return Instance(worktree=instance.worktree, name=f"{instance.name}-upstream")


def generated_folder(machine: Machine, instance: Instance) -> Path:
    """Return the private folder for files made for this gateway: a name that says nothing."""
    return machine.state.root / f"{instance.id}.d"


def bring_up(machine: Machine, wanted: Wanted, say: Say) -> Up:
    """Start everything, or find it up already.

    Raises:
        ServicesMissing: Something it needs is not there; nothing was started.
        CommandFailed: A build or prepare command failed.
        NotStarted: The gateway or its simulator did not start.
    """
    folder = generated_folder(machine, wanted.instance)
    with in_turn(machine, wanted.instance, None) as turn, ExitStack() as undo:
        hold = hold_for_use(machine, wanted.instance, wanted.run_id)
        undo.callback(hold.release)
        was_up = _is_up(machine, wanted.instance)
        near = _surroundings(wanted, folder)
        if not was_up:
            require_services(wanted.config, near)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
        near = _with_upstream(machine, wanted, near, undo=undo, was_up=was_up)
        if not was_up:
            prepare(wanted.config, wanted.located, near, undo=undo, say=say)
        launch_at = launch_for(wanted.config, wanted.located, near)
        started = start(machine, _request(wanted), launch_at, turn=turn)
        undo.pop_all()
    environment = environment_for(wanted.config, near, started.record.port)
    return Up(wanted=wanted, started=started, near=near, environment=environment, hold=hold)


def take_down(
    machine: Machine, wanted: Wanted, *, interrupts: Interrupts, held: Held | None = None
) -> Down:
    """Stop the gateway, run its teardown, stop its simulator last, remove what was generated.

    Every step is tried, whatever an earlier one met; a signal meanwhile shortens the grace to 0.
    """
    patience_s = wanted.config.grace_ms / 1000 + _OTHERS_STOP_S
    try:
        turn = take_turn(machine, wanted.instance, patience_s=patience_s)
    except StartUnderWay as fault:
        return Down(stopped=None, fault=fault)
    try:
        return _take_down(machine, wanted, interrupts, held=held, turn=turn)
    finally:
        turn.release()


def _take_down(
    machine: Machine, wanted: Wanted, interrupts: Interrupts, *, held: Held | None, turn: Lock
) -> Down:
    stopped: list[Stopped] = []
    folder = generated_folder(machine, wanted.instance)

    def gateway() -> None:
        stopped.append(stop_patiently(machine, wanted.instance, interrupts, held=held, turn=turn))

    def commands() -> None:
        tear_down(wanted.config, wanted.located, _surroundings(wanted, folder))

    def upstream() -> None:
        if find(machine, wanted.upstream_instance) is not None:
            stop_patiently(machine, wanted.upstream_instance, interrupts)

    faults: list[OrchestratorError] = []
    for step in (gateway, commands, upstream):
        try:
            step()
        except OrchestratorError as fault:
            faults.append(fault)
    shutil.rmtree(folder, ignore_errors=True)
    return Down(stopped=next(iter(stopped), None), fault=next(iter(faults), None))


def stop_patiently(
    machine: Machine,
    instance: Instance,
    interrupts: Interrupts,
    *,
    held: Held | None = None,
    turn: Lock | None = None,
) -> Stopped:
    """Stop one gateway; a signal while its grace runs ends the grace."""
    try:
        with interrupts.abandoning():
            return stop(machine, instance, held=held, turn=turn)
    except Interrupted:
        return stop(machine, instance, grace_s=0.0, held=held, turn=turn)


def _is_up(machine: Machine, instance: Instance) -> bool:
    """Say whether ``start`` would find it up: what nobody finished starting is begun anew."""
    record = find(machine, instance)
    if record is None or record.ready_after_ms is None:
        return False
    return standing(machine, record.identity).state == "up"


def _last_port(machine: Machine, instance: Instance) -> int | None:
    """Return the port that an instance has, or had when it ended."""
    record = find(machine, instance)
    if record is not None:
        return record.port
    left = machine.state.read(records.ending_name(instance.id))
    ending = None if left is None else records.decode_ending(left)
    return None if ending is None else ending.port


def _surroundings(wanted: Wanted, folder: Path) -> Surroundings:
    return Surroundings(
        caller=wanted.caller,
        generated=folder,
        upstream=_named_upstream(wanted.config, wanted.caller),
        answer_book=folder / ANSWER_BOOK,
        models=wanted.models,
        key_names=wanted.key_names,
    )


def _named_upstream(config: GatewayConfig, caller: Mapping[str, str]) -> Upstream:
    """Return the upstream where it is a URL, with its key.

    Raises:
        UpstreamKeyMissing: The variable that should hold the key is not set.
    """
    if not config.upstream.startswith("http"):
        return Upstream()
    name = config.upstream_key_env
    if name is not None and not caller.get(name):
        raise UpstreamKeyMissing(name, config.upstream)
    return Upstream.at(config.upstream, token=caller[name] if name else None)


def _with_upstream(
    machine: Machine, wanted: Wanted, near: Surroundings, *, undo: ExitStack, was_up: bool
) -> Surroundings:
    """Start the simulator where the description wants one.

    A gateway that is up knows its simulator by its port: one that ended meanwhile gets that again.
    """
    if wanted.config.upstream == "embedded":
        return _replaced(near, Upstream(token=SIMULATOR_TOKEN, is_simulated=True))
    if wanted.config.upstream != "simulated":
        return near
    simulator = simulator_for(wanted)
    request = _request(simulator)
    if was_up:
        port = _last_port(machine, simulator.instance)
        request = replace(request, port=port, is_port_fixed=port is not None)
    launch_at = launch_for(simulator.config, simulator.located, near)
    started = start(machine, request, launch_at)
    started.held.close()
    if not was_up:
        undo.callback(stop, machine, simulator.instance, grace_s=0.0)
    address = f"http://{started.record.host}:{started.record.port}"
    return _replaced(near, Upstream.at(address, token=SIMULATOR_TOKEN, is_simulated=True))


def simulator_for(wanted: Wanted) -> Wanted:
    """Return the simulator as a gateway of its own, private to ``wanted``."""
    sources = Sources(
        flags={"preset": "demo"}, environ={}, cwd=wanted.located.folder, use_files=False
    )
    config = resolve(sources)
    return Wanted(
        config=config,
        located=locate(config, wanted.caller),
        name=wanted.upstream_instance.name,
        run_id=f"{wanted.run_id}-upstream",
        caller=wanted.caller,
        key_names=wanted.key_names,
        labels={"upstreamOf": wanted.name},
    )


def _replaced(near: Surroundings, upstream: Upstream) -> Surroundings:
    return Surroundings(
        caller=near.caller,
        generated=near.generated,
        upstream=upstream,
        answer_book=near.answer_book,
        models=near.models,
        key_names=near.key_names,
    )


def _request(wanted: Wanted) -> StartRequest:
    config = wanted.config
    return StartRequest(
        instance=wanted.instance,
        run_id=wanted.run_id,
        description_hash=description_hash(config, wanted.located, wanted.models),
        port=config.port,
        is_port_fixed=config.is_port_fixed,
        ready_timeout_s=config.ready_timeout_ms / 1000,
        grace_s=config.grace_ms / 1000,
        ttl_s=wanted.ttl_s,
        idle_stop_s=wanted.idle_stop_s,
        kill_patterns=config.kill_patterns,
        labels={
            "preset": config.preset,
            "upstream": config.upstream,
            "apiKeyEnv": config.api_key_env,
            "apiPath": config.api_path,
            "dialect": config.dialect,
            "health": health_label(config),
            **wanted.labels,
        },
    )


def run_marker(started_at: str, random_hex: str) -> str:
    """Return a run id: when it began, and enough chance to tell two of one second apart."""
    stamp = "".join(one for one in started_at[:19] if one.isdigit())
    return f"{stamp[:8]}-{stamp[8:]}-{hashlib.sha256(random_hex.encode()).hexdigest()[:6]}"
