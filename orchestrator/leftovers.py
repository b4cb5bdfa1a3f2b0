"""Files in the state folder that no gateway needs any more. Lock files are never among them.

A lock file that is removed while somebody opens it lets two hold "the same" lock; an empty file
costs nothing.
"""

import re
import shutil
from dataclasses import dataclass

from orchestrator import records
from orchestrator.cleaning import Skipped, alone
from orchestrator.lifecycle import Machine

KEPT_S = 7 * 24 * 3600.0
"""How long the log and the ending of a gateway that is gone are kept."""

_OF_A_RUN = (".cjs", ".py", ".run", ".exit", ".seen", ".d")
_TO_READ = (".log", ".1", ".end")
_NAME = re.compile(r"([0-9a-f]{8})\.[a-z.0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One file or folder."""

    name: str
    instance_id: str
    why: str


def leftovers(machine: Machine, *, older_than_s: float) -> tuple[Leftover, ...]:
    """Return what may be removed.

    Args:
        machine: The ports.
        older_than_s: Least age of a shim or a generated folder without a record; logs and
            endings are kept for ``KEPT_S``.
    """
    in_use = _named_by_processes(machine)
    found = []
    for suffix in (*_OF_A_RUN, *_TO_READ):
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
            if machine.state.age_s(records.record_name(named[1])) is None:
                found.append(Leftover(name=name, instance_id=named[1], why=why))
    return tuple(found)


def _named_by_processes(machine: Machine) -> frozenset[str]:
    """Return the instances that a living process names: in its words, or in its marker."""
    root = re.escape(str(machine.state.root))
    named = re.compile(rf"{root}/([0-9a-f]{{8}})\.")
    found = set()
    for one in machine.table.everyone():
        found.update(named.findall(f"{one.command} {one.record_path or ''}"))
    return frozenset(found)


def remove(machine: Machine, wanted: tuple[Leftover, ...]) -> tuple[Leftover, ...]:
    """Remove them, each under its gateway's locks; return those that were removed."""
    done = []
    for one in wanted:
        try:
            with alone(machine, (one.instance_id,), one.instance_id):
                if machine.state.age_s(records.record_name(one.instance_id)) is not None:
                    continue
                if one.name.endswith(".d"):
                    shutil.rmtree(machine.state.root / one.name, ignore_errors=True)
                else:
                    machine.state.remove(one.name)
                done.append(one)
        except Skipped:
            continue
    return tuple(done)
