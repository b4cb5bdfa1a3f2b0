"""End a gateway that was forgotten: a small detached process of ours minds it.

It is spawned like a gateway, is on record beside it, shows nothing on its command line that people
kill by, carries no marker of the gateway (it is no member), and ends with it. It stops it under the
same locks and by the same identity as any command, and never while somebody holds it.
"""

import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

import orchestrator
from orchestrator import records
from orchestrator.errors import NotStarted, OrchestratorError, StateUnusable
from orchestrator.exposure import exposed, patterns_for
from orchestrator.identity import Identity
from orchestrator.lease import due, pause_s
from orchestrator.lifecycle import Machine, Started, StartRequest, find_all, hold_verified, standing
from orchestrator.ports import Absence, Held, SpawnOrder
from orchestrator.records import UPSTREAM_OF, GatewayRecord, Lease, Usage
from orchestrator.stopping import put_away

_log = logging.getLogger(__name__)

_SAYS_SO_S = 30.0
_TURN_S = 0.05
_GIVE_UP_GRACE_S = 2.0
_TRIES = 5
_RETRY_S = 30.0
# How soon a gateway whose time is over is tried again while somebody holds it.
_HELD_S = 1.0
# Written to the state folder at most this often.
_NOTED_EVERY_NS = 1_000_000_000
_SCRIPT = """\
import sys
sys.path[:] = {paths!r}
from orchestrator.cli.forgotten import mind
mind({root!r}, {instance!r})
"""


def with_lease(machine: Machine, request: StartRequest, started: Started) -> Started:
    """Give a gateway that is up its limits, if it was asked for with any; its lock is held.

    Asked for again with limits, it gets these from now on; without, it keeps what it had.

    Raises:
        NotStarted: Nobody minds it; a gateway that was started just now has been ended.
    """
    if request.ttl_s is None and request.idle_stop_s is None:
        return started
    lease = Lease(
        ttl_s=request.ttl_s, idle_stop_s=request.idle_stop_s, since_ns=machine.clock.now_ns()
    )
    record = msgspec.structs.replace(started.record, lease=lease)
    try:
        minded = _minded(machine, record)
    except BaseException:
        if not started.was_up:
            put_away(machine, record, grace_s=_GIVE_UP_GRACE_S, held=started.held)
        started.held.close()
        raise
    return Started(record=minded, held=started.held, events=started.events, was_up=started.was_up)


def _minded(machine: Machine, record: GatewayRecord) -> GatewayRecord:
    if record.minder is not None and standing(machine, record.minder).state == "up":
        machine.state.write(records.record_name(record.id), records.encode(record))
        return record
    name = records.minder_id(record.id)
    script, log = machine.state.root / f"{name}.py", machine.state.root / f"{name}.log"
    machine.log.begin(log)
    machine.state.remove(records.usage_name(record.id))
    machine.shims.place(script, _script(machine, record), None)
    order = SpawnOrder(
        # The interpreter itself: the path of a virtual environment may name a worktree.
        executable=Path(getattr(sys, "_base_executable", sys.executable)).resolve(),
        argv=("python3", "-I", "-S", str(script)),
        environment=_environment(record),
        folder=Path("/"),
        log=log,
    )
    with machine.spawner.spawn(order) as birth:
        held = machine.holder.hold(birth.pid)
        seen = machine.table.look(birth.pid)
        if held is None or isinstance(seen, Absence):
            raise NotStarted("what should end the gateway ended before it was executed")
        own = (script, log, machine.state.root / records.usage_name(record.id))
        files = tuple(dict.fromkeys([*record.files, *map(str, own)]))
        record = msgspec.structs.replace(record, minder=seen.identity, files=files)
        machine.state.write(records.record_name(record.id), records.encode(record))
    try:
        _require_minding(machine, record, held, log)
    finally:
        held.close()
    return _with_its_exposure(machine, record, birth.pid)


