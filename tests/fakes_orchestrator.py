"""Fakes for the orchestrator's ports: a small machine that tests set up and look at."""

import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from orchestrator.errors import ExecFailed, StateUnusable
from orchestrator.events import Exit
from orchestrator.identity import Identity
from orchestrator.lifecycle import Machine
from orchestrator.ports import (
    Absence,
    Birth,
    Build,
    HealthAnswer,
    HealthQuestion,
    Held,
    Listener,
    Lock,
    ProcessDetail,
    ProcessInfo,
    SoleLock,
    SpawnOrder,
    Traffic,
    Use,
    Worktree,
)
from orchestrator.watch_ports import Connections, Kin, Space, Stamp, Usage

US = 500
MARK = "run-0123456789"


def identity(pid: int = 4242, ticks: int = 1000, boot: str = "boot-a", namespace: str = "ns-1"):
    return Identity(boot_id=boot, pid_namespace=namespace, pid=pid, start_ticks=ticks)


def process(pid: int = 4242, ticks: int = 1000, **changes) -> ProcessInfo:
    """A living process that leads its own session, adopted by PID 1."""
    usual = ProcessInfo(
        identity=identity(pid, ticks),
        parent=1,
        group=pid,
        session=pid,
        state="alive",
        name="node",
        user=1000,
        has_terminal=False,
        argv=("node", f"/state/{pid:08x}.cjs"),
    )
    return replace(usual, **changes)


