"""Who uses a gateway: a shared lock that every user takes and that dies with its holder.

No PID is checked to see whether a gateway is in use; the kernel knows. What the notes say of the
holders is for people.
"""

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


def held_by(machine: Machine, use: Use) -> str | None:
    """Name who holds it, for people: ``run 20260102-… (PID 12)``; ``None`` = nobody does.

    The process that took the lock may have ended and left it to its child: the run is named then.
    """
    if not use.is_held:
        return None
    notes = [note for note in map(_read, use.notes) if note is not None]
    alive = [note for note in notes if _lives(machine, note.identity)]
    if not alive:
        return f"run {notes[-1].run_id}" if notes else "another process"
    first = f"run {alive[0].run_id} (PID {alive[0].identity.pid})"
    return first if len(alive) == 1 else f"{first} and {len(alive) - 1} more"


def _read(line: str) -> UseNote | None:
    try:
        return msgspec.json.decode(line, type=UseNote)
    except msgspec.MsgspecError:
        return None


def _lives(machine: Machine, identity: Identity) -> bool:
    seen = machine.table.look(identity.pid)
    return not isinstance(seen, Absence) and matches(identity, seen.identity) is Match.SAME
