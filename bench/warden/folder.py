"""A folder on disk for walls without a file system of their own; nothing otherwise."""

import os
import stat

from bench.warden.order import Order

_PREFIX = "gateway-bench-sandbox-"


class Folder:
    """The working directory of one program."""

    def __init__(self, order: Order) -> None:
        self.path = ""
        if order.is_alone:
            self.path = os.path.join(order.scratch, f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}")
            os.mkdir(self.path, 0o700)
            if order.user is not None:
                os.chown(self.path, order.user, order.user)

    def close(self) -> None:
        """Remove it with all that is in it, following no link."""
        if self.path:
            _empty(self.path)
            os.rmdir(self.path)

    def size(self) -> int:
        """Return the bytes of all its files, as far as they can be seen."""
        return _size(self.path) if self.path else 0


def _empty(folder: str) -> None:
    os.chmod(folder, 0o700)
    with os.scandir(folder) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            _empty(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def _size(folder: str) -> int:
    total = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                is_folder = stat.S_ISDIR(found.st_mode)
                total += _size(entry.path) if is_folder else found.st_blocks * 512
    except OSError:  # changes while it is looked at
        pass
    return total
