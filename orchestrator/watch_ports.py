"""What watching a running gateway needs from the system; each has a real adapter and a fake.

Everything here is cheap enough to be asked again and again beside a measurement. ``None`` = not
visible to this user or on this system, never 0.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one process has used so far and uses now."""

    pid: int
    start_ticks: int
    """Tells it from another process that gets its PID later."""
    parent: int
    cpu_ms: float | None = None
    """User and system time of its own."""
    waited_cpu_ms: float | None = None
    """The same of its children that ended and were waited for, and of theirs."""
    resident_bytes: int | None = None
    threads: int | None = None
    descriptors: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """To whom a process belongs, and whether it runs."""

    start_ticks: int
    parent: int
    session: int
    is_stopped: bool = False
    """By a signal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """Established TCP connections of a gateway, from one read of the kernel's table."""

    incoming: int
    """To its port."""
    waiting: int
    """Part of ``incoming`` that it has not accepted yet."""
    outgoing: int
    """From its processes to elsewhere."""


class Meter(Protocol):
    """Reads what processes use."""

    def pids(self) -> frozenset[int]:
        """Return every PID there is, zombies included."""
        ...

    def kin(self, pid: int) -> Kin | None:
        """Return to whom a process belongs, for a fraction of a look at the process table."""
        ...

    def usage(self, pid: int) -> Usage | None:
        """Return what one process uses; ``None`` when it ended (a zombie has) or is hidden."""
        ...

    def proportional_bytes(self, pid: int) -> int | None:
        """Return its memory with shared pages split among their users (PSS). Not for each second."""
        ...

    def connections(self, port: int, pids: Collection[int]) -> Connections | None:
        """Count the connections to a port and from some processes."""
        ...


Stamp = tuple[int, int, int]
"""Time of change in nanoseconds, size in bytes, inode: what a file looks like from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Room on a file system for this user."""

    device: int
    free_bytes: int
    free_files: int | None
    """``None`` where files are not counted."""


class Premises(Protocol):
    """Looks at the folders that a running gateway depends on. Nothing raises."""

    def folder_id(self, path: Path) -> tuple[int, int] | None:
        """Return what tells a folder from another one of its name; ``None`` when it is gone."""
        ...

    def sources(self, root: Path) -> Mapping[str, Stamp]:
        """Return every file of code below a folder, at most a few thousand, by relative path.

        A file is returned as itself. Installed packages and hidden folders are left out.
        """
        ...

    def digest(self, path: Path) -> str | None:
        """Return the SHA-256 of a file."""
        ...

    def head(self, worktree: Path) -> str | None:
        """Return the commit that a git working tree stands on, without starting git."""
        ...

    def space(self, folder: Path) -> Space | None:
        """Return how much room is left where a folder lies."""
        ...
