"""Bring a described gateway up with everything around it.

services → simulator → build → prepare → start. What was begun is undone when a later step fails; what somebody else owns (services) is only looked at. All of it happens under the lock of
the instance: two commands never bring up, take down or tidy the same gateway at once.
"""

import hashlib
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, replace

from orchestrator import records
from orchestrator.around import Say, prepare, require_services
from orchestrator.capping import cap_logs
from orchestrator.config import Sources, resolve
from orchestrator.environment import GatewayEnvironment
from orchestrator.errors import state_access
from orchestrator.health_now import health_label
from orchestrator.holding import hold_for_use
from orchestrator.launching import (
    Surroundings,
    Upstream,
    environment_for,
    fingerprint,
    launch_for,
)
from orchestrator.lifecycle import (
    Machine,
    Started,
    StartRequest,
    find,
    in_turn,
    standing_of,
)
from orchestrator.locate import locate
from orchestrator.ports import Lock
from orchestrator.records import TEARDOWN, UPSTREAM_OF, Instance, Preparation
from orchestrator.starting import start
from orchestrator.stopping import stop
from orchestrator.wanted import Wanted, generated_folder, surroundings_of

SIMULATOR_TOKEN = "test-token"  # noqa: S105  the simulator's seeded token, known to everybody


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


def bring_up(machine: Machine, wanted: Wanted, say: Say) -> Up:
    """Start everything, or find it up already.

    Raises:
        ServicesMissing: Something it needs is not there; nothing was started.
        CommandFailed: A build or prepare command failed.
        NotStarted: The gateway or its simulator did not start.
    """
    cap_logs(machine)
    folder = generated_folder(machine, wanted.instance)
    with in_turn(machine, wanted.instance, None) as turn, ExitStack() as undo:
        hold = hold_for_use(machine, wanted.instance, wanted.run_id)
        undo.callback(hold.release)
        was_up = _is_up(machine, wanted.instance)
        near = surroundings_of(wanted, folder)
        if not was_up:
            require_services(wanted.config, near)
            with state_access(folder):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
        near = _with_upstream(machine, wanted, near, undo=undo, was_up=was_up)
        if not was_up:
            undo.callback(machine.state.remove, _note_preparation(machine, wanted))
            prepare(wanted.config, wanted.located, near, undo=undo, say=say)
        launch_at = launch_for(wanted.config, wanted.located, near)
        started = start(machine, _request(wanted), launch_at, turn=turn)
        undo.pop_all()
        machine.state.remove(records.preparation_name(wanted.instance.id))
    environment = environment_for(wanted.config, near, started.record.port)
    return Up(wanted=wanted, started=started, near=near, environment=environment, hold=hold)


def _note_preparation(machine: Machine, wanted: Wanted) -> str:
    """Write down what tears down what is about to be prepared: no undoing survives SIGKILL.

    Returns:
        The name of the note, which is there only where there is anything to tear down.
    """
    name, launch = records.preparation_name(wanted.instance.id), wanted.labels.get(TEARDOWN)
    if wanted.config.prepare and launch is not None:
        instance = wanted.instance
        note = Preparation(
            run_id=wanted.run_id,
            name=instance.name,
            worktree=str(instance.worktree),
            launch=launch,
        )
        machine.state.write(name, records.encode(note))
    return name


def _is_up(machine: Machine, instance: Instance) -> bool:
    """Say whether ``start`` would find it up: what nobody finished starting is begun anew."""
    record = find(machine, instance)
    if record is None or record.ready_after_ms is None:
        return False
    return standing_of(machine, record).state == "up"


def _last_port(machine: Machine, instance: Instance) -> int | None:
    """Return the port that an instance has, or had when it ended."""
    record = find(machine, instance)
    if record is not None:
        return record.port
    left = machine.state.read(records.ending_name(instance.id))
    ending = None if left is None else records.decode_ending(left)
    return None if ending is None else ending.port


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
    if wanted.shared is not None and wanted.shared.upstream.is_simulated:
        return _replaced(near, wanted.shared.upstream)
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
        labels={UPSTREAM_OF: wanted.name},
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
        fingerprint=fingerprint(config, wanted.located, wanted.models),
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
