"""The state folder on the local disk: private, atomic, with locks that die with their holder."""

import fcntl
import os
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from orchestrator.errors import state_access
from orchestrator.ports import Lock, SoleLock, Use

_PRIVATE = 0o700
_NOBODY_SAYS = "another process"
_NOTE_LIMIT = 1_000
_NOTES_LIMIT = 20_000
_SHARE_TRIES = 40
_SHARE_PAUSE_S = 0.025
_NOTE_TRIES = 8
# Each one more is a file that somebody removed between our open and our lock.
_REOPENED = 100


class FileLock:
    """A held ``flock`` on a file that is still there."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def descriptor(self) -> int:
        """Its open file."""
        return self._descriptor

    def release(self) -> None:
        """Close the descriptor; the kernel does it too if we die. Twice does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class OwnLock(FileLock):
    """A held exclusive ``flock``."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor)
        self._path = path

    def remove(self) -> None:
        """Unlink the file while it is held, then close it; after a release nothing is done.

        Whoever locks what was unlinked finds another file, or none, under its name: see
        ``_is_there``.
        """
        if self.descriptor >= 0:
            self._path.unlink(missing_ok=True)
        self.release()


class SharedLock(FileLock):
    """A held shared ``flock``; letting go of it leaves a time stamp."""

    def release(self) -> None:  # type: ignore[explicit-override]  # typing.override came with 3.12
        """Note the time, then close the descriptor."""
        if self.descriptor >= 0:
            os.utime(self.descriptor)
        super().release()


class DiskState:
    """Files in one folder.

    Args:
        root: Made with mode 0700 if it is missing. On a local disk: locks of network disks lie.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    def _ready(self) -> Path:
        self._root.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        if self._root.stat().st_mode & 0o077:
            self._root.chmod(_PRIVATE)
        return self._root

    def read(self, name: str) -> bytes | None:
        """Return a file's content, nothing of what is no file; ``None`` = there is none."""
        with state_access(self._root / name), suppress(FileNotFoundError):
            # Not to wait for the other end of a pipe that somebody put there.
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self._root / name, flags)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return b""
                with os.fdopen(descriptor, "rb", closefd=False) as file:
                    return file.read()
            finally:
                os.close(descriptor)
        return None

    def write(self, name: str, data: bytes) -> None:
        """Replace a file: temporary file, fsync, rename, fsync of the folder."""
        with state_access(self._root / name):
            _replace(self._ready(), name, data)

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with state_access(self._root / name):
            (self._root / name).unlink(missing_ok=True)

    def names(self, suffix: str) -> tuple[str, ...]:
        """List files by the end of their name, sorted."""
        if not self._root.is_dir():
            return ()
        with state_access(self._root):
            return tuple(sorted(one.name for one in self._root.iterdir() if one.suffix == suffix))

    def lock(self, name: str, note: str) -> SoleLock | str:
        """Take a lock without waiting, or return the note of who has it."""
        for _ in range(_REOPENED):
            descriptor = self._open(name)
            if not _taken(descriptor, fcntl.LOCK_EX):
                return _refused(descriptor)
            if _is_there(descriptor, self._root / name):
                with suppress(OSError):  # a full disk: the lock holds without a note
                    os.ftruncate(descriptor, 0)
                    os.pwrite(descriptor, note.encode()[:_NOTE_LIMIT], 0)
                return OwnLock(descriptor, self._root / name)
            os.close(descriptor)
        return _NOBODY_SAYS

    def share(self, name: str, note: str) -> Lock | str:
        """Take a lock that others may share, or return the note of who has it alone."""
        for _ in range(_REOPENED):
            descriptor = self._open(name, os.O_APPEND)
            # Nobody has it: the notes of earlier holders say nothing any more.
            if _taken(descriptor, fcntl.LOCK_EX):
                os.ftruncate(descriptor, 0)
            if not _shared(descriptor):
                return _refused(descriptor)
            if _is_there(descriptor, self._root / name):
                with suppress(OSError):  # as above
                    os.write(descriptor, note.encode()[: _NOTE_LIMIT - 1] + b"\n")
                return SharedLock(descriptor)
            os.close(descriptor)
        return _NOBODY_SAYS

    def use_of(self, name: str) -> Use:
        """Say whether somebody holds a shared lock."""
        path = self._root / name
        while True:
            with state_access(self._root / name):
                try:
                    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                except FileNotFoundError:
                    return Use(is_held=False)
            try:
                use = _use(descriptor)
                if use.is_held or _is_there(descriptor, path):
                    return use
            finally:
                os.close(descriptor)

    def age_s(self, name: str) -> float | None:
        """Return for how long a file has not been written to."""
        try:
            return max(0.0, _now_s() - (self._root / name).stat().st_mtime)
        except FileNotFoundError:
            return None

    def _open(self, name: str, more: int = 0) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | more
        with state_access(self._root / name):
            return os.open(self._ready() / name, flags, 0o600)


def _replace(root: Path, name: str, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=root, prefix=f"{name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(root / name)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _now_s() -> float:
    """Return the clock that file times are read against."""
    return time.clock_gettime(time.CLOCK_REALTIME)


def _taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _shared(descriptor: int) -> bool:
    """Take it with others; somebody who only asks has it alone for an instant, too."""
    for _ in range(_SHARE_TRIES):
        if _taken(descriptor, fcntl.LOCK_SH):
            return True
        time.sleep(_SHARE_PAUSE_S)
    return False


def _is_there(descriptor: int, path: Path) -> bool:
    """Say whether a file that was opened and is locked now is still the one under its name.

    While it is locked it stays so: only a holder removes it.
    """
    ours = os.fstat(descriptor)
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


def _use(descriptor: int) -> Use:
    quiet_s = max(0.0, _now_s() - os.fstat(descriptor).st_mtime)
    if _taken(descriptor, fcntl.LOCK_EX):
        return Use(is_held=False, quiet_s=quiet_s)
    text = os.pread(descriptor, _NOTES_LIMIT, 0).decode(errors="replace")
    return Use(is_held=True, notes=tuple(text.splitlines()), quiet_s=quiet_s)


def _refused(descriptor: int) -> str:
    """Return who has it. Between taking a lock and writing the note lies a moment: wait for that."""
    try:
        for _ in range(_NOTE_TRIES):
            theirs = os.pread(descriptor, _NOTE_LIMIT, 0).decode(errors="replace")
            if theirs:
                return theirs
            time.sleep(_SHARE_PAUSE_S)
    finally:
        os.close(descriptor)
    return _NOBODY_SAYS
