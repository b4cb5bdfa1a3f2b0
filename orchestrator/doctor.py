"""Find out what this machine can prove: by doing it once, not by asking for versions.

A throwaway process tells who adopts orphans, another one whether a stranger's exit status can be
read, a connection to ourselves whether its owner can be found.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.adoption import judge
from orchestrator.doctor_limits import Surroundings, limits
from orchestrator.doctor_ports import Examiner, SystemFacts
from orchestrator.errors import OrchestratorError
from orchestrator.exposure import DEFAULT_PATTERNS
from orchestrator.findings import Finding, Verdict
from orchestrator.lifecycle import Machine
from orchestrator.ports import SpawnOrder

_LOWEST_PORT = 20_000
_FEW_PORTS = 1_000
_TRIAL_STATUS = 7
_TRIAL_S = 5.0


def examine(machine: Machine, examiner: Examiner, near: Surroundings) -> tuple[Finding, ...]:
    """Examine everything, essential things first."""
    facts = examiner.system()
    return (
        _identity(facts),
        _exit_status(machine),
        _adopter(machine),
        _ownership(machine, examiner),
        *_state(machine, examiner),
        _exposure(machine),
        _ports(machine),
        *limits(machine, examiner, facts, near),
    )


def _identity(facts: SystemFacts) -> Finding:
    ways: Mapping[str, tuple[Verdict, str]] = {
        "pidfd": ("yes", "by pidfd: a signal can't reach another process"),
        "kqueue": ("yes", "by kqueue; identity is compared right before each signal"),
        "nothing": ("no", f"no pidfd here: {facts.why_not}"),
    }
    verdict, seen = ways[facts.holds_by]
    return Finding(
        id="identity",
        what="identity",
        verdict=verdict,
        seen=f"{seen} ({facts.name})",
        consequence="identity is compared before each signal, a death is noticed by polling",
        remedy="Linux 5.3 or newer, in a sandbox that allows `pidfd_open`",
    )


def _exit_status(machine: Machine) -> Finding:
    def finding(verdict: Verdict, seen: str) -> Finding:
        return Finding(
            id="exitStatus",
            what="exit status",
            verdict=verdict,
            seen=seen,
            consequence="a killed gateway may be told as one that ended nobody knows how; Node and "
            "Python gateways still leave a record of a normal end",
            remedy="Linux 6.15 or newer tells it for any process",
        )

    try:
        end = _trial_end(machine)
    except (OrchestratorError, OSError) as fault:
        return finding("unknown", f"no process could be started to try it: {fault}")
    if end is None:
        return finding("unknown", "the process that was started to try it did not end")
    code, source = end
    if code == _TRIAL_STATUS:
        return finding("yes", f"of a process that is not our child: told by {source}")
    return finding("no", "of a process that is not our child: not told")


def _trial_end(machine: Machine) -> tuple[int | None, str] | None:
    """Start a process that ends with a status, as a gateway is started, and ask for it."""
    order = SpawnOrder(
        executable=Path("/bin/sh"),
        argv=("sh", "-c", f"exit {_TRIAL_STATUS}"),
        environment={},
        folder=Path("/"),
        log=Path(os.devnull),
    )
    with machine.spawner.spawn(order) as birth:
        held = machine.holder.hold(birth.pid)
    if held is None:
        return None
    try:
        if not held.ended(_TRIAL_S):
            return None
        end = held.exit()
    finally:
        held.close()
    return end.code, end.source


def _adopter(machine: Machine) -> Finding:
    def finding(verdict: Verdict, seen: str) -> Finding:
        return Finding(
            id="adopter",
            what="detaching",
            verdict=verdict,
            seen=seen,
            consequence="a gateway would die with this shell, so none is started",
            remedy="start from a shell that is no subreaper and not PID 1 of a container",
            is_essential=True,
        )

    try:
        pid, name = machine.spawner.adopter()
    except OrchestratorError as fault:
        return finding("unknown", fault.message)
    try:
        judge(pid, name, launcher=machine.table.ourselves().pid)
    except OrchestratorError:
        return finding("no", f"orphans are adopted by PID {pid} ({name}), which ends with us")
    return finding("yes", f"orphans are adopted by PID {pid} ({name})")


def _ownership(machine: Machine, examiner: Examiner) -> Finding:
    us = machine.table.ourselves().pid
    try:
        with examiner.connection() as (ours, theirs):
            owners = machine.sockets.peers(ours, theirs, {us})
    except OSError as refused:
        verdict: Verdict = "unknown"
        seen = f"no connection to 127.0.0.1: {refused.strerror}"
    else:
        verdict = "yes" if us in owners else "no"
        known = "can be found out" if us in owners else "is not shown"
        seen = f"who holds the other end of a connection {known}"
    return Finding(
        id="ownership",
        what="ownership",
        verdict=verdict,
        seen=seen,
        consequence="that the gateway that answers is the one that was started can't be proven",
        remedy="run as the gateway's user, where `/proc/net/tcp` and `/proc/PID/fd` can be read",
        is_essential=True,
    )


def _state(machine: Machine, examiner: Examiner) -> Iterator[Finding]:
    root = machine.state.root
    facts = examiner.folder(root)
    where = f"`{_short(root)}`" + (f" on {facts.filesystem}" if facts.filesystem else "")
    yield Finding(
        id="stateFolder",
        what="state folder",
        verdict="yes" if facts.write_fault is None else "no",
        seen=where if facts.write_fault is None else facts.write_fault,
        consequence="nothing can be put on record, so nothing is started",
        remedy="let `XDG_STATE_HOME` name a folder that you may write to",
        is_essential=True,
    )
    if facts.write_fault is not None:
        return
    fault = facts.lock_fault
    if fault is None and facts.is_local is False:
        fault = f"{facts.filesystem} is no local disk"
    yield Finding(
        id="locks",
        what="locks",
        verdict="yes" if fault is None else "no",
        seen="the kernel keeps them, and drops them with their holder" if fault is None else fault,
        consequence="two starts of one gateway may not notice each other",
        remedy="let `XDG_STATE_HOME` name a folder on a local disk",
        is_essential=True,
    )


def _exposure(machine: Machine) -> Finding:
    root = machine.state.root
    shown = f"python3 {root}/0a1b2c3d.py"
    hit = next((one for one in DEFAULT_PATTERNS if re.search(one, shown)), None)
    return Finding(
        id="exposure",
        what="pattern kills",
        verdict="yes" if hit is None else "no",
        seen="the path of the state folder holds no word that people kill by"
        if hit is None
        else f"`pkill -f '{hit}'` hits whatever is started: the word is in `{_short(root)}`",
        consequence="somebody else's clean-up may end your gateway; it is told in the report",
        remedy="let `XDG_STATE_HOME` name another folder",
    )


def _ports(machine: Machine) -> Finding:
    floor = machine.sockets.ephemeral_floor()
    count = floor - _LOWEST_PORT
    return Finding(
        id="ports",
        what="ports",
        verdict="yes" if count >= _FEW_PORTS else "no",
        seen=f"{max(count, 0)} from {_LOWEST_PORT} on, below those of outgoing connections",
        consequence="an outgoing connection may take the port of a gateway that is about to start",
        remedy="raise the lower end of `net.ipv4.ip_local_port_range`",
    )


def _short(path: Path) -> str:
    home = str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(f"{home}/") else text
