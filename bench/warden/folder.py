"""A folder on disk for walls without a file system of their own; nothing otherwise."""

import contextlib
import os

from bench.warden.accounting import is_gone
from bench.warden.order import Order

_PREFIX = "gateway-bench-sandbox-"
_DEEPEST, _MOST_FILES = 64, 4_096
_BLOCK = 512
FILES_OF_FOLDER = 4
"""How many files of the largest size the folder of a program holds."""


class Folder:
    """The working directory of one program."""

    def __init__(self, order: Order) -> None:
        self.path = ""
        self._most_bytes = FILES_OF_FOLDER * order.file_bytes
        if order.is_alone:
            _remove_abandoned(order.scratch)
            self.path = os.path.join(order.scratch, f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
            os.mkdir(self.path, 0o700)

    def close(self) -> None:
        """Remove it with all that is in it, following no link; nothing writes there any more."""
        if self.path:
            remove(self.path)

    def holds_too_much(self) -> bool:
        """Return whether more lies in it than a program may write, or deeper than can be seen."""
        waiting, files, size = [(self.path, 0)] if self.path else [], 0, 0
        while waiting:
            folder, depth = waiting.pop()
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:  # changes while it is looked at
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
                    else:
                        size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
            if depth > _DEEPEST or files > _MOST_FILES or size > self._most_bytes:
                return True
        return False


def remove(top: str) -> None:
    """Remove a folder however deep it is: what lies deeper is moved up first.

    So no path grows too long, and no call nests. Nobody else may be at work there.
    """
    moved = 0
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            found = list(entries)
        for entry in found:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)  # moving a folder writes into it
            moved += 1
            target = f"{top}.{moved}"
            os.rename(entry.path, target)
            waiting.append(target)
        os.rmdir(folder)


def _remove_abandoned(scratch: str) -> None:
    for name in os.listdir(scratch):
        number = name.removeprefix(_PREFIX).split("-")[0]
        if name.startswith(_PREFIX) and is_gone(number):
            with contextlib.suppress(OSError):  # another user's
                remove(os.path.join(scratch, name))
