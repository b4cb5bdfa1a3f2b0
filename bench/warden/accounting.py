"""Control groups: what all processes of one program use together. Versions 1 and 2.

A group is made for one program and removed with it. One whose maker is gone is removed by the
next.
"""

import contextlib
import errno
import os
import time

_ROOT = "/sys/fs/cgroup"
_PREFIX = "gateway-bench-sandbox-"
_UNIFIED = 2
_TRIES, _PAUSE_S = 50, 0.01


class Place:
    """A folder of the group file system under which ours can be made."""

    __slots__ = ("folder", "resources", "version")

    def __init__(self, version: int, resources: tuple[str, ...], folder: str) -> None:
        self.version = version
        self.resources = resources
        """``memory``, ``pids`` or both: what groups there can limit."""
        self.folder = folder


def places(root: str = _ROOT, own: str = "/proc/self/cgroup") -> list[Place]:
    """Return where groups could lie, best first; nothing is tried."""
    try:
        with open(own) as file:
            lines = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return []
    found = []
    for _, controllers, path in lines:
        if not controllers and os.path.exists(f"{root}/cgroup.controllers"):
            found += [Place(_UNIFIED, ("memory", "pids"), folder) for folder in _upward(root, path)]
        for resource in ("memory", "pids"):
            if resource in controllers.split(","):
                base = f"{root}/{controllers}"
                found += [Place(1, (resource,), folder) for folder in _upward(base, path)]
    return found


def _upward(root: str, path: str) -> list[str]:
    parts = [part for part in path.split("/") if part and part != ".."]
    folders = ["/".join((root, *parts[:count])) for count in range(len(parts), -1, -1)]
    return [folder for folder in folders if os.path.isdir(folder)]


class Account:
    """The groups of one program; holds as many of the two resources as could be had."""

    def __init__(
        self, *, memory_bytes: int, processes: int, among: list[Place] | None = None
    ) -> None:
        self._folders: dict[str, tuple[str, int]] = {}
        name = f"{_PREFIX}{os.getpid()}"
        limits = {"memory": memory_bytes, "pids": processes}
        for place in places() if among is None else among:
            if any(resource in self._folders for resource in place.resources):
                continue
            _remove_abandoned(place.folder)
            folder = f"{place.folder}/{name}"
            if _made(folder, place, limits):
                for resource in place.resources:
                    self._folders[resource] = (folder, place.version)

    @property
    def held(self) -> tuple[str, ...]:
        """What is limited."""
        return tuple(sorted(self._folders))

    def how(self, resource: str) -> str:
        """Return ``cgroup v2``."""
        return f"cgroup v{self._folders[resource][1]}"

    def join(self) -> None:
        """Move this process, and all that it starts, into the groups."""
        for folder in self._all():
            _write(f"{folder}/cgroup.procs", "0")

    def memory_kills(self) -> int:
        """Return how often the kernel killed because memory was used up."""
        folder, version = self._folders.get("memory", ("", 0))
        if not folder:
            return 0
        name = "memory.events" if version == _UNIFIED else "memory.oom_control"
        return _counter(f"{folder}/{name}", "oom_kill")

    def refused_processes(self) -> int:
        """Return how often a process was not started because there were too many."""
        folder, _ = self._folders.get("pids", ("", 0))
        return _counter(f"{folder}/pids.events", "max") if folder else 0

    def close(self) -> None:
        """Remove the groups; their processes have ended."""
        for folder in self._all():
            for _ in range(_TRIES):  # the last exit may be seconds of memory to give back away
                with contextlib.suppress(FileNotFoundError):
                    try:
                        os.rmdir(folder)
                    except OSError as busy:
                        if busy.errno != errno.EBUSY:
                            break
                        time.sleep(_PAUSE_S)
                        continue
                break

    def _all(self) -> list[str]:
        return sorted({folder for folder, _ in self._folders.values()})


def _made(folder: str, place: Place, limits: dict[str, int]) -> bool:
    files = {
        (1, "memory"): ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
        (_UNIFIED, "memory"): ("memory.max", "memory.swap.max"),
    }
    try:
        os.mkdir(folder, 0o755)
    except OSError:  # not ours to write, or read-only
        return False
    try:
        for resource in place.resources:
            amount = str(limits[resource])
            if resource == "pids":
                _write(f"{folder}/pids.max", amount)
                continue
            first, with_swap = files[place.version, resource]
            _write(f"{folder}/{first}", amount)
            with contextlib.suppress(FileNotFoundError):  # no swap accounting: no swap, mostly
                _write(f"{folder}/{with_swap}", amount if place.version == 1 else "0")
        if place.version == _UNIFIED:
            _write(f"{folder}/memory.oom.group", "1")
    except OSError:
        with contextlib.suppress(OSError):
            os.rmdir(folder)
        return False
    return True


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # never makes a file
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _counter(path: str, name: str) -> int:
    try:
        with open(path) as file:
            for line in file:
                key, _, value = line.partition(" ")
                if key == name:
                    return int(value)
    except OSError:
        pass
    return 0


def _remove_abandoned(folder: str) -> None:
    for name in os.listdir(folder):
        if not name.startswith(_PREFIX):
            continue
        if is_gone(name.removeprefix(_PREFIX)):
            with contextlib.suppress(OSError):  # still busy, or another's
                os.rmdir(f"{folder}/{name}")


def is_gone(pid: str) -> bool:
    """Return whether no process has that number."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, ValueError):  # another user's; not named by us
        return False
    return False
