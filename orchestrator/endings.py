"""How gateways that are not on record any more ended: the last one of each name is kept."""

from pathlib import Path
from typing import Any

import msgspec

from orchestrator import records
from orchestrator.events import described
from orchestrator.lifecycle import Machine
from orchestrator.records import Ending

_SIMULATOR = "-upstream"


def last_ending(machine: Machine, worktree: Path, name: str | None) -> Ending | None:
    """Return how the last gateway of a worktree ended.

    Args:
        machine: The ports.
        worktree: Its real path.
        name: Of the instance, or the PID that it had, in whichever worktree; ``None`` = whichever
            ended last, private simulators aside.
    """
    files = machine.state.names(".end")
    read = (records.decode_ending(machine.state.read(one) or b"") for one in files)
    found = [one for one in read if one is not None and _is_meant(one, str(worktree), name)]
    return max(found, key=lambda one: one.ended_at, default=None)


def _is_meant(ending: Ending, worktree: str, name: str | None) -> bool:
    if name is not None and name.isdigit():
        return ending.identity.pid == int(name)
    if ending.worktree != worktree:
        return False
    return ending.name == name or (name is None and not ending.name.endswith(_SIMULATOR))


def ending_line(ending: Ending) -> str:
    """Say in one line how it ended, and why where nobody typed that."""
    why = f", because {ending.because}" if ending.because else ""
    found = "" if ending.was_asked else " when it was looked for"
    gone = "was gone" if found else "was stopped"
    return (
        f"`{ending.name}` (PID {ending.identity.pid}) {gone} at {ending.ended_at}{found}{why}; it "
        f"{described(ending.exit)}"
    )


def ending_facts(ending: Ending) -> dict[str, Any]:
    """Return it for ``--json``."""
    return {
        "name": ending.name,
        "pid": ending.identity.pid,
        "endedAt": ending.ended_at,
        "wasAsked": ending.was_asked,
        "because": ending.because,
        "log": ending.log,
        "exit": msgspec.to_builtins(ending.exit),
    }
