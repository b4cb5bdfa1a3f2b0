"""The gateway's log: its end for people, and a guard against filling the disk.

The gateway appends (``O_APPEND``), so emptying the file in place leaves no hole in it.
"""

import os
from contextlib import suppress
from pathlib import Path

from orchestrator.records import LOG_LIMIT_BYTES

_TAIL_BYTES = 64 * 1024
_KEPT_BYTES = 1024 * 1024
_READ_BYTES = 1024 * 1024


class DiskLog:
    """Logs on the local disk."""

    def begin(self, path: Path) -> None:
        """Put the log of an earlier start aside; of a very large one only the end."""
        if self.guard(path, LOG_LIMIT_BYTES):
            return
        if path.is_file() and path.stat().st_size:
            path.replace(path.with_name(f"{path.name}.1"))

    def tail(self, path: Path, lines: int) -> tuple[str, ...]:
        """Return the last lines, without what colours them."""
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _TAIL_BYTES))
                text = file.read().decode(errors="replace")
        except OSError:
            return ()
        kept = [_printable(line) for line in text.splitlines() if line.strip()]
        return tuple(kept[-lines:])

    def size(self, path: Path) -> int:
        """Return how many bytes there are."""
        try:
            return path.stat().st_size
        except OSError:
            return 0

    def since(self, path: Path, place: int) -> tuple[tuple[str, ...], int]:
        """Return the complete lines from a byte on, without what colours them."""
        place = place if place <= self.size(path) else 0
        try:
            with path.open("rb") as file:
                file.seek(place)
                data = file.read(_READ_BYTES)
        except OSError:
            return (), place
        if len(data) < _READ_BYTES:
            data = data[: data.rfind(b"\n") + 1]
        lines = data.decode(errors="replace").splitlines()
        return tuple(_printable(line) for line in lines if line.strip()), place + len(data)

    def guard(self, path: Path, limit_bytes: int) -> bool:
        """Keep the last 1 MiB beside the log and empty it, once it is larger than the limit.

        Where the disk has no room for that it is emptied all the same: it may be what filled it.
        One that is not to be had is left.
        """
        try:
            if path.stat().st_size <= limit_bytes:
                return False
            with path.open("r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _KEPT_BYTES))
                last = file.read(_KEPT_BYTES)
                with suppress(OSError):
                    _put_aside(path.with_name(f"{path.name}.1"), last)
                file.truncate(0)
        except OSError:
            return False
        return True


def _put_aside(path: Path, last: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(last)


def _printable(line: str) -> str:
    """Drop terminal escapes: a log line must not move the cursor of whoever reads an error."""
    return "".join(letter if letter.isprintable() or letter == "\t" else "�" for letter in line)
