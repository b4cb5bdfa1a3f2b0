"""Look at a running gateway once a second: what it uses, and what changed around it.

In a thread of its own, in the process that started the gateway and never in the one that measures.
The watcher beside it (``watch``) waits for the death alone, so that nothing here can delay that.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.build_check import BuildCheck
from orchestrator.checks import (
    Check,
    DatabaseCheck,
    DiskCheck,
    ExposureCheck,
    LogCheck,
    SleepCheck,
    WorktreeCheck,
)
from orchestrator.exposure import patterns_for
from orchestrator.following import Members
from orchestrator.lifecycle import Machine
from orchestrator.notes import Note
from orchestrator.records import GatewayRecord
from orchestrator.resources import CpuTally, sample_values, total
from orchestrator.watch_ports import Connections, Usage

_CONNECTIONS_EVERY = 10
_MEMORY_EVERY = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What all members of a gateway used at one moment; names as in the journal."""

    at_ns: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Which gateway, and what is known about it besides its record."""

    record: GatewayRecord
    kill_patterns: tuple[str, ...] = ()
    """Beside the built-in ones and the names of the build."""
    secrets: tuple[str, ...] = ()
    """Values to mask in command lines."""
    folders: Mapping[Path, str] = field(default_factory=dict)
    """Where something is written, and what, beside the log."""


class Lookout:
    """Samples a gateway and notices what changes around it, until it is told to end.

    Args:
        machine: The ports.
        watched: The gateway.
        on_reading: Takes each sample; called in the lookout's thread.
        on_note: Takes each notice, likewise.
        turn_s: Time between two samples; the pauses of the checks shrink and grow with it.
    """

    def __init__(
        self,
        machine: Machine,
        watched: Watched,
        *,
        on_reading: Callable[[Reading], None],
        on_note: Callable[[Note], None],
        turn_s: float = 1.0,
    ) -> None:
        record = watched.record
        self._machine = machine
        self._port = record.port
        self._on_reading = on_reading
        self._on_note = on_note
        self._turn_s = turn_s
        self._members = Members(machine, record.identity, record.run_id)
        self._cpu = CpuTally()
        self._sleep = SleepCheck(machine)
        logged = {Path(record.log).parent: "the log"} if record.log else {}
        self._disk = DiskCheck(machine, {**logged, **watched.folders})
        self._watched = watched
        # Before anything is measured: what changes from here on is seen.
        self._checks = self._made()
        self._is_closer = False
        self._turns = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._awake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lookout", daemon=True)
        self._thread.start()

    def add_folder(self, folder: Path, what: str) -> None:
        """Look after the room in one more folder.

        Args:
            folder: Where something is written.
            what: The thing, as a sentence has it: ``the results``.
        """
        self._disk.add(folder, what)

    def look_closely(self) -> None:
        """Sample again at once, connections included: something is wrong with the gateway."""
        self._is_closer = True
        self._awake.set()

    def finish(self) -> None:
        """Take the last sample, memory included, and end: the gateway is about to be stopped."""
        if self._closing.is_set():
            return
        self.close()
        self._sample(with_memory=True, with_connections=True)

    def close(self) -> None:
        """End; returns when the thread is gone."""
        self._closing.set()
        self._awake.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        try:
            self._sample(with_memory=True, with_connections=True)
            self._watch(self._checks)
        except Exception as fault:  # noqa: BLE001  # the border of the thread: looking ends no run
            self._on_note(
                Note(
                    incident_class="watch_halted",
                    at_ns=self._machine.clock.now_ns(),
                    summary="The gateway is not sampled any more, and what changes around it is not "
                    f"noticed: {type(fault).__name__}: {fault}.",
                )
            )

    def _made(self) -> list[Check]:
        machine, watched, record = self._machine, self._watched, self._watched.record
        entry = Path(record.entry or "")
        patterns = patterns_for(
            entry=entry if entry.is_absolute() else None,
            worktree=Path(record.worktree),
            more=watched.kill_patterns,
        )
        checks: list[Check] = [
            self._sleep,
            ExposureCheck(machine, self._members.infos, patterns, watched.secrets),
            WorktreeCheck(machine, Path(record.worktree)),
            BuildCheck(machine, record),
            DatabaseCheck(machine, record),
            self._disk,
        ]
        return [*checks, LogCheck(machine, Path(record.log))] if record.log else checks

    def _watch(self, checks: list[Check]) -> None:
        due_ns = dict.fromkeys(range(len(checks)), 0)
        self._sleep.rest(0.0)
        while not self._closing.is_set():
            now_ns = self._machine.clock.now_ns()
            for number, check in enumerate(checks):
                if now_ns >= due_ns[number]:
                    due_ns[number] = now_ns + int(check.every_s * self._turn_s * 1e9)
                    for note in check.look():
                        self._on_note(note)
            self._rest()
            if not self._closing.is_set() and not self._sample_in_turn():
                return

    def _rest(self) -> None:
        self._sleep.rest(self._turn_s)
        self._awake.wait(self._turn_s)
        self._awake.clear()

    def _sample_in_turn(self) -> bool:
        self._turns += 1
        is_closer, self._is_closer = self._is_closer, False
        return self._sample(
            with_memory=self._turns % _MEMORY_EVERY == 0,
            with_connections=is_closer or self._turns % _CONNECTIONS_EVERY == 0,
        )

    def _sample(self, *, with_memory: bool, with_connections: bool) -> bool:
        """Take one sample; False once the gateway is gone."""
        with self._lock:
            members = self._members.usage()
            if not members:
                return False
            values = sample_values(
                members,
                cpu_ms=self._cpu.total_ms(members),
                proportional_bytes=self._memory_of(members) if with_memory else None,
                connections=self._connections_of(members) if with_connections else None,
            )
            self._on_reading(Reading(at_ns=self._machine.clock.now_ns(), values=values))
            return True

    def _memory_of(self, members: tuple[Usage, ...]) -> int | None:
        return total(self._machine.meter.proportional_bytes(one.pid) for one in members)

    def _connections_of(self, members: tuple[Usage, ...]) -> Connections | None:
        pids = [one.pid for one in members]
        return self._machine.meter.connections(self._port, pids)
