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
        name: Of the instance; ``None`` = whichever ended last, private simulators aside.
    """
    found = []
    for file in machine.state.names(".end"):
        ending = records.decode_ending(machine.state.read(file) or b"")
        if ending is None or ending.worktree != str(worktree):
            continue
        if ending.name == name or (name is None and not ending.name.endswith(_SIMULATOR)):
            found.append(ending)
    return max(found, key=lambda one: one.ended_at, default=None)


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
