"""What examining a machine needs from the system beside the ports of the work itself."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFacts:
    """One machine; ``None`` = not visible, or not on this system."""

    name: str
    """``Linux 6.18.5``."""
    holds_by: Literal["pidfd", "kqueue", "nothing"]
    """What keeps a process from being mistaken for another while it is held."""
    why_not: str | None = None
    """Why it is by nothing."""
    clock_ns: float
    """Smallest step of the monotonic clock that was seen."""
    load: float | None
    """Average number of running processes over the last minute."""
    cores: int
    memory_kills: str | None
    """File that counts out-of-memory kills where our processes are accounted."""
    open_files: int | None
    """How many descriptors a process may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFacts:
    """One folder, or the nearest one upward that is there."""

    write_fault: str | None = None
    lock_fault: str | None = None
    filesystem: str | None = None
    """Kind: ``ext4``, ``nfs4``; ``None`` = not known."""
    is_local: bool | None = None


Address = tuple[str, int]


class Examiner(Protocol):
    """Looks at the machine itself."""

    def system(self) -> SystemFacts:
        """Return what there is to say about the machine now."""
        ...

    def folder(self, path: Path) -> FolderFacts:
        """Try a folder: write, lock twice, ask where it lies. Leaves nothing behind."""
        ...

    def connection(self) -> AbstractContextManager[tuple[Address, Address]]:
        """Give both ends of a loopback connection whose far end this very process holds."""
        ...

    def version(self, program: Path) -> str | None:
        """Return the first line that a program says for ``--version``."""
        ...
