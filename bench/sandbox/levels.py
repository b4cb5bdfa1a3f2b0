"""From what was seen behind the walls to what is held, and the level that makes. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from bench.sandbox.program import Protection, Protections, SandboxLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a program of ours could do behind the walls."""

    walls: Literal["namespaces", "landlock", "seatbelt"]
    reaches: frozenset[str]
    """What worked of: connects, socket, reads, environ, writes, signals, chroot."""
    counted: Mapping[str, str]
    """What control groups count, ``memory`` and ``pids``, and which kind of group."""
    starts_too_many: bool
    takes_too_much: bool
    is_root: bool
    """Whether we could become somebody else before."""


_NETWORK = {
    "namespaces": "own network namespace without an interface; no socket may be made",
    "landlock": "no socket may be made (seccomp), no TCP (Landlock)",
    "seatbelt": "network denied by the profile",
}
_FILES = {
    "namespaces": "own root in memory with the interpreter in it, read-only",
    "landlock": "Landlock: the interpreter and its own folder",
    "seatbelt": "the profile: the interpreter and its own folder",
}
_OTHERS = {
    "namespaces": "own PID namespace",
    "landlock": "it may signal nobody but itself (seccomp, Landlock)",
    "seatbelt": "it may signal nobody but itself (profile)",
}
_ENDING = {
    "namespaces": "the PID namespace ends as a whole",
    "landlock": "it may start no process (seccomp), so there is one to kill",
    "seatbelt": "it may start no process (profile), so there is one to kill",
}


def protections(seen: Seen, reasons: Iterable[str] = ()) -> Protections:
    """Return what is held.

    Args:
        seen: What a program could do.
        reasons: Why stronger walls could not be put up.
    """
    items = (
        _held("network", seen, {"connects"}, _NETWORK),
        _held("reading", seen, {"reads", "environ"}, _FILES),
        _held("writing", seen, {"writes"}, _FILES),
        _held("processes", seen, {"signals"}, _OTHERS),
        _held("syscalls", seen, {"socket", "chroot"}, _CALLS),
        _memory(seen),
        _count(seen),
        Protection(id="kill", held=True, how=_ENDING[seen.walls]),
    )
    missing = [item for item in items if not item.held]
    level: SandboxLevel = "full"
    if {item.id for item in missing} & {"network", "reading", "writing", "processes"}:
        level = "none"
    elif missing or seen.walls != "namespaces":
        level = "reduced"
    why = "; ".join([*(f"{item.id}: {item.how}" for item in missing), *reasons])
    return Protections(
        level=level,
        walls=None if level == "none" else seen.walls,
        items=items,
        why=why or None,
    )


_CALLS = dict.fromkeys(("namespaces", "landlock"), "seccomp") | {"seatbelt": "the profile"}


def _held(
    name: Literal["network", "reading", "writing", "processes", "syscalls"],
    seen: Seen,
    needs: set[str],
    how: Mapping[str, str],
) -> Protection:
    reached = sorted(needs & seen.reaches)
    if reached:
        return Protection(id=name, held=False, how=f"the trial program got through: {reached}")
    return Protection(id=name, held=True, how=how[seen.walls])


def _memory(seen: Seen) -> Protection:
    if seen.takes_too_much:
        return Protection(id="memory", held=False, how="no limit holds")
    kind = seen.counted.get("memory")
    if kind:
        return Protection(id="memory", held=True, how=f"all processes together by {kind}")
    how = "each process has a limit, all together have none: no control group can be made"
    return Protection(id="memory", held=False, how=how)


def _count(seen: Seen) -> Protection:
    if seen.starts_too_many:
        return Protection(id="count", held=False, how="as many processes as it likes")
    if seen.walls != "namespaces":
        return Protection(id="count", held=True, how="one process")
    kind = seen.counted.get("pids")
    by = kind or ("RLIMIT_NPROC of a user of its own" if seen.is_root else "RLIMIT_NPROC")
    return Protection(id="count", held=True, how=f"limited by {by}")