def _environment(record: GatewayRecord) -> dict[str, str]:
    """Return ours where its teardown needs it; else next to nothing, for hours."""
    if records.TEARDOWN not in record.labels:
        return {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    return {name: value for name, value in os.environ.items() if not name.startswith("GWB_")}


def _script(machine: Machine, record: GatewayRecord) -> str:
    ours = str(Path(orchestrator.__file__).parent.parent)
    here = str(Path.cwd())
    # Not the working directory: a worktree has modules of its own.
    paths = [ours, *(one for one in sys.path if one not in ("", here, ours))]
    return _SCRIPT.format(paths=paths, root=str(machine.state.root), instance=record.id)


def _require_minding(machine: Machine, record: GatewayRecord, held: Held, log: Path) -> None:
    """Wait until it says that it minds the gateway."""
    deadline_ns = machine.clock.now_ns() + int(_SAYS_SO_S * 1e9)
    while True:
        said = records.decode_usage(machine.state.read(records.usage_name(record.id)))
        if said is not None and said.run_id == record.run_id:
            return
        is_dead = held.ended(_TURN_S)
        if is_dead or machine.clock.now_ns() >= deadline_ns:
            state = "ended" if is_dead else f"said nothing for {_SAYS_SO_S:g} s"
            tail = "".join(f"\n  | {line}" for line in machine.log.tail(log, 10))
            message = f"what should end the gateway in time {state}; its log `{log}`:{tail}"
            raise NotStarted(message)


def _with_its_exposure(machine: Machine, record: GatewayRecord, pid: int) -> GatewayRecord:
    seen = machine.table.look(pid)
    if isinstance(seen, Absence):
        return record
    entry = Path(record.entry) if record.entry else None
    found = exposed([seen], patterns_for(entry=entry, worktree=Path(record.worktree)))
    if not found:
        return record
    told = msgspec.structs.replace(record, exposure=(*record.exposure, *found))
    machine.state.write(records.record_name(record.id), records.encode(told))
    return told


def mind(
    machine: Machine,
    instance_id: str,
    *,
    tidy: Callable[[GatewayRecord], None] = lambda _: None,
) -> None:
    """Mind one gateway until it is gone, or nobody wants it to be minded any more.

    Args:
        machine: The ports.
        instance_id: Of the gateway.
        tidy: Called once it is down, before its simulator goes.
    """
    record = _on_record(machine, instance_id)
    if record is None or record.lease is None:
        return
    held = hold_verified(machine, record.identity)
    if held is None:
        return
    try:
        _Minder(machine, record, held, tidy).run()
    finally:
        held.close()


def _on_record(machine: Machine, instance_id: str) -> GatewayRecord | None:
    found = records.decode(machine.state.read(records.record_name(instance_id)) or b"")
    return found if isinstance(found, GatewayRecord) else None


class _Minder:
    """One gateway and when it was last used."""

    def __init__(
        self,
        machine: Machine,
        record: GatewayRecord,
        held: Held,
        tidy: Callable[[GatewayRecord], None],
    ) -> None:
        self._machine = machine
        self._tidy = tidy
        self._id, self._run_id, self._identity = record.id, record.run_id, record.identity
        self._held = held
        self._seen: frozenset[str] | None = None
        self._used_ns = self._noted_ns = machine.clock.now_ns()
        self._tries = 0

    def run(self) -> None:
        """Look, decide, wait; its death ends the wait at once."""
        self._note()
        while True:
            record = self._still_ours()
            if record is None or record.lease is None or self._tries >= _TRIES:
                return
            self._look(record)
            now_ns = self._machine.clock.now_ns()
            why = due(record.lease, now_ns=now_ns, used_ns=self._used_ns)
            if why is not None and self._end(record, why):
                return
            if self._held.ended(self._pause_s(record.lease, now_ns, is_due=why is not None)):
                return

    def _pause_s(self, lease: Lease, now_ns: int, *, is_due: bool) -> float:
        if is_due:
            return _RETRY_S if self._tries else _HELD_S
        return pause_s(lease, now_ns=now_ns, used_ns=self._used_ns)

    def _still_ours(self) -> GatewayRecord | None:
        record = _on_record(self._machine, self._id)
        is_same = record is not None and record.identity == self._identity
        is_mine = record is not None and record.minder == self._machine.table.ourselves()
        return record if is_same and is_mine else None

    def _look(self, record: GatewayRecord) -> None:
        members = [one.pid for one in record.members]
        now = self._machine.traffic.traffic(record.port, members)
        # What can't be seen counts as use: nothing is ended on a guess.
        is_used = now is None or now.established > 0
        if now is not None:
            is_used |= self._seen is not None and bool(now.seen - self._seen)
            self._seen = now.seen
        if is_used:
            self._used_ns = self._machine.clock.now_ns()
            if self._used_ns - self._noted_ns >= _NOTED_EVERY_NS:
                self._note_use()
        self._machine.log.guard(Path(record.log), records.LOG_LIMIT_BYTES)

    def _note(self) -> None:
        self._noted_ns = self._used_ns
        usage = Usage(run_id=self._run_id, used_ns=self._used_ns)
        self._machine.state.write(records.usage_name(self._id), records.encode(usage))

    def _note_use(self) -> None:
        try:
            self._note()
        except StateUnusable as fault:  # a full disk: what ends the gateway must not end by it
            _log.warning("%s", fault.message)

    def _end(self, record: GatewayRecord, why: str) -> bool:
        """Stop it unless somebody holds it; return whether it is gone."""
        with _alone(self._machine, record.id) as is_ours:
            again = self._still_ours() if is_ours else None
            if again is None or again.lease is None:
                self._used_ns = self._machine.clock.now_ns()
                return False
            if due(again.lease, now_ns=self._machine.clock.now_ns(), used_ns=self._used_ns) is None:
                return False
            try:
                put_away(self._machine, again, grace_s=again.grace_s, held=self._held, because=why)
            except OrchestratorError as fault:
                self._tries += 1
                _log.warning("%s", fault.message)
                return False
            self._tidied(again)
        _end_simulator(self._machine, record)
        shutil.rmtree(self._machine.state.root / f"{record.id}.d", ignore_errors=True)
        return True

    def _tidied(self, record: GatewayRecord) -> None:
        try:
            self._tidy(record)
        except OrchestratorError as fault:
            _log.warning("%s", fault.message)


@contextmanager
def _alone(machine: Machine, instance_id: str) -> Iterator[bool]:
    """Give whether nobody uses, starts or stops it; inside the context that stays so."""
    note = f"what ends it in time, PID {machine.table.ourselves().pid}"
    held = []
    try:
        for name in (records.use_name(instance_id), records.lock_name(instance_id)):
            lock = machine.state.lock(name, note)
            if isinstance(lock, str):
                break
            held.append(lock)
        yield len(held) == 2  # noqa: PLR2004  # both
    finally:
        for lock in held:
            lock.release()


def _end_simulator(machine: Machine, gateway: GatewayRecord) -> None:
    for one in find_all(machine):
        if not isinstance(one, GatewayRecord) or one.worktree != gateway.worktree:
            continue
        if one.labels.get(UPSTREAM_OF) == gateway.name:
            with _alone(machine, one.id) as is_ours:
                if is_ours:
                    put_away(machine, one, grace_s=one.grace_s, held=None)


def minder_of(machine: Machine, record: GatewayRecord) -> Identity | None:
    """Return the minder of a gateway where it lives; ``None`` = nobody minds it."""
    if record.minder is None or standing(machine, record.minder).state != "up":
        return None
    return record.minder
