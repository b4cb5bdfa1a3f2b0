"""Processes: what is seen of them, and what holds one so that it can't be mistaken."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from orchestrator.events import Exit
from orchestrator.identity import Identity


class Absence(StrEnum):
    """Why a PID could not be looked at."""

    GONE = "gone"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessInfo:
    """One process at one moment; ``None`` = this user or system can't see it."""

    identity: Identity
    parent: int
    group: int
    session: int
    state: Literal["alive", "stopped", "zombie"]
    name: str
    """``comm``: at most 15 bytes, may hold blanks and brackets, may be rewritten."""
    user: int
    has_terminal: bool | None = None
    argv: tuple[str, ...] | None = None
    folder: str | None = None
    """Working directory; ends in `` (deleted)`` on Linux when it was removed."""
    marker: str | None = None
    """Value of ``GWB_RUN`` in its environment."""
    record_path: str | None = None
    """Value of ``GWB_RECORD`` in its environment: where its gateway is on record."""
    age_s: float | None = None

    @property
    def pid(self) -> int:
        """The PID, short for ``identity.pid``."""
        return self.identity.pid

    @property
    def command(self) -> str:
        """The command line joined by blanks, as ``pgrep -f`` sees it."""
        return " ".join(self.argv) if self.argv else f"[{self.name}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessDetail:
    """What else can be seen of one process; ``None`` = not by this user, or not on this system."""

    resident_bytes: int | None = None
    namespace: str | None = None
    """Its own PID namespace, which may lie below ours."""
    container: str | None = None
    """Of which container its control group is, where that is not our own."""


class ProcessTable(Protocol):
    """Reads the process table."""

    def look(self, pid: int) -> ProcessInfo | Absence:
        """Return what can be seen of one process; a zombie is seen as one."""
        ...

    def everyone(self) -> tuple[ProcessInfo, ...]:
        """Return all processes that can be seen; those that end meanwhile are left out."""
        ...

    def detail(self, pid: int) -> ProcessDetail:
        """Return what costs more to see and is asked of few processes only."""
        ...

    def ourselves(self) -> Identity:
        """Return the identity of this very process."""
        ...


class Held(Protocol):
    """One process that can't be mistaken for another while it is held (pidfd, kqueue)."""

    @property
    def pid(self) -> int:
        """Its PID."""
        ...

    def ended(self, timeout_s: float) -> bool:
        """Wait for its death; a zombie is dead.

        Args:
            timeout_s: At most this long; 0 only asks.
        """
        ...

    def exit(self) -> Exit:
        """Return how it ended, as far as the system tells (blocks up to 3 s). Once dead only."""
        ...

    def send(self, number: int, *, group: bool = False) -> bool:
        """Send a signal to it, or to the process group it leads (also after its own death).

        Returns:
            False when there was nothing (provably ours) to signal any more.
        """
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class Holder(Protocol):
    """Takes hold of processes."""

    def hold(self, pid: int) -> Held | None:
        """Take hold of whatever has this PID now; ``None`` = no such process. Verify it after."""
        ...

    def memory_counter(self, pid: int) -> Callable[[], int | None]:
        """Return what counts out-of-memory kills where this living process is accounted.

        The counter answers after its death too; ``None`` = not known here.
        """
        ...
