"""What a load process has said and written and its leader has not yet: pulled in batches.

A batch may be asked for twice (its answer can be lost on the way); it is then the same again.
"""

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A piece of the shard, and the words that were said once all before its end was written."""

    data: bytes
    words: tuple[bytes, ...]
    is_last: bool = False
    """The load process is over; nothing follows."""


class Outbox:
    """Holds words back until the records before them were pulled.

    Args:
        shard: What the load process writes. It may not exist yet.
        most_bytes: Of one batch.
    """

    def __init__(self, shard: Path, *, most_bytes: int) -> None:
        self._shard = shard
        self._most_bytes = most_bytes
        self._words: deque[tuple[int, bytes]] = deque()
        """Size of the shard when the word was said, and the word."""
        self._taken = 0
        """Words that the leader has confirmed."""
        self._is_over = False
        self._news = asyncio.Event()

    def put(self, word: bytes) -> None:
        """Say a word."""
        self._words.append((self._size(), word))
        self._news.set()

    def end(self) -> None:
        """Say that nothing follows."""
        self._is_over = True
        self._news.set()

    async def batch(self, *, offset: int, taken: int, wait_s: float) -> Batch:
        """Return what follows, at once if there is a word, else after a while.

        Args:
            offset: Bytes of the shard that were pulled.
            taken: Words that were pulled.
            wait_s: How long to wait for a word.
        """
        while self._taken < taken:
            self._words.popleft()
            self._taken += 1
        is_full = self._size() - offset >= self._most_bytes
        if not (is_full or self._words or self._is_over):
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), wait_s)
        size = self._size()
        data = self._read(offset, min(size - offset, self._most_bytes))
        end = offset + len(data)
        words = []
        for mark, word in self._words:
            if mark > end:
                break
            words.append(word)
        is_last = self._is_over and end == size and len(words) == len(self._words)
        return Batch(data=data, words=tuple(words), is_last=is_last)

    def _size(self) -> int:
        try:
            return self._shard.stat().st_size
        except FileNotFoundError:
            return 0

    def _read(self, offset: int, size: int) -> bytes:
        if size <= 0:
            return b""
        with self._shard.open("rb") as file:
            file.seek(offset)
            return file.read(size)
