"""The answer book: a file of JSON lines that somebody else writes while we run (IO)."""

from pathlib import Path

import msgspec

from bench.simulator.answers import BookEntry


class AnswerBook:
    """Answers by prompt hash, read again whenever the file has grown or was replaced.

    Attributes:
        bad_lines: Lines so far that were no entry; they are ignored.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: dict[str, BookEntry] = {}
        self._decoder = msgspec.json.Decoder(BookEntry)
        self._read_bytes = 0
        self._inode: int | None = None
        self._rest = b""
        self.bad_lines = 0

    def look_up(self, prompt_hash: str) -> BookEntry | None:
        """Return the latest entry for a prompt, or ``None``. Costs one ``stat`` if unchanged."""
        if self._path is not None:
            self._refresh(self._path)
        return self._entries.get(prompt_hash)

    def __len__(self) -> int:
        return len(self._entries)

    def _refresh(self, path: Path) -> None:
        try:
            state = path.stat()
            if state.st_ino != self._inode or state.st_size < self._read_bytes:
                self._inode, self._read_bytes, self._rest = state.st_ino, 0, b""
            if state.st_size == self._read_bytes:
                return
            with path.open("rb") as file:
                file.seek(self._read_bytes)
                data = file.read()
        except OSError:
            return  # not written yet, or being replaced: what is known stays known
        self._read_bytes += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._add(line)

    def _add(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            entry = self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            self.bad_lines += 1
            return
        self._entries[entry.prompt_hash] = entry
