"""Working trees of a commit that one command makes for itself and removes again.

A tree lies in the state folder as the generated folder of nobody's gateway (`<8 hex>.d/t`), under a
lock that dies with its holders: what a killed command left is found and removed by the next one,
and by `clean`. The path holds no word that anybody kills by.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from orchestrator.errors import state_access
from orchestrator.faults import NotCheckedOut
from orchestrator.holding import hold_for_use
from orchestrator.leftovers import TREE, Leftover, holds_tree, remove_locks
from orchestrator.lifecycle import Machine, find_all
from orchestrator.ports import Checkouts, Commit, Lock
from orchestrator.records import GatewayRecord, Instance, use_name

_FOLDER = ".d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A working tree of one commit, for one run."""

    commit: Commit
    instance: Instance
    """Names its folder and locks; no gateway has this name."""
    folder: Path
    """Private: the tree, and the log of what was built in it."""
    hold: Lock
    """Whoever measures holds it too: the tree stays as long as one of them lives."""

    @property
    def path(self) -> Path:
        """The top of the working tree."""
        return self.folder / TREE

    def within(self, folder: Path) -> Path:
        """Return the place in this tree of a folder of the tree that the commit was named in."""
        return self.path / folder.resolve().relative_to(self.commit.top)


def make_tree(machine: Machine, checkouts: Checkouts, commit: Commit, name: str) -> Tree:
    """Make a working tree of a commit.

    Args:
        machine: The ports.
        checkouts: Git.
        commit: What is checked out.
        name: Of this run and side; nobody else uses it.

    Raises:
        NotCheckedOut: Git refused; nothing is left.
    """
    instance = Instance(worktree=commit.top, name=f"{name}-tree")
    folder = (machine.state.root / f"{instance.id}{_FOLDER}").resolve()
    hold = hold_for_use(machine, instance, name)
    tree = Tree(commit=commit, instance=instance, folder=folder, hold=hold)
    with state_access(folder):
        folder.mkdir(mode=0o700, parents=True)
    try:
        said = checkouts.add(commit, tree.path)
    except BaseException:
        remove_tree(machine, checkouts, tree)
        raise
    if said is not None:
        remove_tree(machine, checkouts, tree)
        raise NotCheckedOut(commit.sha, said)
    return tree


def remove_tree(machine: Machine, checkouts: Checkouts, tree: Tree) -> None:
    """Remove a working tree and all that was built in it."""
    checkouts.remove(tree.commit.top, tree.path)
    shutil.rmtree(tree.folder, ignore_errors=True)
    tree.hold.release()
    remove_locks(machine, tree.instance.id)


def remove_forgotten(machine: Machine, checkouts: Checkouts, repository: Path) -> tuple[Path, ...]:
    """Remove the trees of this repository whose command was killed and whose gateway is gone.

    Args:
        machine: The ports.
        checkouts: Git.
        repository: Any working tree of it.

    Returns:
        What was removed.
    """
    root = machine.state.root.resolve()
    places = [Path(one.path) for one in machine.worktrees.around(str(repository))]
    ours = [one for one in places if one.name == TREE and one.parent.parent == root]
    return tuple(one for one in ours if _forgotten(machine, checkouts, repository, one))


def forgotten_trees(
    machine: Machine, *, older_than_s: float, going: frozenset[str]
) -> tuple[Leftover, ...]:
    """Return the trees, of any repository, whose command was killed and whose gateway goes.

    Args:
        machine: The ports.
        older_than_s: Least age.
        going: Instances on record that will be gone before the trees are removed.
    """
    found = []
    for name in machine.state.names(_FOLDER):
        age_s = machine.state.age_s(name)
        if age_s is None or age_s < older_than_s or not holds_tree(machine, name):
            continue
        instance_id = name.removesuffix(_FOLDER)
        is_held = machine.state.use_of(use_name(instance_id)).is_held
        if is_held or _is_run_in(machine, _place(machine, name), apart_from=going):
            continue
        why = "the working tree of a comparison that was killed"
        found.append(Leftover(name=name, instance_id=instance_id, why=why))
    return tuple(found)


def remove_trees(
    machine: Machine, checkouts: Checkouts, wanted: tuple[Leftover, ...]
) -> tuple[Leftover, ...]:
    """Remove trees, each looked at again, and have their repositories forget them.

    Returns:
        Those that were removed.
    """
    done = []
    for one in wanted:
        place = _place(machine, one.name)
        around = [Path(other.path) for other in machine.worktrees.around(str(place))]
        repository = next((other for other in around if other != place), place)
        if _forgotten(machine, checkouts, repository, place):
            done.append(one)
    return tuple(done)


def _place(machine: Machine, name: str) -> Path:
    return machine.state.root.resolve() / name / TREE


def _forgotten(machine: Machine, checkouts: Checkouts, repository: Path, place: Path) -> bool:
    """Remove one tree, unless somebody measures it or runs in it."""
    instance_id = place.parent.name.removesuffix(_FOLDER)
    lock = machine.state.lock(use_name(instance_id), "being removed")
    if isinstance(lock, str):
        return False
    try:
        if _is_run_in(machine, place):
            return False
        checkouts.remove(repository, place)
        shutil.rmtree(place.parent, ignore_errors=True)
    finally:
        lock.release()
    remove_locks(machine, instance_id)
    return True


def _is_run_in(machine: Machine, place: Path, *, apart_from: frozenset[str] = frozenset()) -> bool:
    """Say whether a gateway on record, up or not, was started from there."""
    recorded = [one for one in find_all(machine) if isinstance(one, GatewayRecord)]
    counted = [one for one in recorded if one.id not in apart_from]
    return any(Path(one.worktree).is_relative_to(place) for one in counted)
