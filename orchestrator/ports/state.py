"""The state folder: small private files, and locks that die with their holder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Lock(Protocol):
    """A lock that dies with its holder."""

    @property
    def descriptor(self) -> int:
        """Its open file: a child that inherits it holds the lock too. Closed by ``release``."""
        ...

    def release(self) -> None:
        """Let others have it."""
        ...


class SoleLock(Lock, Protocol):
    """A lock that nobody shares."""

    def remove(self) -> None:
        """Remove its file, then let go: whoever has opened it meanwhile opens the next one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Who has a shared lock, and since when nobody has."""

    is_held: bool
    notes: tuple[str, ...] = ()
    """One line of each that took it since it was last free, ended or not."""
    quiet_s: float | None = None
    """Since it was last taken or let go; ``None`` = it never was taken."""


class StateFolder(Protocol):
    """Small private files: 0600 in a 0700 folder, replaced atomically."""

    @property
    def root(self) -> Path:
        """The folder."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return a file's content; ``None`` = there is none."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Replace a file: temporary file, fsync, rename."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        ...

    def names(self, suffix: str) -> tuple[str, ...]:
        """List files by the end of their name, sorted."""
        ...

    def lock(self, name: str, note: str) -> SoleLock | str:
        """Take a lock without waiting.

        Returns:
            The lock, or the note of who has it.
        """
        ...

    def share(self, name: str, note: str) -> Lock | str:
        """Take a lock that others may share, but not with who has it alone.

        Args:
            name: Of the file.
            note: One line about the holder.

        Returns:
            The lock, or the note of who has it alone.
        """
        ...

    def use_of(self, name: str) -> Use:
        """Say whether somebody holds a shared lock."""
        ...

    def age_s(self, name: str) -> float | None:
        """Return for how long a file has not been written to; ``None`` = there is none."""
        ...