class FakeClock:
    """Goes on by a millisecond with each reading, and by whatever is waited."""

    def __init__(self) -> None:
        self.at_ns = 1_000_000_000
        self.slept_ns = 0
        self.has_boot_clock = True

    def now_ns(self) -> int:
        self.at_ns += 1_000_000
        return self.at_ns

    def boot_ns(self) -> int | None:
        return self.at_ns + self.slept_ns if self.has_boot_clock else None

    def utcnow(self) -> datetime:
        return datetime(2026, 1, 2, tzinfo=UTC) + timedelta(microseconds=self.at_ns // 1000)

    def sleep(self, seconds: float) -> None:
        self.at_ns += int(seconds * 1e9)


class FakeTable:
    """A process table that tests fill."""

    def __init__(self, *processes: ProcessInfo) -> None:
        self.processes = {one.pid: one for one in processes}
        self.hidden: set[int] = set()
        self.details: dict[int, ProcessDetail] = {}
        self.processes[US] = process(US, 10, parent=1)

    def look(self, pid: int) -> ProcessInfo | Absence:
        if pid in self.hidden:
            return Absence.HIDDEN
        return self.processes.get(pid, Absence.GONE)

    def everyone(self) -> tuple[ProcessInfo, ...]:
        return tuple(one for one in self.processes.values() if one.pid not in self.hidden)

    def detail(self, pid: int) -> ProcessDetail:
        return self.details.get(pid, ProcessDetail(resident_bytes=64 * 2**20, namespace="ns-1"))

    def ourselves(self) -> Identity:
        return self.processes[US].identity


@dataclass
class FakeHeld:
    """A held process of the fake table; dies of the signals it does not ignore."""

    table: FakeTable
    clock: FakeClock
    pid: int
    deadly: frozenset[int] = frozenset({signal.SIGTERM, signal.SIGKILL})
    sent: list[tuple[int, int, bool]] = field(default_factory=list)
    end: Exit = field(default_factory=lambda: Exit(signal=15, source="pidfd"))
    is_closed: bool = False
    interrupts: int = 0

    def ended(self, timeout_s: float) -> bool:
        if timeout_s and self.interrupts:
            self.interrupts -= 1
            raise KeyboardInterrupt
        seen = self.table.processes.get(self.pid)
        if seen is None or seen.state == "zombie":
            return True
        self.clock.sleep(timeout_s)
        return False

    def exit(self) -> Exit:
        return self.end

    def send(self, number: int, *, group: bool = False) -> bool:
        self.sent.append((self.pid, number, group))
        seen = self.table.processes.get(self.pid)
        if seen is None:
            return False
        if number in self.deadly:
            self.table.processes[self.pid] = replace(seen, state="zombie")
            self.end = Exit(signal=number, source="pidfd")
        return True

    def close(self) -> None:
        self.is_closed = True


class FakeHolder:
    """Holds processes of the fake table; one list of signals for all of them."""

    def __init__(self, table: FakeTable, clock: FakeClock) -> None:
        self.table = table
        self.clock = clock
        self.sent: list[tuple[int, int, bool]] = []
        self.deadly: dict[int, frozenset[int]] = {}
        self.kills: list[int | None] = [0]

    def hold(self, pid: int) -> Held | None:
        if pid not in self.table.processes:
            return None
        deadly = self.deadly.get(pid, frozenset({signal.SIGTERM, signal.SIGKILL}))
        return FakeHeld(self.table, self.clock, pid, deadly, self.sent)

    def memory_counter(self, pid: int) -> Callable[[], int | None]:
        return lambda: self.kills.pop(0) if len(self.kills) > 1 else self.kills[0]


class FakeSockets:
    """A socket table that tests fill."""

    def __init__(self) -> None:
        self.listening: list[Listener] = []
        self.owners: frozenset[int] = frozenset()
        self.floor = 32_768
        self.obstacles: dict[int, str] = {}
        self.is_everything_taken = False

    def listeners(self, port: int) -> tuple[Listener, ...]:
        return tuple(one for one in self.listening if one.port == port)

    def all_listeners(self) -> tuple[Listener, ...]:
        return tuple(self.listening)

    def socket_numbers(self, port: int) -> frozenset[int] | None:
        return frozenset(id(one) for one in self.listening if one.port == port)

    def obstacle(self, port: int) -> str | None:
        if self.is_everything_taken:
            return "something listens on 127.0.0.1"
        return self.obstacles.get(port)

    def peers(
        self, ours: tuple[str, int], theirs: tuple[str, int], near: Collection[int]
    ) -> frozenset[int]:
        return self.owners

    def ephemeral_floor(self) -> int:
        return self.floor


class FakeTraffic:
    """Gives prepared readings, the last one for ever."""

    def __init__(self, *readings: Traffic | None) -> None:
        self.readings = list(readings) or [Traffic(established=0, seen=frozenset())]

    def traffic(self, port: int, members: Collection[int]) -> Traffic | None:
        return self.readings.pop(0) if len(self.readings) > 1 else self.readings[0]


class FakeProbe:
    """Gives prepared answers, the last one for ever."""

    def __init__(self, *answers: HealthAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[HealthQuestion] = []

    def ask(self, question: HealthQuestion, near: Collection[int]) -> HealthAnswer:
        self.asked.append(question)
        if not self.answers:
            return HealthAnswer(status=200, owners=frozenset(near))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class FakeSpawner:
    """Puts a process into the fake table."""

    def __init__(self, table: FakeTable) -> None:
        self.table = table
        self.pids = iter(range(4242, 4300))
        self.adopted_by = (1, "init")
        self.orders: list[SpawnOrder] = []
        self.refusal: ExecFailed | None = None
        self.newborn: dict[str, Any] = {}
        self.is_interrupted = False
        """Ctrl-C comes after the word to execute."""

    def adopter(self) -> tuple[int, str]:
        return self.adopted_by

    @contextmanager
    def spawn(self, order: SpawnOrder) -> Iterator[Birth]:
        self.orders.append(order)
        pid = next(self.pids)
        born = process(
            pid,
            argv=order.argv,
            marker=order.environment.get("GWB_RUN"),
            record_path=order.environment.get("GWB_RECORD"),
        )
        self.table.processes[pid] = replace(born, **self.newborn)
        yield Birth(pid=pid)
        if self.refusal is not None:
            del self.table.processes[pid]
            raise self.refusal
        if self.is_interrupted:
            raise KeyboardInterrupt


class FakeLock:
    """A lock in memory."""

    descriptor = -1

    def __init__(self, locks: dict[str, Any], name: str) -> None:
        self._locks = locks
        self._name = name

    def release(self) -> None:
        self._locks.pop(self._name, None)

    def remove(self) -> None:
        self.release()


class FakeState:
    """Files in memory."""

    def __init__(self) -> None:
        self.root = Path("/state")
        self.files: dict[str, bytes] = {}
        self.locks: dict[str, str] = {}
        self.uses: dict[str, Use] = {}
        self.quiet: dict[str, float] = {}
        self.ages: dict[str, float] = {}
        self.room: int | None = None
        """How many files fit; ``None`` = any number."""

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def write(self, name: str, data: bytes) -> None:
        if self.room is not None and len(self.files.keys() | {name}) > self.room:
            raise StateUnusable(str(self.root / name), "No space left on device")
        self.files[name] = data

    def remove(self, name: str) -> None:
        self.files.pop(name, None)

    def names(self, suffix: str) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.files if name.endswith(suffix)))

    def lock(self, name: str, note: str) -> SoleLock | str:
        if name in self.locks:
            return self.locks[name]
        if name in self.uses:
            return self.uses[name].notes[0]
        self.locks[name] = note
        return FakeLock(self.locks, name)

    def share(self, name: str, note: str) -> Lock | str:
        if name in self.locks:
            return self.locks[name]
        self.uses[name] = Use(is_held=True, notes=(note,), quiet_s=0.0)
        return FakeLock(self.uses, name)

    def use_of(self, name: str) -> Use:
        if name in self.locks:
            return Use(is_held=True, notes=(self.locks[name],))
        return self.uses.get(name, Use(is_held=False, quiet_s=self.quiet.get(name)))

    def age_s(self, name: str) -> float | None:
        return self.ages.get(name, 0.0) if name in self.files else None


