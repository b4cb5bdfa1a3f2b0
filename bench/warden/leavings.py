"""What a program left in its folder, looked at once none of its processes lives any more."""

import os
import stat
from collections.abc import Iterator

_MOST_COLLECTED = 16 * 1024 * 1024
_LARGEST = 4 * 1024 * 1024
_MOST_SEEN = 8_192
_NEARLY = 4_096


def _walk(top: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield regular files below, following no link; stops at a number that no task needs."""
    folders, seen = [top], 0
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except OSError:  # made unreadable, or too deep for a path
            continue
        with entries:
            for entry in entries:
                seen += 1
                if seen > _MOST_SEEN:
                    return
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False)


def fingerprint(found: os.stat_result) -> tuple[int, ...]:
    """Return what differs once a file was written again: its time of change can't be set."""
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_full(folders: tuple[str, ...], file_bytes: int) -> bool:
    """Return whether a limit on files was met: one as large as allowed, or no room left."""
    for folder in folders:
        room = os.statvfs(folder)
        if folder != "." and (room.f_bavail * room.f_frsize < _NEARLY or room.f_favail == 0):
            return True
        if any(found.st_size >= file_bytes for _, found in _walk(folder)):
            return True
    return False


def changed_files(before: dict[str, tuple[int, ...]]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of what is new or changed; what is too large is left out."""
    total = 0
    for path, found in _walk("."):
        name = path.removeprefix("./")
        if before.get(name) == fingerprint(found) or found.st_size > _LARGEST:
            continue
        content = _content(path)
        if content is None:
            continue
        total += len(content)
        if total > _MOST_COLLECTED:
            return
        yield name, content


def _content(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(_LARGEST)
