"""What starts prepared that were killed before their gateway was on record: it is torn down.

Each leaves a note beside its locks; a start that lives holds these.
"""

import shutil
from collections.abc import Callable, Iterable

from orchestrator import records
from orchestrator.cleaning import Skipped, alone
from orchestrator.leftovers import Leftover, remove_locks
from orchestrator.lifecycle import Machine
from orchestrator.records import Preparation

_SUFFIX = ".prep"


def forgotten_preparations(machine: Machine, *, older_than_s: float) -> tuple[Leftover, ...]:
    """Return the notes that no start took away.

    Args:
        machine: The ports.
        older_than_s: Least age: a `prepare` command outlives who was killed while it ran.
    """
    found = []
    for name in machine.state.names(_SUFFIX):
        age_s, instance_id = machine.state.age_s(name), name.removesuffix(_SUFFIX)
        is_old = age_s is not None and age_s >= older_than_s
        if is_old and not machine.state.use_of(records.use_name(instance_id)).is_held:
            why = "its start was killed after it prepared; its teardown is run"
            found.append(Leftover(name=name, instance_id=instance_id, why=why))
    return tuple(found)


def is_preparation(one: Leftover) -> bool:
    """Say whether a leftover is such a note."""
    return one.name.endswith(_SUFFIX)


def undo_preparations(
    machine: Machine, wanted: Iterable[Leftover], tear_down: Callable[[Preparation], None]
) -> tuple[Leftover, ...]:
    """Tear down what each note speaks of, under the locks of its instance; return those done.

    A note goes before the first command: what was cut short is not begun again by another.

    Args:
        machine: The ports.
        wanted: Notes.
        tear_down: Runs the teardown; what it may not run, it says.
    """
    done = []
    for one in wanted:
        instance_id = one.name.removesuffix(_SUFFIX)
        try:
            with alone(machine, (instance_id,), instance_id):
                left = machine.state.read(one.name)
                note = None if left is None else records.decode_preparation(left)
                machine.state.remove(one.name)
                # On record it is a gateway like others, and its teardown is run with its stop.
                if machine.state.age_s(records.record_name(instance_id)) is None:
                    if note is not None:
                        tear_down(note)
                    shutil.rmtree(machine.state.root / f"{instance_id}.d", ignore_errors=True)
                    done.append(one)
        except Skipped:
            continue
        remove_locks(machine, instance_id)
    return tuple(done)
