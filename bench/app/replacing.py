"""Files that are replaced in one step: a reader sees the old one or the new one, never half."""

import fcntl
import os
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Write ``data`` where ``path`` is, and clear away what a killed writer left beside it.

    Raises:
        OSError: As writing does; what stood there is untouched.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    _clear_away(path)
    try:
        with fresh.open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def _clear_away(path: Path) -> None:
    """Remove unfinished files whose writer is gone: a lock ends with its process, a PID comes again."""
    prefix = f".{path.name}."
    for left in path.parent.iterdir():
        if left.name.startswith(prefix) and left.name.removeprefix(prefix).isdigit():
            _remove_unheld(left)


def _remove_unheld(left: Path) -> None:
    try:
        with left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    except OSError:
        return  # somebody is writing it, or it is gone, or not ours to remove
