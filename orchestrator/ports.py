"""What owning a process needs from the system; each has a real adapter and a fake.

An adapter says what it saw. "Not visible" is never reported as "not there".
"""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal, Protocol

from orchestrator.events import Exit
from orchestrator.identity import Identity


class Clock(Protocol):
    """Time: durations from ``now_ns`` only, dates from ``utcnow`` only."""

    def now_ns(self) -> int:
        """Return the monotonic clock in nanoseconds (``time.perf_counter_ns``)."""
        ...

    def boot_ns(self) -> int | None:
        """Return a clock that goes on while the machine sleeps; ``now_ns`` stands still then."""
        ...

    def utcnow(self) -> datetime:
        """Return the aware wall-clock time in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One listening socket."""

    host: str
    port: int
    pids: frozenset[int]
    """Every process that holds it; empty = not visible to this user."""


class Sockets(Protocol):
    """Reads the kernel's socket table."""

    def listeners(self, port: int) -> tuple[Listener, ...]:
        """Return who listens on a port, on any address."""
        ...

    def socket_numbers(self, port: int) -> frozenset[int] | None:
        """Return numbers that tell the port's listening sockets apart; cheap: not who holds them.

        ``None`` = this system has no such numbers.
        """
        ...

    def all_listeners(self) -> tuple[Listener, ...]:
        """Return every listening socket of this network namespace."""
        ...

    def obstacle(self, port: int) -> str | None:
        """Try whether the port can be listened on; return what stands in the way, if anything."""
        ...

    def peers(
        self, ours: tuple[str, int], theirs: tuple[str, int], near: Collection[int]
    ) -> frozenset[int]:
        """Return who holds ``theirs`` end of our connection, looking at ``near`` first."""
        ...

    def ephemeral_floor(self) -> int:
        """Return the lowest port that outgoing connections may take."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Connections to one port at one moment."""

    established: int
    seen: frozenset[str]
    """A word for each connection that is there or ended a moment ago, to compare two readings."""


class TrafficMeter(Protocol):
    """Counts connections."""

    def traffic(self, port: int, members: Collection[int]) -> Traffic | None:
        """Return who is connected to a port that ``members`` listen on; ``None`` = not visible."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthQuestion:
    """One health request: a GET to a literal address, no proxies, no redirects."""

    host: str
    port: int
    path: str
    timeout_s: float
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthAnswer:
    """What came back, and from whom."""

    status: int | None
    """``None`` when there was no HTTP answer."""
    body: str = ""
    """At most 64 KiB."""
    fault: str | None = None
    """``refused``, ``timed out``, ``reset``, ``no HTTP``…"""
    owners: frozenset[int] = frozenset()
    """Processes that hold the other end of exactly this connection; empty = not visible."""


class HealthProbe(Protocol):
    """Asks for health."""

    def ask(self, question: HealthQuestion, near: Collection[int]) -> HealthAnswer:
        """Ask once; of the PIDs that may hold the other end, look at ``near`` first."""
        ...


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


class BuildFacts(Protocol):
    """Looks at what is about to run."""

    def program(self, name: str, *, search_path: str, folder: Path) -> Path | None:
        """Find an executable as a shell in ``folder`` would; a Python by its name ``python3``."""
        ...

    def script_of(self, path: Path) -> tuple[str, ...]:
        """Return what a script (``#!``) stands for: interpreter, its options, the file it runs.

        A link or wrapper that a package manager of Node made stands for the file behind it.
        Empty for anything else than a script.
        """
        ...

    def is_file(self, path: Path) -> bool:
        """Say whether a regular file is there."""
        ...

    def build(self, worktree: Path, entry: Path | None) -> "Build":
        """Return commit, tree, difference and age of what will run; nothing raises."""
        ...

    def runs_main(self, node: Path) -> bool:
        """Say whether this Node starts a guarded ESM and a guarded CJS file through our shim."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """What is running, as far as files and git tell; ``None`` = not known or no git."""

    entry_sha256: str | None = None
    commit: str | None = None
    tree: str | None = None
    branch: str | None = None
    is_dirty: bool | None = None
    diff_sha256: str | None = None
    """Of ``git diff HEAD``; ``None`` when clean or not known."""
    newer_source: str | None = None
    """A tracked file that is newer than the entry: what runs is an old build."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktree:
    """One working tree of a repository, as ``git worktree list`` has it."""

    path: str
    branch: str | None = None
    """``None`` = detached, or not a git worktree at all."""
    is_gone: bool = False
    """Its folder was removed."""


class Worktrees(Protocol):
    """Asks git for working trees; no git, or no repository, is an empty answer."""

    def around(self, folder: str) -> tuple[Worktree, ...]:
        """Return every working tree of the repository that holds ``folder``."""
        ...

    def holding(self, folder: str) -> Worktree | None:
        """Return the nearest folder upward that is a working tree; its branch is not asked for."""
        ...

    def exists(self, folder: str) -> bool:
        """Say whether a folder is there."""
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
