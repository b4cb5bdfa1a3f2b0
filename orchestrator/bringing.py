"""Bring a described gateway up with everything around it, and take all of it down again.

services → simulator → build → prepare → start, and backwards. What was begun is undone on every
way out; what somebody else owns (services) is only looked at.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.commands import run_commands
from orchestrator.config import Sources, resolve
from orchestrator.description import GatewayConfig
from orchestrator.environment import GatewayEnvironment
from orchestrator.errors import OrchestratorError
from orchestrator.faults import ServicesMissing, UpstreamKeyMissing
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
from orchestrator.lifecycle import Machine, Started, StartRequest, Stopped, find, standing
from orchestrator.locate import Located, locate
from orchestrator.ports import Held, Lock
from orchestrator.records import Instance
from orchestrator.services import check_services
from orchestrator.starting import start
from orchestrator.stopping import stop

SIMULATOR_TOKEN = "test-token"  # noqa: S105  the simulator's seeded token, known to everybody
_BOOK = "answers.jsonl"

Say = Callable[[str], None]


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
    with ExitStack() as undo:
        hold = hold_for_use(machine, wanted.instance, wanted.run_id)
        undo.callback(hold.release)
        was_up = _is_up(machine, wanted.instance)
        near = _surroundings(wanted, folder)
        if not was_up:
            _require_services(wanted, near)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
        near = _with_upstream(machine, wanted, near, undo=undo)
        if not was_up:
            _build_and_prepare(wanted, near, undo=undo, say=say)
        started = start(machine, _request(wanted), launch_for(wanted.config, wanted.located, near))
        undo.pop_all()
    environment = environment_for(wanted.config, near, started.record.port)
    return Up(wanted=wanted, started=started, near=near, environment=environment, hold=hold)


def take_down(
    machine: Machine, wanted: Wanted, *, interrupts: Interrupts, held: Held | None = None
) -> Down:
    """Stop the gateway, run its teardown, stop its simulator last, remove what was generated.

    Every step is tried, whatever an earlier one met; a signal meanwhile shortens the grace to 0.
    """
    folder = generated_folder(machine, wanted.instance)
    stopped: list[Stopped] = []
    steps: list[Callable[[], object]] = [
        lambda: stopped.append(stop_patiently(machine, wanted.instance, interrupts, held=held)),
        lambda: _teardown(wanted, _surroundings(wanted, folder)),
    ]
    if wanted.config.upstream == "simulated":
        steps.append(lambda: stop_patiently(machine, wanted.upstream_instance, interrupts))
    faults: list[OrchestratorError] = []
    for step in steps:
        try:
            step()
        except OrchestratorError as fault:
            faults.append(fault)
    shutil.rmtree(folder, ignore_errors=True)
    return Down(stopped=next(iter(stopped), None), fault=next(iter(faults), None))


def stop_patiently(
    machine: Machine, instance: Instance, interrupts: Interrupts, *, held: Held | None = None
) -> Stopped:
    """Stop one gateway; a signal while its grace runs ends the grace."""
    try:
        with interrupts.abandoning():
            return stop(machine, instance, held=held)
    except Interrupted:
        return stop(machine, instance, grace_s=0.0, held=held)


def _is_up(machine: Machine, instance: Instance) -> bool:
    record = find(machine, instance)
    return record is not None and standing(machine, record.identity).state == "up"


def _surroundings(wanted: Wanted, folder: Path) -> Surroundings:
    return Surroundings(
        caller=wanted.caller,
        generated=folder,
        upstream=_named_upstream(wanted.config, wanted.caller),
        answer_book=folder / _BOOK,
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


def _require_services(wanted: Wanted, near: Surroundings) -> None:
    environment = environment_for(wanted.config, near, wanted.config.port or 1).values
    states = check_services(wanted.config.services, environment)
    missing = [one.line() for one in states if one.fault is not None]
    if missing:
        raise ServicesMissing(missing)


def _with_upstream(
    machine: Machine, wanted: Wanted, near: Surroundings, *, undo: ExitStack
) -> Surroundings:
    """Start the simulator where the description wants one."""
    if wanted.config.upstream == "embedded":
        return _replaced(near, Upstream(token=SIMULATOR_TOKEN, is_simulated=True))
    if wanted.config.upstream != "simulated":
        return near
    simulator = simulator_for(wanted)
    was_up = _is_up(machine, simulator.instance)
    started = start(
        machine, _request(simulator), launch_for(simulator.config, simulator.located, near)
    )
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


def _build_and_prepare(wanted: Wanted, near: Surroundings, *, undo: ExitStack, say: Say) -> None:
    config, folder = wanted.config, wanted.located.folder
    environment = environment_for(config, near, config.port or 1).values
    log = near.generated / "commands.log"
    for key, commands in (("build", config.build), ("prepare", config.prepare)):
        if key == "prepare" and config.prepare:
            undo.callback(_teardown, wanted, near)
        for command in commands:
            say(f"{key}: {' '.join(command)}")
        run_commands(key, commands, folder=folder, environment=environment, log=log)


def _teardown(wanted: Wanted, near: Surroundings) -> None:
    config = wanted.config
    if not config.teardown:
        return
    near.generated.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_commands(
        "teardown",
        config.teardown,
        folder=wanted.located.folder,
        environment=environment_for(config, near, config.port or 1).values,
        log=near.generated / "commands.log",
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
