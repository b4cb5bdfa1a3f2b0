"""The request log: one JSON line per request, written after its last byte went out (IO)."""

from pathlib import Path

import msgspec

from bench.simulator.errors import LogUnwritable
from bench.simulator.exchange import RequestRecord


class RequestLog:
    """Appends records to a file; without a path it takes them and forgets them.

    Attributes:
        lost: Records that could not be written, after the first success: a full disk must not
            stop the streams.
    """

    def __init__(self, path: Path | None) -> None:
        """Open the file.

        Raises:
            LogUnwritable: It can't be opened for appending.
        """
        self.lost = 0
        self._encoder = msgspec.json.Encoder()
        try:
            self._file = path.open("ab", buffering=0) if path is not None else None
        except OSError as error:
            raise LogUnwritable(path or Path(), error.strerror or str(error)) from error

    def write(self, record: RequestRecord) -> None:
        """Append one record. One system call, so readers see whole lines only."""
        if self._file is None:
            return
        try:
            self._file.write(self._encoder.encode(record) + b"\n")
        except OSError:
            self.lost += 1

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
