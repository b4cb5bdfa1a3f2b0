"""What a clean-up would do to each stray, and why it leaves the others alone. Pure.

Nothing is removed for its name, folder, parent or port: a folder (`--mine`) only narrows what
would be removed anyway, and a suspect is removed only by the PID and start that it was shown with.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from orchestrator.errors import NotForUs, PidReused
from orchestrator.records import UPSTREAM_OF
from orchestrator.strays import Stray
from orchestrator.verdicts import Verdict

Action = Literal["stop", "end", "forget", "keep"]
"""Stop a gateway on record; end processes without one; put a dead one's record away; nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A process that a person chose from the list."""

    pid: int
    start: int
    """Start ticks, as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a person wants removed."""

    older_than_s: float
    worktree: str | None = None
    """Only what runs from this working tree; ``None`` = from any."""
    picks: tuple[Pick, ...] = ()
    """Only these, whatever their age."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """One stray, what would be done to it, and why."""

    stray: Stray
    action: Action
    why: str


_ALONE = {
    Verdict.HELD: "somebody uses it",
    Verdict.BUSY: "it is being started or stopped",
    Verdict.UNVERIFIED: "it can't be told",
    Verdict.FOREIGN: "it can't be told from here",
    Verdict.SUSPECT: "only by `--pid` and `--start`",
    Verdict.ELSEWHERE: "it belongs to another state folder",
    Verdict.OTHER_USER: "it belongs to another user",
    Verdict.CONTAINER: "it belongs to a container",
}
_WAYS: dict[Verdict, Action] = {
    Verdict.IDLE: "stop",
    Verdict.UNREGISTERED: "end",
    Verdict.DEAD: "forget",
    Verdict.SUSPECT: "end",
}


def removals(found: Iterable[Stray], wish: Wish) -> tuple[Removal, ...]:
    """Decide about each stray; simulators come after the gateways they belong to.

    Raises:
        PidReused: A picked PID was given to another process since it was printed.
        NotForUs: A picked process is none of these, or one that may not be ended.
    """
    listed = list(found)
    if wish.picks:
        made = [_picked(pick, listed) for pick in wish.picks]
    else:
        made = [_judged(one, wish) for one in listed]
    return tuple(sorted(made, key=lambda one: _is_simulator(one.stray)))


def _is_simulator(stray: Stray) -> bool:
    return stray.record is not None and UPSTREAM_OF in stray.record.labels


def _judged(stray: Stray, wish: Wish) -> Removal:
    if wish.worktree is not None and stray.worktree != wish.worktree:
        return Removal(stray=stray, action="keep", why="it is not of this worktree")
    if stray.verdict in _ALONE:
        return Removal(stray=stray, action="keep", why=_ALONE[stray.verdict])
    if stray.verdict is Verdict.DEAD:
        return Removal(stray=stray, action="forget", why=stray.reason)
    if stray.idle_s is None or stray.idle_s < wish.older_than_s:
        return Removal(stray=stray, action="keep", why="it is too young, or was in use too lately")
    return Removal(stray=stray, action=_WAYS[stray.verdict], why=stray.reason)


def _picked(pick: Pick, listed: list[Stray]) -> Removal:
    with_pid = [
        (stray, one)
        for stray in listed
        for one in (stray.identity, *(process.identity for process in stray.processes))
        if one is not None and one.pid == pick.pid
    ]
    if not with_pid:
        raise NotForUs(pick.pid, "it is neither a gateway nor a suspect")
    same = next((stray for stray, one in with_pid if one.start_ticks == pick.start), None)
    if same is None:
        seen_ticks = with_pid[0][1].start_ticks
        raise PidReused(pick.pid, recorded_ticks=pick.start, seen_ticks=seen_ticks, is_chosen=True)
    if same.verdict not in _WAYS:
        raise NotForUs(pick.pid, same.reason)
    return Removal(stray=same, action=_WAYS[same.verdict], why="chosen by PID and start")
