"""See that the build a gateway was started from is not the build on the disk any more.

A file counts as changed when its content is another; a build that writes the same again is none.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestrator.lifecycle import Machine
from orchestrator.notes import Note, listed
from orchestrator.records import GatewayRecord, is_of_worktree
from orchestrator.watch_ports import Stamp

_MOST_HASHED_BYTES = 16 * 1024 * 1024
_PAUSE_NS = 60_000_000_000
_SHORT = 12


class BuildCheck:
    """Compares the entry, the code beside and below it, and git's HEAD with how they were.

    Args:
        machine: The ports.
        record: Of the running gateway.
    """

    every_s = 5.0

    def __init__(self, machine: Machine, record: GatewayRecord) -> None:
        self._machine = machine
        self._worktree = Path(record.worktree)
        self._root = _root(record)
        self._has_head = is_of_worktree(record)
        self._head = record.build.commit if self._has_head else None
        self._stamps: Mapping[str, Stamp] = {}
        self._digests: dict[str, str | None] = {}
        self._said_ns: int | None = None
        self._pending = self._first(record)

    def look(self) -> Iterator[Note]:
        """Look at the stamps of all files, and into those whose stamp is another.

        A running build changes file after file: what comes within a minute of the last notice is
        said together after it.
        """
        if self._machine.premises.folder_id(self._worktree) is None:
            return
        self._pending |= self._changed_files()
        if (moved := self._moved_head()) is not None:
            self._pending[""] = moved
        now_ns = self._machine.clock.now_ns()
        is_early = self._said_ns is not None and now_ns - self._said_ns < _PAUSE_NS
        if self._pending and not is_early:
            self._said_ns = now_ns
            yield self._note(now_ns)
            self._pending = {}

    def _first(self, record: GatewayRecord) -> dict[str, str]:
        """Note how everything is; the entry may have changed since it was started."""
        if self._root is None:
            return {}
        self._stamps = self._machine.premises.sources(self._root)
        if sum(size for _, size, _ in self._stamps.values()) <= _MOST_HASHED_BYTES:
            self._digests = {name: self._digest(name) for name in self._stamps}
        entry = Path(record.entry or "")
        then = record.build.entry_sha256
        if entry.is_absolute() and then is not None:
            now = self._machine.premises.digest(entry)
            if now != then:
                return {entry.name: "changed"}
        return {}

    def _digest(self, name: str) -> str | None:
        assert self._root is not None  # noqa: S101  # without one there is nothing to hash
        is_whole = self._root.name == name and self._machine.facts.is_file(self._root)
        return self._machine.premises.digest(self._root if is_whole else self._root / name)

    def _changed_files(self) -> dict[str, str]:
        if self._root is None:
            return {}
        before, now = self._stamps, self._machine.premises.sources(self._root)
        self._stamps = now
        found = dict.fromkeys(before.keys() - now.keys(), "removed")
        found |= dict.fromkeys(now.keys() - before.keys(), "new")
        for name in sorted(now.keys() & before.keys()):
            if now[name] != before[name] and self._is_other(name):
                found[name] = "changed"
        for name in now.keys() - before.keys():
            # A clean build removes all and writes it again: what comes back as it was is no news.
            if name in self._digests and not self._is_other(name):
                del found[name]
                self._pending.pop(name, None)
        return found

    def _is_other(self, name: str) -> bool:
        if name not in self._digests:
            return True
        before, self._digests[name] = self._digests[name], self._digest(name)
        return before != self._digests[name]

    def _moved_head(self) -> str | None:
        if not self._has_head:
            return None
        now = self._machine.premises.head(self._worktree)
        if now is None or now == self._head:
            return None
        before, self._head = self._head, now
        if before is None:
            return None
        return f"git's HEAD went from {before[:_SHORT]} to {now[:_SHORT]}"

    def _note(self, now_ns: int) -> Note:
        head = self._pending.pop("", None)
        names = sorted(self._pending)
        told = [] if head is None else [head]
        if names:
            kinds = {kind: sum(one == kind for one in self._pending.values()) for kind in _KINDS}
            counts = ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)
            told.insert(0, f"{listed(names)} ({counts})")
        return Note(
            incident_class="build_changed",
            at_ns=now_ns,
            summary=f"The build changed on disk while the gateway was running: {'; '.join(told)}.",
            detail={"files": {name: self._pending[name] for name in names[:50]}, "head": head},
        )


_KINDS = ("changed", "new", "removed")


def _root(record: GatewayRecord) -> Path | None:
    """Return what holds the code that runs; ``None`` = a gateway of our own.

    Of an installed program only the entry: its package manager's folder is no build of ours.
    """
    if record.labels.get("upstream") == "embedded" or record.entry is None:
        return None
    entry = Path(record.entry)
    if not is_of_worktree(record):
        return entry
    return entry.parent if entry.is_absolute() else Path(record.worktree)
