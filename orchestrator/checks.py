"""What may change around a running gateway, one small check each.

A check remembers how things were, looks when it is asked, and says what is different, once. None
of them starts a process.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.exposure import Exposure, exposed
from orchestrator.lifecycle import Machine, find_all, standing
from orchestrator.masking import mask
from orchestrator.notes import Note
from orchestrator.ports import ProcessInfo
from orchestrator.records import LOG_LIMIT_BYTES, GatewayRecord
from orchestrator.watch_ports import Space

LOW_BYTES = 160 * 1024 * 1024
"""Less room than this is little: a log at its limit, twice a journal of a long run."""
_LOW_FILES = 200
_SLEPT_NS = 1_000_000_000
_HALTED_NS = 5_000_000_000
_LONGEST_COMMAND = 120


class Check(Protocol):
    """One thing that is looked at again and again."""

    every_s: float
    """How often it is worth a look."""

    def look(self) -> Iterator[Note]:
        """Return what is different from the last look."""
        ...


class SleepCheck:
    """The machine slept, or this process stood still, while it only meant to rest a moment.

    The monotonic clock stands still in a sleep of the machine, the boot clock does not. A process
    that is stopped by a signal, or gets no processor, loses time on both.
    """

    every_s = 0.0

    def __init__(self, machine: Machine) -> None:
        self._clock = machine.clock
        self._gap_ns = self._gap()
        self._rested_ns = self._clock.now_ns()
        self._due_ns = self._rested_ns

    def rest(self, seconds: float) -> None:
        """Say that nothing will be looked at for so long."""
        self._rested_ns = self._clock.now_ns()
        self._due_ns = self._rested_ns + int(seconds * 1e9)

    def look(self) -> Iterator[Note]:
        """Compare the clocks."""
        now_ns, gap_ns = self._clock.now_ns(), self._gap()
        late_ns = now_ns - self._due_ns
        if gap_ns is not None and self._gap_ns is not None and gap_ns - self._gap_ns > _SLEPT_NS:
            slept_s = (gap_ns - self._gap_ns) / 1e9
            yield Note(
                incident_class="machine_slept",
                at_ns=now_ns,
                since_ns=self._rested_ns,
                summary=f"The machine slept for {slept_s:,.0f} s.",
                detail={"sleptMs": slept_s * 1000},
            )
        elif late_ns > _HALTED_NS:
            yield Note(
                incident_class="watch_halted",
                at_ns=now_ns,
                summary=f"The watch over the gateway stood still for {late_ns / 1e9:,.0f} s "
                "although the machine was awake: its process was stopped or got no processor.",
                detail={"haltedMs": late_ns / 1e6},
            )
        self._gap_ns = gap_ns
        self._due_ns = now_ns

    def _gap(self) -> int | None:
        """Return by how much the boot clock is ahead; read again when halted in between."""
        for _ in range(3):
            before_ns, boot_ns = self._clock.now_ns(), self._clock.boot_ns()
            after_ns = self._clock.now_ns()
            if boot_ns is None:
                return None
            if after_ns - before_ns < _SLEPT_NS // 2:
                return boot_ns - before_ns
        return self._gap_ns


class LogCheck:
    """The gateway's log grew beyond its limit, and was emptied."""

    every_s = 5.0

    def __init__(self, machine: Machine, path: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> None:
        self._machine = machine
        self._path = path
        self._limit_bytes = limit_bytes

    def look(self) -> Iterator[Note]:
        """Empty the log if it is too large."""
        if self._machine.log.guard(self._path, self._limit_bytes):
            yield Note(
                incident_class="log_guard",
                at_ns=self._machine.clock.now_ns(),
                summary=f"The gateway's log `{self._path}` passed "
                f"{self._limit_bytes / 2**20:,.0f} MiB and was emptied; its last MiB is in "
                f"`{self._path.name}.1`.",
                detail={"path": str(self._path), "limitBytes": self._limit_bytes},
            )


class ExposureCheck:
    """A member's command line holds what other people kill by.

    Args:
        machine: The ports.
        members: Returns who belongs to the gateway now, as the process table sees them.
        patterns: As ``exposure.patterns_for`` makes them.
        secrets: Values to mask in a command line.
    """

    every_s = 4.0

    def __init__(
        self,
        machine: Machine,
        members: Callable[[], Sequence[ProcessInfo]],
        patterns: Sequence[str],
        secrets: Sequence[str] = (),
    ) -> None:
        self._machine = machine
        self._members = members
        self._patterns = patterns
        self._secrets = secrets
        self._known: set[tuple[int, str]] = set()

    def look(self) -> Iterator[Note]:
        """Match every member, also those that were there before: a process may rename itself."""
        found = [
            one
            for one in exposed(self._members(), self._patterns)
            if (one.pid, one.pattern) not in self._known
        ]
        if found:
            self._known |= {(one.pid, one.pattern) for one in found}
            yield exposure_note(found, self._secrets, at_ns=self._machine.clock.now_ns())


def exposure_note(found: Sequence[Exposure], secrets: Sequence[str], *, at_ns: int) -> Note:
    """Return what is said of processes that a `pkill -f` of somebody else would hit."""
    first = found[0]
    command = mask(first.command, secrets)
    short = command if len(command) <= _LONGEST_COMMAND else f"{command[:_LONGEST_COMMAND]}…"
    more = f", and {len(found) - 1} more of its processes" if len(found) > 1 else ""
    return Note(
        incident_class="exposed",
        at_ns=at_ns,
        summary=f"`pkill -f '{first.pattern}'` of somebody else would end PID {first.pid} of the "
        f"gateway (`{short}`){more}.",
        detail={
            "processes": [
                {"pid": one.pid, "pattern": one.pattern, "command": mask(one.command, secrets)}
                for one in found
            ]
        },
    )


class DiskCheck:
    """A file system that we write to is nearly full; said once, until there was room again."""

    every_s = 1.0

    def __init__(
        self, machine: Machine, folders: Mapping[Path, str], low_bytes: int = LOW_BYTES
    ) -> None:
        self._machine = machine
        self._folders = dict(folders)
        self._low_bytes = low_bytes
        self._told: set[int] = set()

    def add(self, folder: Path, what: str) -> None:
        """Look at one more folder from now on.

        Args:
            folder: Where something is written.
            what: The thing, as the sentence has it: ``the results``.
        """
        self._folders = {**self._folders, folder: what}

    def look(self) -> Iterator[Note]:
        """Ask each file system for its room."""
        for folder, what in self._folders.items():
            space = self._machine.premises.space(folder)
            if space is None:
                continue
            if not self._is_low(space):
                self._told.discard(space.device)
            elif space.device not in self._told:
                self._told.add(space.device)
                yield self._note(folder, what, space)

    def _is_low(self, space: Space) -> bool:
        few = space.free_files is not None and space.free_files < _LOW_FILES
        return few or space.free_bytes < self._low_bytes

    def _note(self, folder: Path, what: str, space: Space) -> Note:
        room = f"{space.free_bytes / 1e6:,.1f} MB"
        if space.free_bytes >= self._low_bytes:
            room = f"room for {space.free_files} more files"
        return Note(
            incident_class="disk_low",
            at_ns=self._machine.clock.now_ns(),
            summary=f"Only {room} left where {what} {'are' if what.endswith('s') else 'is'} "
            f"written (`{folder}`).",
            detail={
                "folder": str(folder),
                "freeBytes": space.free_bytes,
                "freeFiles": space.free_files,
            },
        )


class WorktreeCheck:
    """The folder that the gateway was started from was removed, or replaced by another one."""

    every_s = 2.0

    def __init__(self, machine: Machine, worktree: Path) -> None:
        self._machine = machine
        self._worktree = worktree
        self._was = machine.premises.folder_id(worktree)
        self.is_gone = False

    def look(self) -> Iterator[Note]:
        """See whether it is the folder that it was."""
        now = self._machine.premises.folder_id(self._worktree)
        if self.is_gone or self._was is None or now == self._was:
            return
        self.is_gone = True
        how = "was removed" if now is None else "was replaced by another folder"
        yield Note(
            incident_class="worktree_gone",
            at_ns=self._machine.clock.now_ns(),
            summary=f"The gateway's folder `{self._worktree}` {how} while it was running.",
            detail={"worktree": str(self._worktree), "isReplaced": now is not None},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The database of another gateway."""

    record: GatewayRecord
    variable: str


class DatabaseCheck:
    """Another running gateway on record names the same database; each pair is said once."""

    every_s = 10.0

    def __init__(self, machine: Machine, record: GatewayRecord) -> None:
        self._machine = machine
        self._record = record
        self._known: set[str] = set()

    def look(self) -> Iterator[Note]:
        """Read the records of the others."""
        if not self._record.databases:
            return
        for other in find_all(self._machine):
            if not isinstance(other, GatewayRecord) or other.run_id in self._known:
                continue
            if other.run_id == self._record.run_id or not self._is_running(other):
                continue
            pair = self._shared_with(other)
            if pair is not None:
                self._known.add(other.run_id)
                yield self._note(other, *pair)

    def _is_running(self, other: GatewayRecord) -> bool:
        return standing(self._machine, other.identity).state in ("up", "suspended")

    def _shared_with(self, other: GatewayRecord) -> tuple[str, str] | None:
        theirs = {digest: name for name, digest in other.databases.items()}
        for name, digest in self._record.databases.items():
            if digest in theirs:
                return name, theirs[digest]
        return None

    def _note(self, other: GatewayRecord, ours: str, theirs: str) -> Note:
        through = f"`{ours}`" if ours == theirs else f"`{ours}` here, `{theirs}` there"
        return Note(
            incident_class="shared_database",
            at_ns=self._machine.clock.now_ns(),
            summary=f"The gateway `{other.name}` of `{other.worktree}` "
            f"(PID {other.identity.pid}) is running on the same database ({through}).",
            detail={
                "name": other.name,
                "worktree": other.worktree,
                "pid": other.identity.pid,
                "variable": ours,
                "otherVariable": theirs,
            },
        )
