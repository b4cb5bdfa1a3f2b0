"""A memory control group for a test, below our own, so that whoever limits us still does."""

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")


class MemoryGroup:
    """One group.

    Args:
        folder: Of the group.
        limit_file: Where its limit is written.
    """

    def __init__(self, folder: Path, limit_file: str) -> None:
        self.folder = folder
        self._limit_file = limit_file

    def limit(self, limit_bytes: int) -> None:
        (self.folder / self._limit_file).write_text(str(limit_bytes))

    @property
    def members_file(self) -> Path:
        """Whoever writes its own PID there is in the group, with all that it starts then."""
        return self.folder / "cgroup.procs"

    def remove(self) -> None:
        """Remove it; what just died may be counted for a moment longer."""
        for _ in range(5_000):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.02)
        self.folder.rmdir()


def _place() -> tuple[Path, str] | None:
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return _ROOT / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
        if controllers == "" and (_ROOT / "cgroup.subtree_control").exists():
            return _ROOT / path.lstrip("/"), "memory.max"
    return None


@contextmanager
def _made() -> Iterator[MemoryGroup]:
    place = _place()
    if place is None:
        raise FileNotFoundError("no memory control groups")
    group = MemoryGroup(place[0] / f"t{uuid.uuid4().hex[:8]}", place[1])
    group.folder.mkdir()
    try:
        yield group
    finally:
        group.remove()


@contextmanager
def limited_memory(limit_bytes: int) -> Iterator[MemoryGroup]:
    """Make a group with a limit; remove it in the end."""
    with _made() as group:
        group.limit(limit_bytes)
        yield group


@cache
def memory_group() -> bool | None:
    """Return True where a group can be made, limited and entered; else ``None``."""
    try:
        with limited_memory(64 << 20) as group:
            return True if os.access(group.members_file, os.W_OK) else None
    except OSError:
        return None