class FakeFacts:
    """Says that everything is there, unless told otherwise."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self.shebangs: dict[str, tuple[str, ...]] = {}
        self.made = Build(entry_sha256="0" * 64)
        self.node_runs_main = True

    def program(self, name: str, *, search_path: str, folder: Path) -> Path | None:
        return None if name in self.missing else Path("/usr/bin") / Path(name).name

    def script_of(self, path: Path) -> tuple[str, ...]:
        interpreter = self.shebangs.get(str(path), ())
        return (*interpreter, str(path)) if interpreter else ()

    def is_file(self, path: Path) -> bool:
        return str(path) not in self.missing

    def build(self, worktree: Path, entry: Path | None) -> Build:
        return self.made

    def runs_main(self, node: Path) -> bool:
        return self.node_runs_main


class FakeShims:
    """Remembers what was placed."""

    def __init__(self) -> None:
        self.placed: dict[Path, str] = {}

    def place(self, path: Path, text: str, link_to: Path | None) -> None:
        self.placed[path] = text

    def remove(self, path: Path) -> None:
        self.placed.pop(path, None)


class FakeWorktrees:
    """Working trees that tests fill; every folder that is not in ``gone`` is there."""

    def __init__(self) -> None:
        self.listed: tuple[Worktree, ...] = ()
        self.gone: set[str] = set()
        self.asked: list[str] = []

    def around(self, folder: str) -> tuple[Worktree, ...]:
        self.asked.append(folder)
        return self.listed

    def holding(self, folder: str) -> Worktree | None:
        return None

    def exists(self, folder: str) -> bool:
        return folder not in self.gone


class FakeLog:
    """A log in memory."""

    def __init__(self) -> None:
        self.lines: tuple[str, ...] = ()
        self.guarded: list[Path] = []
        self.is_too_large = False

    def begin(self, path: Path) -> None:
        return

    def tail(self, path: Path, lines: int) -> tuple[str, ...]:
        return self.lines[-lines:]

    def size(self, path: Path) -> int:
        return len(self.lines)

    def since(self, path: Path, place: int) -> tuple[tuple[str, ...], int]:
        place = place if place <= len(self.lines) else 0
        return self.lines[place:], len(self.lines)

    def guard(self, path: Path, limit_bytes: int) -> bool:
        self.guarded.append(path)
        return self.is_too_large


class FakeMeter:
    """Knows what tests say of each process."""

    def __init__(self, table: FakeTable) -> None:
        self.table = table
        self.used: dict[int, Usage] = {}
        self.counted: Connections | None = Connections(incoming=0, waiting=0, outgoing=0)

    def pids(self) -> frozenset[int]:
        return frozenset(self.table.processes)

    def kin(self, pid: int) -> Kin | None:
        seen = self.table.processes.get(pid)
        if seen is None:
            return None
        ticks = seen.identity.start_ticks
        return Kin(
            start_ticks=ticks,
            parent=seen.parent,
            session=seen.session,
            is_stopped=seen.state == "stopped",
        )

    def usage(self, pid: int) -> Usage | None:
        seen = self.table.processes.get(pid)
        if seen is None or seen.state == "zombie":
            return None
        usual = Usage(pid=pid, start_ticks=seen.identity.start_ticks, parent=seen.parent)
        return self.used.get(pid, usual)

    def proportional_bytes(self, pid: int) -> int | None:
        return None

    def connections(self, port: int, pids: Collection[int]) -> Connections | None:
        return self.counted


class FakePremises:
    """Folders in memory: every one is there and has room until a test says otherwise."""

    def __init__(self) -> None:
        self.ids: dict[Path, tuple[int, int] | None] = {}
        self.files: dict[str, tuple[Stamp, str]] = {}
        self.commit: str | None = None
        self.room: dict[Path, Space | None] = {}

    def folder_id(self, path: Path) -> tuple[int, int] | None:
        return self.ids.get(path, (1, 1))

    def sources(self, root: Path) -> dict[str, Stamp]:
        return {name: stamp for name, (stamp, _) in self.files.items()}

    def digest(self, path: Path) -> str | None:
        found = self.files.get(path.name)
        return None if found is None else found[1]

    def head(self, worktree: Path) -> str | None:
        return self.commit

    def space(self, folder: Path) -> Space | None:
        return self.room.get(folder, Space(device=1, free_bytes=10**12, free_files=None))


@dataclass(kw_only=True)
class FakeMachine:
    """Every fake port, and the ``Machine`` made of them."""

    clock: FakeClock = field(default_factory=FakeClock)
    table: FakeTable = field(default_factory=FakeTable)
    sockets: FakeSockets = field(default_factory=FakeSockets)
    traffic: FakeTraffic = field(default_factory=FakeTraffic)
    probe: FakeProbe = field(default_factory=FakeProbe)
    state: FakeState = field(default_factory=FakeState)
    facts: FakeFacts = field(default_factory=FakeFacts)
    shims: FakeShims = field(default_factory=FakeShims)
    log: FakeLog = field(default_factory=FakeLog)
    worktrees: FakeWorktrees = field(default_factory=FakeWorktrees)
    premises: FakePremises = field(default_factory=FakePremises)
    machine_id: str | None = "machine-a"

    def __post_init__(self) -> None:
        self.holder = FakeHolder(self.table, self.clock)
        self.spawner = FakeSpawner(self.table)
        self.meter = FakeMeter(self.table)

    @property
    def ports(self) -> Machine:
        return Machine(
            clock=self.clock,
            table=self.table,
            holder=self.holder,
            sockets=self.sockets,
            traffic=self.traffic,
            probe=self.probe,
            spawner=self.spawner,
            state=self.state,
            facts=self.facts,
            shims=self.shims,
            log=self.log,
            worktrees=self.worktrees,
            meter=self.meter,
            premises=self.premises,
            machine_id=self.machine_id,
        )
