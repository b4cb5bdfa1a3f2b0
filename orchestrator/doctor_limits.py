"""What limits the measurements on this machine: clock, load, memory, disks, programs, keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.doctor_ports import Examiner, SystemFacts
from orchestrator.errors import StateUnusable
from orchestrator.findings import Finding, Verdict
from orchestrator.lifecycle import Machine

_COARSE_NS = 100_000
_FEW_FILES = 1_024
_GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFacts:
    """What the code of models would run in here, as the measuring side found by trying."""

    level: str
    """``full``, ``reduced`` or ``none``."""
    seen: str
    """By what it holds, or what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Where the examination was asked for."""

    environ: Mapping[str, str]
    folder: Path
    results: Path
    """Where results would be written."""
    keys: Mapping[str, str | None]
    """Name of each key's variable, and where it is set; ``None`` = nowhere. Never a value."""
    sandbox: SandboxFacts


def limits(
    machine: Machine, examiner: Examiner, facts: SystemFacts, near: Surroundings
) -> tuple[Finding, ...]:
    """Examine what a run can do without, but not as well."""
    return (
        _clock(facts),
        _load(facts),
        _memory_kills(facts),
        _shared_memory(machine),
        _files(facts),
        _node(machine, examiner, near),
        _sandbox(near.sandbox),
        _git(machine, examiner, near),
        _room(machine, near),
        _keys(near),
    )


def _clock(facts: SystemFacts) -> Finding:
    is_fine = facts.clock_ns <= _COARSE_NS
    return Finding(
        id="clock",
        what="clock",
        verdict="yes" if is_fine else "no",
        seen=f"the monotonic clock moves in steps of {facts.clock_ns:.0f} ns",
        consequence="times below a millisecond mean little here",
        remedy="measure on a machine with a finer clock source",
    )


def _load(facts: SystemFacts) -> Finding:
    if facts.load is None:
        verdict: Verdict = "unknown"
        seen = f"{facts.cores} cores; load not told"
    else:
        verdict = "yes" if facts.load < facts.cores else "no"
        seen = f"load {facts.load:.1f} on {facts.cores} cores"
    return Finding(
        id="load",
        what="quiet machine",
        verdict=verdict,
        seen=seen,
        consequence="times measured now include waiting for a core",
        remedy="wait until the machine is quiet, or use another one",
    )


def _memory_kills(facts: SystemFacts) -> Finding:
    path = facts.memory_kills
    kind = (
        "not counted here"
        if path is None
        else "counted for the whole machine only"
        if path == "/proc/vmstat"
        else f"counted in the control group ({'v2' if path.endswith('.events') else 'v1'})"
    )
    verdict: Verdict = "unknown" if path is None else "no" if path == "/proc/vmstat" else "yes"
    return Finding(
        id="memoryKills",
        what="memory kills",
        verdict=verdict,
        seen=kind,
        consequence="a gateway killed for want of memory may be told apart wrongly from one that "
        "somebody killed",
    )


def _shared_memory(machine: Machine) -> Finding:
    seen = machine.meter.proportional_bytes(machine.table.ourselves().pid)
    return Finding(
        id="sharedMemory",
        what="shared memory",
        verdict="unknown" if seen is None else "yes",
        seen="not visible (PSS)" if seen is None else "split among its users (PSS)",
        consequence="memory of a gateway with workers counts what they share more than once",
    )


def _files(facts: SystemFacts) -> Finding:
    many = "without a limit" if facts.open_files is None else f"{facts.open_files} per process"
    is_enough = facts.open_files is None or facts.open_files >= _FEW_FILES
    return Finding(
        id="descriptors",
        what="open files",
        verdict="yes" if is_enough else "no",
        seen=many,
        consequence="many requests at once may run out of them",
        remedy="`ulimit -n 10240`",
    )


def _node(machine: Machine, examiner: Examiner, near: Surroundings) -> Finding:
    def finding(verdict: Verdict, seen: str, consequence: str = "") -> Finding:
        return Finding(
            id="node",
            what="Node",
            verdict=verdict,
            seen=seen,
            consequence=consequence,
            remedy="put Node 20 or newer first in PATH",
        )

    search_path = near.environ.get("PATH", "")
    path = machine.facts.program("node", search_path=search_path, folder=near.folder)
    if path is None:
        return finding("no", "not found", "Node gateways can't be started; others can")
    version = examiner.version(path) or "of a version it does not tell"
    guards = "an entry that asks whether it is the main module may serve nothing"
    try:
        runs = machine.facts.runs_main(path)
    except StateUnusable as refused:
        return finding("unknown", f"{version}; not tried: {refused.message}", guards)
    except OSError as refused:
        return finding("unknown", f"{version}; not tried: {refused.strerror}", guards)
    if not runs:
        return finding("no", f"{version}, but a renamed entry is not the main module", guards)
    return finding("yes", f"{version}, entries run renamed as the main module")


def _sandbox(facts: SandboxFacts) -> Finding:
    is_full = facts.level == "full"
    return Finding(
        id="sandbox",
        what="sandbox",
        verdict="yes" if is_full else "no",
        seen=f"{facts.level}: {facts.seen}",
        consequence="the coding profile runs the code of models only when it is allowed by name"
        if facts.level == "reduced"
        else "the coding profile can't run the code of models here",
        remedy="docs/sandbox.md says what each level needs",
    )


def _git(machine: Machine, examiner: Examiner, near: Surroundings) -> Finding:
    path = machine.facts.program(
        "git", search_path=near.environ.get("PATH", ""), folder=near.folder
    )
    version = None if path is None else examiner.version(path)
    return Finding(
        id="git",
        what="git",
        verdict="yes" if version else "no",
        seen=version or "not found",
        consequence="results do not say which commit was measured, `ps` knows no worktrees",
        remedy="install git",
    )


def _room(machine: Machine, near: Surroundings) -> Finding:
    folders = {
        "state": _nearest(machine.state.root),
        "results": _nearest(near.results),
    }
    free = {
        name: space.free_bytes
        for name, folder in folders.items()
        if (space := machine.premises.space(folder)) is not None
    }
    told = ", ".join(f"{size / _GIB:.1f} GiB for {name}" for name, size in free.items())
    verdict: Verdict = "unknown" if not free else "yes" if min(free.values()) >= _GIB else "no"
    return Finding(
        id="room",
        what="room on disk",
        verdict=verdict,
        seen=told or "not told",
        consequence="a run that fills the disk ends incomplete",
        remedy="make room, or let `BENCHMARK_OUTPUT_DIR` name another disk",
    )


def _keys(near: Surroundings) -> Finding:
    there = [f"{name} ({where})" for name, where in near.keys.items() if where is not None]
    missing = [name for name, where in near.keys.items() if where is None]
    return Finding(
        id="keys",
        what="keys by name",
        verdict="yes" if there else "no",
        seen="set: " + ", ".join(there) if there else "none is set",
        consequence="local gateways with a seeded token and `demo` need none; a remote one does",
        remedy=f"export {' or '.join(missing[:2])}" if missing else "",
    )


def _nearest(path: Path) -> Path:
    return next((one for one in (path, *path.parents) if one.is_dir()), Path("/"))
