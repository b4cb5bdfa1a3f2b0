"""The room of a hostile program: a root of its own that holds an interpreter and empty folders."""

import os
import stat

from bench.warden import kernel
from bench.warden.folder import FILES_OF_FOLDER
from bench.warden.order import Order

BOX = "/box"
"""Working directory, and with ``/tmp`` and ``/dev/shm`` all that can be written."""
OWNED = (BOX, "/tmp", "/dev/shm")  # noqa: S108 - the room's own, empty
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_BASE = "/tmp"  # noqa: S108 - covered by a file system of our own, in a namespace of our own
_LIBRARY = kernel.NO_SETUID | kernel.NO_DEVICES
_DEVICE = kernel.NO_SETUID | kernel.NO_PROGRAMS
_MOST_FILES = 4_096
_READ_ONLY = 1


def build(order: Order) -> None:
    """Make the room and move in; what was there before can't be reached afterwards.

    Everything of it lies in memory, belongs to this mount namespace and ends with it.
    """
    kernel.keep_mounts_apart()
    trees = {path: kernel.take_tree(path, flags=_LIBRARY) for path in order.looked_at}
    trees |= {path: kernel.take_tree(path, flags=_DEVICE) for path in DEVICES}
    kernel.mount_memory(_BASE, flags=kernel.NO_DEVICES, options="mode=755,size=1m")
    for path, tree in trees.items():
        _make_place(f"{_BASE}{path}", is_folder=stat.S_ISDIR(os.fstat(tree).st_mode))
        kernel.put_tree(tree, f"{_BASE}{path}")
        os.close(tree)
    for path, target in order.links:
        os.symlink(target, f"{_BASE}{path}")
    for path in order.covers:
        kernel.mount_memory(
            f"{_BASE}{path}", flags=kernel.NO_DEVICES | _READ_ONLY, options="mode=755,size=4k"
        )
    for path in OWNED:
        _make_place(f"{_BASE}{path}", is_folder=True)
        size = order.file_bytes * (FILES_OF_FOLDER if path == BOX else 1)
        kernel.mount_memory(
            f"{_BASE}{path}",
            flags=kernel.NO_DEVICES | kernel.NO_PROGRAMS,
            options=f"mode=777,size={size},nr_inodes={_MOST_FILES}",
        )
    kernel.make_read_only(_BASE)
    kernel.enter_as_root(_BASE)


def _make_place(path: str, *, is_folder: bool) -> None:
    os.makedirs(path if is_folder else os.path.dirname(path), exist_ok=True)
    if not is_folder:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
