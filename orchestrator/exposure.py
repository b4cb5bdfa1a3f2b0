"""Which of our processes a `pkill -f` of somebody else would hit, and who belongs to us. Pure."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

import msgspec

from orchestrator.identity import Identity, Match, matches
from orchestrator.ports import ProcessInfo

MARKER = "GWB_RUN"
RECORD_MARKER = "GWB_RECORD"
"""Where the record of the marked one lies: another state folder's gateways are not ours to end."""

# What people and scripts are seen to kill by, and the three words that a command line of ours
# must never hold. Regular expressions over the whole command line, as `pgrep -f` has them.
DEFAULT_PATTERNS = (
    r"dist/serve.js",
    r"node .*serve",
    r"node dist",
    r"tsx .*serve",
    r"uvicorn .*app",
    r"gateway",
    r"serve",
    r"dist",
)
# `pkill -f` of one or two letters would hit half of the machine; nobody types it.
_SHORTEST_NAME = 3


class Exposure(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One process that one pattern would hit."""

    pid: int
    pattern: str
    command: str
    """Masked by the caller before it is shown."""


def patterns_for(
    *, entry: PurePath | None, worktree: PurePath, more: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return every pattern that must not hit us: defaults, names of this build, the user's own."""
    names = [worktree.name, str(worktree)]
    if entry is not None:
        names += [entry.name, entry.parent.name, str(entry)]
    own = [re.escape(name) for name in names if len(name) >= _SHORTEST_NAME]
    return tuple(dict.fromkeys([*DEFAULT_PATTERNS, *own, *more]))


def exposed(processes: Iterable[ProcessInfo], patterns: Sequence[str]) -> tuple[Exposure, ...]:
    """Match the whole command line of each process against each pattern; first match each."""
    compiled = [(pattern, re.compile(pattern)) for pattern in patterns]
    found = []
    for process in processes:
        if process.argv is None or process.state == "zombie":
            continue
        command = process.command
        hit = next((pattern for pattern, regex in compiled if regex.search(command)), None)
        if hit is not None:
            found.append(Exposure(pid=process.pid, pattern=hit, command=command))
    return tuple(found)


def members(
    everyone: Iterable[ProcessInfo], *, leader: Identity, marker: str
) -> tuple[ProcessInfo, ...]:
    """Return who belongs to a gateway: its session, its marker's bearers, their descendants.

    Args:
        everyone: One snapshot of the process table. Taken before the leader is signalled: the
            descent of a process is lost with its parent.
        leader: The session's. Without it, alive or a zombie, only the marker counts.
        marker: The whole value of ``GWB_RUN``; a part of one never counts.

    Returns:
        Zombies too, so that a caller may tell "ended" from "never there".
    """
    table = list(everyone)
    # Once the leader is reaped and its session empty, a stranger may get its PID and with it the
    # number of its session.
    has_leader = any(matches(leader, process.identity) is Match.SAME for process in table)
    mine = {
        process.pid: process
        for process in table
        if process.marker == marker or (has_leader and leader.pid in (process.session, process.pid))
    }
    grew = True
    while grew:
        young = [p for p in table if p.parent in mine and p.pid not in mine]
        mine.update({process.pid: process for process in young})
        grew = bool(young)
    return tuple(mine[pid] for pid in sorted(mine))
