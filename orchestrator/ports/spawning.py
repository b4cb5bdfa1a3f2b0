"""Starting a detached process: what is executed, under which file, into which log."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnOrder:
    """What to execute, and how it is cut loose."""

    executable: Path
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    log: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A process between fork and exec: its PID can't be reused until the spawner lets it go."""

    pid: int


class Spawner(Protocol):
    """Starts detached processes."""

    def adopter(self) -> tuple[int, str]:
        """Return PID and name of who adopts an orphan of ours, found with a throwaway one."""
        ...

    def spawn(self, order: SpawnOrder) -> AbstractContextManager[Birth]:
        """Fork in a session of its own; inside the context the PID is held, its exit executes.

        Raises:
            ExecFailed: On leaving the context: folder, log or program were refused, with errno.
        """
        ...


class ShimFiles(Protocol):
    """Writes the files that stand for an entry, in the state folder or beside the entry."""

    def place(self, path: Path, text: str, link_to: Path | None) -> None:
        """Write a private file, or make a hard link.

        Raises:
            FileInTheWay: There is a file that is not ours.
        """
        ...

    def remove(self, path: Path) -> None:
        """Remove it if it is there and ours."""
        ...


class LogFile(Protocol):
    """The gateway's log."""

    def begin(self, path: Path) -> None:
        """Put the log of an earlier start aside (``.1``), so that a tail shows this one only."""
        ...

    def tail(self, path: Path, lines: int) -> tuple[str, ...]:
        """Return the last lines, at most 64 KiB; empty when there is none."""
        ...

    def size(self, path: Path) -> int:
        """Return how many bytes there are; 0 when there is none."""
        ...

    def since(self, path: Path, place: int) -> tuple[tuple[str, ...], int]:
        """Return the complete lines from a byte on, at most 1 MiB, and where the next begins.

        From the beginning when the log was emptied meanwhile.
        """
        ...

    def guard(self, path: Path, limit_bytes: int) -> bool:
        """Keep the last 1 MiB beside it and empty it in place once it is larger than the limit."""
        ...
