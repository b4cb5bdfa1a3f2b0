"""What is noticed about a gateway that lives and goes on: it ends nothing and is said at once. Pure."""

from dataclasses import dataclass, field
from typing import Any, Literal

NoteClass = Literal[
    "build_changed",
    "worktree_gone",
    "machine_slept",
    "watch_halted",
    "log_guard",
    "exposed",
    "disk_low",
    "shared_database",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that was noticed while a gateway was watched."""

    incident_class: NoteClass
    at_ns: int
    """Monotonic reading when it was noticed."""
    summary: str
    """One or two sentences with values; masked where a command line is in it."""
    detail: dict[str, Any] = field(default_factory=dict)
    since_ns: int | None = None
    """Whatever was in flight since then was touched; ``None`` = nothing was."""

    @property
    def line(self) -> str:
        """As it is said on a terminal."""
        return f"{self.incident_class}: {self.summary}"


def listed(names: list[str], most: int = 3) -> str:
    """Return the first names in a sentence: ```a`, `b` and 4 more``."""
    told = [f"`{name}`" for name in names[:most]]
    more = len(names) - len(told)
    if more:
        return f"{', '.join(told)} and {more} more"
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)
