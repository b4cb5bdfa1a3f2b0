"""Folders that a running gateway depends on: there or gone, changed or not, full or not."""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from orchestrator.watch_ports import Space, Stamp

_MOST_FILES = 2_000
_CODE = frozenset(
    (
        *(".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".node", ".wasm"),
        *(".py", ".so", ".dylib", ".rb", ".php", ".jar", ".class", ".dll"),
    )
)
_INSTALLED = frozenset({"node_modules", "site-packages", "__pycache__", "venv"})
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class DiskPremises:
    """Folders on disks of this machine."""

    def folder_id(self, path: Path) -> tuple[int, int] | None:
        """Return device and inode of a folder."""
        try:
            seen = path.stat()
        except OSError:
            return None
        return seen.st_dev, seen.st_ino

    def sources(self, root: Path) -> dict[str, Stamp]:
        """Return every file of code below a folder; whole folders, until there are too many."""
        if root.is_file():
            return {} if (stamp := _stamp(root)) is None else {root.name: stamp}
        found: dict[str, Stamp] = {}
        for folder in _folders(root):
            inside = _code_in(folder, root)
            if len(found) + len(inside) > _MOST_FILES:
                break
            found |= inside
        return found

    def digest(self, path: Path) -> str | None:
        """Return the SHA-256 of a file."""
        try:
            return hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError:
            return None

    def head(self, worktree: Path) -> str | None:
        """Read ``HEAD``, and the reference that it names, loose or packed."""
        own = _git_folder(worktree)
        said = None if own is None else _text(own / "HEAD")
        if own is None or said is None:
            return None
        if not said.startswith("ref: "):
            return said if _COMMIT.fullmatch(said) else None
        name = said.removeprefix("ref: ")
        shared = own / (_text(own / "commondir") or ".")
        for folder in (own, shared):
            loose = _text(folder / name)
            if loose is not None and _COMMIT.fullmatch(loose):
                return loose
        for line in (_text(shared / "packed-refs") or "").splitlines():
            commit, _, packed = line.partition(" ")
            if packed == name and _COMMIT.fullmatch(commit):
                return commit
        return None

    def space(self, folder: Path) -> Space | None:
        """Return room and device of the file system that holds a folder."""
        try:
            room = os.statvfs(folder)
            device = folder.stat().st_dev
        except OSError:
            return None
        return Space(
            device=device,
            free_bytes=room.f_bavail * room.f_frsize,
            free_files=room.f_favail if room.f_files else None,
        )


def _folders(root: Path) -> Iterator[str]:
    """Walk breadth first, in the order of names: the same tree gives the same walk."""
    waiting = [str(root)]
    while waiting:
        folder = waiting.pop(0)
        yield folder
        try:
            with os.scandir(folder) as entries:
                below = [one.path for one in entries if _is_walked(one)]
        except OSError:  # gone meanwhile, or not for this user
            continue
        waiting += sorted(below)


def _is_walked(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    return entry.is_dir(follow_symlinks=False) and name not in _INSTALLED and name[0] != "."


def _code_in(folder: str, root: Path) -> dict[str, Stamp]:
    found: dict[str, Stamp] = {}
    begins = len(str(root)) + 1
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if os.path.splitext(entry.name)[1] in _CODE:  # noqa: PTH122  # hot loop
                    with contextlib.suppress(OSError):  # removed meanwhile, or a link to nowhere
                        seen = entry.stat()
                        stamp = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
                        found[entry.path[begins:]] = stamp
    except OSError:
        return found
    return found


def _stamp(path: Path) -> Stamp | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _git_folder(worktree: Path) -> Path | None:
    """Return the git folder of a working tree; in a linked one `.git` is a file that names it."""
    at = worktree / ".git"
    if at.is_dir():
        return at
    said = _text(at)
    if said is None or not said.startswith("gitdir: "):
        return None
    return worktree / said.removeprefix("gitdir: ")


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None
