"""The state folder on the local disk: private, atomic, with locks that die with their holder."""

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from orchestrator.ports import Lock

_PRIVATE = 0o700
_NOTE_LIMIT = 1_000


class FileLock:
    """A held ``flock``; its file stays for ever, so that nobody locks a file that is gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Close the descriptor; the kernel does it too if we die. Twice does no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


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
        """Return a file's content; ``None`` = there is none."""
        try:
            return (self._root / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Replace a file: temporary file, fsync, rename, fsync of the folder."""
        root = self._ready()
        descriptor, temporary = tempfile.mkstemp(dir=root, suffix="~")
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

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        (self._root / name).unlink(missing_ok=True)

    def names(self, suffix: str) -> tuple[str, ...]:
        """List files by the end of their name, sorted."""
        if not self._root.is_dir():
            return ()
        return tuple(sorted(path.name for path in self._root.iterdir() if path.suffix == suffix))

    def lock(self, name: str, note: str) -> Lock | str:
        """Take a lock without waiting, or return the note of who has it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._ready() / name, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            theirs = os.pread(descriptor, _NOTE_LIMIT, 0).decode(errors="replace")
            os.close(descriptor)
            return theirs or "another process"
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note.encode()[:_NOTE_LIMIT], 0)
        return FileLock(descriptor)
