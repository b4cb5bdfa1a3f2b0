"""Who uses a gateway: a shared lock that every user takes and that dies with its holder.

No PID is checked to see whether a gateway is in use; the kernel knows. What the notes say of the
holders is for people.
"""

from dataclasses import dataclass

import msgspec

from orchestrator import records
from orchestrator.errors import StartUnderWay
from orchestrator.identity import Identity, Match, matches
from orchestrator.lifecycle import Machine
from orchestrator.ports import Absence, Lock, Use
from orchestrator.records import Instance


class UseNote(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a user of a gateway writes down about itself: one line of JSON."""

    run_id: str
    identity: Identity
    since: str
    """UTC, ISO 8601."""


def hold_for_use(machine: Machine, instance: Instance, run_id: str) -> Lock:
    """Hold a gateway, so that no clean-up ends it; taken before the start, let go after the stop.

    Any number may hold the same one.

    Raises:
        StartUnderWay: A clean-up is removing what is left of it.
    """
    note = UseNote(
        run_id=run_id,
        identity=machine.table.ourselves(),
        since=machine.clock.utcnow().isoformat(timespec="seconds"),
    )
    line = msgspec.json.encode(note).decode()
    lock = machine.state.share(records.use_name(instance.id), line)
    if isinstance(lock, str):
        raise StartUnderWay(instance.name, str(instance.worktree), lock)
    return lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Who uses a gateway, as far as the notes tell."""

    run_id: str | None = None
    pid: int | None = None
    """``None`` = who took the lock has ended and left it to its child."""
    others: int = 0

    @property
    def short(self) -> str:
        """A few letters: ``PID 12``."""
        return f"PID {self.pid}" if self.pid is not None else self.run_id or "somebody"

    @property
    def text(self) -> str:
        """All of it: ``run 20260102-101112-abcdef (PID 12) and 2 more``."""
        who = "another process" if self.run_id is None else f"run {self.run_id}"
        where = "" if self.pid is None else f" (PID {self.pid})"
        return who + where + (f" and {self.others} more" if self.others else "")


def held_by(machine: Machine, use: Use) -> Holding | None:
    """Name who holds a gateway; ``None`` = nobody does."""
    if not use.is_held:
        return None
    notes = [note for note in map(_read, use.notes) if note is not None]
    alive = [note for note in notes if _lives(machine, note.identity)]
    if alive:
        first = alive[0]
        return Holding(run_id=first.run_id, pid=first.identity.pid, others=len(alive) - 1)
    return Holding(run_id=notes[-1].run_id if notes else None)


def _read(line: str) -> UseNote | None:
    try:
        return msgspec.json.decode(line, type=UseNote)
    except msgspec.MsgspecError:
        return None


def _lives(machine: Machine, identity: Identity) -> bool:
    seen = machine.table.look(identity.pid)
    return not isinstance(seen, Absence) and matches(identity, seen.identity) is Match.SAME
