"""Pieces that travel: secrets on their way out, shards on their way in."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

PART_BYTES = 32 * 1024
"""Ray keeps arguments of up to 100 KB in the message; larger ones go through its object store, a
file in shared memory that may be spilled to a disk."""


def secret_parts(secret: bytes) -> Iterator[bytes]:
    """Yield the secret in pieces that never leave the messages; at least one."""
    for begin in range(0, max(1, len(secret)), PART_BYTES):
        yield secret[begin : begin + PART_BYTES]


class ShardCopy:
    """A shard on the leader's machine, as far as it was pulled: whole pieces, each once.

    Args:
        path: Where it is collected; it must not exist.
    """

    def __init__(self, path: str) -> None:
        self.size = 0
        """Bytes that were pulled."""
        self._descriptor: int | None = os.open(
            Path(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600
        )
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def append(self, data: bytes) -> None:
        """Append the next piece.

        Raises:
            OSError: The disk is full.
        """
        if self._descriptor is None:
            return
        left = memoryview(data)
        while left:
            written = os.write(self._descriptor, left)
            self.size += written
            left = left[written:]

    def sync(self) -> None:
        """Force what was appended to the disk; blocks for milliseconds."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Close it; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
