"""Look at everything that may be a gateway, once; the verdicts are made of it in `strays`."""

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from orchestrator import records
from orchestrator.exposure import members
from orchestrator.holding import Holding, held_by
from orchestrator.lifecycle import Machine, find_all, standing_of
from orchestrator.ports import Absence, ProcessDetail, ProcessInfo, Use, Worktree
from orchestrator.records import UPSTREAM_OF, GatewayRecord
from orchestrator.stopping import ourselves_and_ancestors
from orchestrator.strays import Stray, marked_without_record, strays
from orchestrator.suspects import suspicions
from orchestrator.verdicts import Known, Marked, Scene
from orchestrator.worktrees import Place, owner_of, place_of, undeleted


def survey(machine: Machine, *, near: str) -> tuple[Stray, ...]:
    """Return every gateway on record and every candidate that is not.

    Args:
        machine: The ports.
        near: The folder of the caller: working trees of its repository are known by branch.
    """
    table = machine.table.everyone()
    found = find_all(machine)
    recorded = [one for one in found if isinstance(one, GatewayRecord)]
    unreadable = {one.path: one.why for one in found if not isinstance(one, GatewayRecord)}
    spared = ourselves_and_ancestors(machine)
    marked = marked_without_record(table, {one.run_id for one in recorded}, spared)
    ports = _ports(machine)
    mine = {
        one.pid
        for record in recorded
        for one in members(table, leader=record.identity, marker=record.run_id)
    }
    taken = {*spared, *mine, *(one.pid for group in marked.values() for one in group)}
    suspected = suspicions(
        table,
        ports=ports,
        recorded_ports={one.port: one.name for one in recorded},
        spared=taken,
    )
    strangers = [one for group in marked.values() for one in group]
    strangers += [one.process for one in suspected]
    trees = _Trees(machine, [near, *(one.worktree for one in recorded)])
    us = machine.table.look(machine.table.ourselves().pid)
    scene = Scene(
        us=machine.table.ourselves(),
        user=-1 if isinstance(us, Absence) else us.user,
        state_root=str(machine.state.root),
        table=table,
        known=tuple(_known(machine, one, trees, table) for one in recorded),
        unreadable=tuple(unreadable.items()),
        marked=tuple(
            _marked(machine, run_id, group, unreadable) for run_id, group in marked.items()
        ),
        suspicions=suspected,
        places=trees.places(strangers),
        details=_details(machine, [*mine, *(one.pid for one in strangers)]),
        attached=_attached(machine, [one.process for one in suspected]),
        ports=ports,
    )
    return strays(scene)


def _attached(machine: Machine, processes: Iterable[ProcessInfo]) -> dict[int, Holding]:
    held = {}
    for one in processes:
        use = machine.state.use_of(records.use_name(attached_id(machine, one)))
        holding = held_by(machine, use)
        if holding is not None:
            held[one.pid] = holding
    return held


def attached_id(machine: Machine, one: ProcessInfo) -> str:
    """Return the instance that a process of somebody else is held under by who is attached."""
    folder = one.folder or "/"
    nearest = machine.worktrees.holding(folder)
    worktree = Path(folder if nearest is None else nearest.path)
    return records.Instance(worktree=worktree, name=records.attached_name(one.pid)).id


def _ports(machine: Machine) -> dict[int, tuple[int, ...]]:
    found: dict[int, set[int]] = {}
    for listener in machine.sockets.all_listeners():
        for pid in listener.pids:
            found.setdefault(pid, set()).add(listener.port)
    return {pid: tuple(sorted(ports)) for pid, ports in found.items()}


def _details(machine: Machine, pids: Iterable[int]) -> dict[int, ProcessDetail]:
    return {pid: machine.table.detail(pid) for pid in set(pids)}


def _known(
    machine: Machine, record: GatewayRecord, trees: "_Trees", table: tuple[ProcessInfo, ...]
) -> Known:
    uses = [machine.state.use_of(records.use_name(one)) for one in use_ids(record)]
    held = next((name for name in (held_by(machine, use) for use in uses) if name), None)
    quiet = [use.quiet_s for use in uses if use.quiet_s is not None]
    return Known(
        record=record,
        standing=standing_of(machine, record, table),
        place=trees.place(record.worktree),
        held_by=held,
        busy_by=_busy_by(machine, record.id),
        quiet_s=min(quiet, default=None),
    )


def use_ids(record: GatewayRecord) -> tuple[str, ...]:
    """Return the instances whose users use this one: itself, and whose simulator it is."""
    owner = record.labels.get(UPSTREAM_OF)
    if not isinstance(owner, str):
        return (record.id,)
    return record.id, records.Instance(worktree=Path(record.worktree), name=owner).id


def _busy_by(machine: Machine, instance_id: str) -> str | None:
    use: Use = machine.state.use_of(records.lock_name(instance_id))
    if not use.is_held:
        return None
    return use.notes[0] if use.notes else "another command"


def _marked(
    machine: Machine,
    run_id: str,
    processes: tuple[ProcessInfo, ...],
    unreadable: Mapping[str, str],
) -> Marked:
    path = next((one.record_path for one in processes if one.record_path), None)
    if path is None or PurePath(path).parent != machine.state.root:
        return Marked(run_id=run_id, record_path=path, processes=processes)
    instance_id = PurePath(path).stem
    return Marked(
        run_id=run_id,
        record_path=path,
        processes=processes,
        held_by=held_by(machine, machine.state.use_of(records.use_name(instance_id))),
        busy_by=_busy_by(machine, instance_id),
        is_record_unreadable=path in unreadable,
    )


class _Trees:
    """Working trees, asked for once per repository."""

    def __init__(self, machine: Machine, folders: Iterable[str]) -> None:
        self._ports = machine.worktrees
        self._listed: dict[str, Worktree] = {}
        for folder in folders:
            self._learn(folder)

    def _learn(self, folder: str) -> None:
        if folder not in self._listed and self._ports.exists(folder):
            self._listed |= {one.path: one for one in self._ports.around(folder)}

    def place(self, worktree: str) -> Place:
        """Return a recorded working tree as it is now."""
        is_there = self._ports.exists(worktree)
        return place_of(worktree, self._listed.values(), is_there=is_there)

    def places(self, processes: Iterable[ProcessInfo]) -> dict[int, Place]:
        """Return where processes without a record run; what is not seen is left out."""
        found = {}
        for one in processes:
            if one.folder is not None:
                found[one.pid] = self._of_folder(one.folder)
        return found

    def _of_folder(self, seen: str) -> Place:
        folder, is_deleted = undeleted(seen)
        nearest = None if is_deleted else self._ports.holding(folder)
        if nearest is not None:
            self._learn(nearest.path)
        owner = owner_of(folder, [*self._listed.values(), *([nearest] if nearest else [])])
        if owner is None or (is_deleted and self._ports.exists(owner.path)):
            # What was removed may have been a working tree inside of another one.
            return Place(worktree=folder, is_gone=is_deleted)
        return Place(
            worktree=owner.path,
            branch=owner.branch,
            is_gone=owner.is_gone or not self._ports.exists(owner.path),
        )
