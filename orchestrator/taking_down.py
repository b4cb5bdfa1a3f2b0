"""Take a gateway down with everything around it: gateway → teardown → simulator → its files.

Once the gateway is down every step is tried, whatever an earlier one met; the first fault is the
one that is told.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from orchestrator import records
from orchestrator.around import Say, tear_down
from orchestrator.errors import OrchestratorError, PidReused, StartUnderWay, StateUnusable
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.lifecycle import Machine, Stopped, find, in_turn, standing, take_turn
from orchestrator.ports import Held, Lock
from orchestrator.records import UPSTREAM_OF, GatewayRecord, Instance, StopAsked
from orchestrator.stopping import stop
from orchestrator.wanted import Wanted, generated_folder, surroundings_of, upstream_of

# Beyond its grace, what a stop by somebody else may take: SIGKILL, sweep, the port.
_OTHERS_STOP_S = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Down:
    """What became of a gateway and all around it."""

    stopped: Stopped | None
    """``None`` = it could not be stopped."""
    fault: OrchestratorError | None
    """The first thing that went wrong, in the order of the steps."""


def take_down(
    machine: Machine, wanted: Wanted, *, interrupts: Interrupts, say: Say, held: Held | None = None
) -> Down:
    """Stop the gateway, run its teardown, stop its simulator last, remove what was generated.

    A signal meanwhile shortens the grace to 0. Where another command stopped it and ran its
    teardown, that is said.
    """

    def tidy() -> None:
        if not run_teardown(machine, wanted):
            say("note: its teardown was run by the command that stopped it")

    patience_s = wanted.config.grace_ms / 1000 + _OTHERS_STOP_S
    try:
        turn = take_turn(machine, wanted.instance, patience_s=patience_s)
    except StartUnderWay as fault:
        return Down(stopped=None, fault=fault)
    try:
        return _take_down(
            machine,
            wanted.instance,
            interrupts,
            held=held,
            turn=turn,
            tidy=tidy,
        )
    finally:
        turn.release()


def take_down_recorded(
    machine: Machine,
    record: GatewayRecord,
    interrupts: Interrupts,
    tidy: Callable[[], None] = lambda: None,
) -> Down:
    """Take down a gateway on record, with its simulator and what was generated for it.

    Args:
        machine: The ports.
        record: Which one; a simulator whose gateway is gone is taken down by itself.
        interrupts: A signal shortens the grace to 0.
        tidy: Called once the gateway is down, unless somebody else took it down meanwhile.

    Raises:
        StartUnderWay: Another command starts or stops it.
    """
    instance = Instance(worktree=Path(record.worktree), name=record.name)
    owner = record.labels.get(UPSTREAM_OF)
    alone = instance if owner is None else replace(instance, name=str(owner))
    with in_turn(machine, alone, None) as turn:
        now = find(machine, instance)
        if now is not None and now.run_id != record.run_id:
            # Stopped and started anew since it was looked at: that one was not meant.
            return Down(stopped=Stopped(ending=None, was_down=True), fault=None)
        if now is not None:
            _sign(machine, now)
        return _take_down(
            machine,
            instance,
            interrupts,
            held=None,
            turn=turn if owner is None else None,
            tidy=(lambda: None) if now is None else tidy,
        )


def _sign(machine: Machine, record: GatewayRecord) -> None:
    """Leave on the record of what lives who stops it: a job that watches it tells its user."""
    if standing(machine, record.identity).state not in {"up", "suspended"}:
        return
    at = machine.clock.utcnow().isoformat(timespec="seconds")
    asked = StopAsked(pid=machine.table.ourselves().pid, at=at)
    signed = msgspec.structs.replace(record, stop_asked=asked)
    with suppress(StateUnusable):  # a full disk is no reason to leave it up
        machine.state.write(records.record_name(record.id), records.encode(signed))


def run_teardown(machine: Machine, wanted: Wanted) -> bool:
    """Run the teardown commands of what was stopped, once; the caller holds its lock.

    Returns:
        False where another command has run them.

    Raises:
        CommandFailed: One ended with another status than 0.
    """
    if wanted.config.teardown and not _claimed(machine, wanted):
        return False
    near = surroundings_of(wanted, generated_folder(machine, wanted.instance))
    tear_down(wanted.config, wanted.located, near)
    return True


def _claimed(machine: Machine, wanted: Wanted) -> bool:
    """Claim the teardown on the note of how it ended; return whether nobody has done so before."""
    name = records.ending_name(wanted.instance.id)
    left = machine.state.read(name)
    ending = None if left is None else records.decode_ending(left)
    if ending is None or ending.run_id != wanted.run_id:
        return True
    if ending.is_torn_down:
        return False
    with suppress(StateUnusable):  # a full disk: better twice than not at all
        claimed = msgspec.structs.replace(ending, is_torn_down=True)
        machine.state.write(name, records.encode(claimed))
    return True


def _take_down(
    machine: Machine,
    instance: Instance,
    interrupts: Interrupts,
    *,
    held: Held | None,
    turn: Lock | None,
    tidy: Callable[[], None],
) -> Down:
    stopped: list[Stopped] = []
    folder = generated_folder(machine, instance)

    def gateway() -> None:
        stopped.append(stop_patiently(machine, instance, interrupts, held=held, turn=turn))

    def upstream() -> None:
        if find(machine, upstream_of(instance)) is not None:
            stop_patiently(machine, upstream_of(instance), interrupts)

    faults: list[OrchestratorError] = []
    for step in (gateway, tidy, upstream):
        try:
            step()
        except OrchestratorError as fault:
            faults.append(fault)
            if step is gateway and not isinstance(fault, PidReused):
                # It may be up: what it needs stays, and stopping it again does the rest.
                return Down(stopped=None, fault=fault)
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
