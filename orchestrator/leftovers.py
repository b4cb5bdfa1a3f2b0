"""Files in the state folder that no gateway needs any more.

A lock file goes last, while it is held, and only where nothing else is left of its gateway.
"""

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from orchestrator import records
from orchestrator.cleaning import Skipped, alone
from orchestrator.lifecycle import Machine

KEPT_S = 7 * 24 * 3600.0
"""How long the log and the ending of a gateway that is gone are kept."""

# The last two were being written when their writer was killed.
_OF_A_RUN = (".cjs", ".py", ".run", ".exit", ".seen", ".d", ".exit~", ".part")
_TO_READ = (".log", ".1", ".end")
_LOCKS = (".lock", ".use")
_RESERVED = ".port"
_TOLD = (".log", ".log.1", ".end")
TREE = "t"
"""Of a folder of ours: the working tree that a command made in it."""
_NAME = re.compile(r"([0-9a-f]{8})\.[a-z.0-9_~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One file or folder."""

    name: str
    instance_id: str | None
    """Of which gateway; ``None`` = it is the reservation of a port."""
    why: str


def leftovers(machine: Machine, *, older_than_s: float) -> tuple[Leftover, ...]:
    """Return what may be removed.

    Args:
        machine: The ports.
        older_than_s: Least age of a shim or a generated folder without a record; logs and
            endings, and locks that are all there is, are kept for ``KEPT_S``.
    """
    in_use = _named_by_processes(machine)
    found = []
    for suffix in (*_OF_A_RUN, *_TO_READ, *_LOCKS):
        limit_s, why = (
            (older_than_s, "its gateway is gone")
            if suffix in _OF_A_RUN
            else (KEPT_S, "its gateway is gone for 7 days")
        )
        for name in machine.state.names(suffix):
            named = _NAME.fullmatch(name)
            age_s = machine.state.age_s(name)
            if named is None or age_s is None or age_s < limit_s or named[1] in in_use:
                continue
            if name.endswith(".d") and (
                holds_tree(machine, name)  # git has to be told: see ``trees``
                or machine.state.use_of(records.use_name(named[1])).is_held
            ):
                continue
            is_needed = _is_left(machine, named[1]) if suffix in _LOCKS else False
            if not is_needed and machine.state.age_s(records.record_name(named[1])) is None:
                found.append(Leftover(name=name, instance_id=named[1], why=why))
    return (*found, *_reservations(machine, older_than_s))


def _reservations(machine: Machine, older_than_s: float) -> Iterator[Leftover]:
    """Return ports that were reserved by starts which did not live to let go of them."""
    for name in machine.state.names(_RESERVED):
        age_s = machine.state.age_s(name)
        if age_s is not None and age_s >= older_than_s and name[: -len(_RESERVED)].isdigit():
            yield Leftover(name=name, instance_id=None, why="its start was killed")


def holds_tree(machine: Machine, name: str) -> bool:
    """Say whether a folder in the state folder is one with a working tree of git."""
    place = str(machine.state.root / name / TREE)
    found = machine.worktrees.holding(place)
    return found is not None and found.path == place


def _named_by_processes(machine: Machine) -> frozenset[str]:
    """Return the instances that a living process names: in its words, or in its marker."""
    root = re.escape(str(machine.state.root))
    named = re.compile(rf"{root}/([0-9a-f]{{8}})\.")
    found = set()
    for one in machine.table.everyone():
        found.update(named.findall(f"{one.command} {one.record_path or ''}"))
    return frozenset(found)


def _is_left(machine: Machine, instance_id: str) -> bool:
    """Say whether anything but locks is left of a gateway."""
    endings = (".json", ".prep", *_OF_A_RUN, *_TOLD)
    return any(machine.state.age_s(f"{instance_id}{one}") is not None for one in endings)


def remove(machine: Machine, wanted: tuple[Leftover, ...]) -> tuple[Leftover, ...]:
    """Remove them, each under its gateway's locks; return those that were removed."""
    done: set[str] = set()
    for instance_id in dict.fromkeys(one.instance_id for one in wanted):
        names = [one.name for one in wanted if one.instance_id == instance_id]
        if instance_id is None:
            done |= {name for name in names if _is_let_go(machine, name)}
        else:
            done |= _removed(machine, instance_id, names)
    return tuple(one for one in wanted if one.name in done)


def _is_let_go(machine: Machine, reservation: str) -> bool:
    """Remove the reservation of a port unless a start has it; return whether it is gone."""
    lock = machine.state.lock(reservation, "a clean-up")
    if isinstance(lock, str):
        return False
    lock.remove()
    return True


def remove_traces(machine: Machine, instance_ids: Iterable[str]) -> bool:
    """Remove all that is left of gateways that nobody will ask about: log, ending, locks.

    One that is on record or in use keeps everything.

    Args:
        machine: The ports.
        instance_ids: Of gateways whose names are never used again.

    Returns:
        Whether the first one's log is gone.
    """
    done = [_removed(machine, one, [f"{one}{end}" for end in _TOLD]) for one in instance_ids]
    return bool(done and done[0])


def remove_locks(machine: Machine, instance_id: str) -> None:
    """Remove the locks of a gateway of which nothing else is left."""
    _removed(machine, instance_id, [])


def _removed(machine: Machine, instance_id: str, names: Iterable[str]) -> set[str]:
    """Remove files of one gateway, and its locks where nothing is left then."""
    try:
        with alone(machine, (instance_id,), instance_id) as locks:
            if machine.state.age_s(records.record_name(instance_id)) is not None:
                return set()
            done = set(names)
            for name in done:
                if name.endswith(".d"):
                    shutil.rmtree(machine.state.root / name, ignore_errors=True)
                elif not name.endswith(_LOCKS):
                    machine.state.remove(name)
            if _is_left(machine, instance_id):
                return {name for name in done if not name.endswith(_LOCKS)}
            for lock in locks:
                lock.remove()
            return done
    except Skipped:
        return set()
