"""The journal file: JSON lines, appended one whole record at a time, read even when it is cut.

A record has left this process when ``write`` returns, so it survives any death of ours. A thread
forces it to the disk within a second, off the path that is being measured: an fsync takes 4 ms and
more, which would be added to somebody's first token.
"""

import errno
import fcntl
import os
import stat
import threading
import time
from dataclasses import replace
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any, Self

import msgspec

from bench.errors import JournalUnreadable, JournalUnwritable, reason_in
from bench.ledger import Ledger, collect
from bench.model.header import JOURNAL_VERSION, Header
from bench.model.journal_record import JournalRecord
from bench.shards import RecordReader, Shards, only_a_part

_BEFORE_THE_RUN = "nothing was asked: free some space, then type the command again"
SYNC_INTERVAL_S = 0.5
"""Pause between two forced writes; with the write itself this keeps to the second."""

_PIECE_BYTES = 1 << 20
_LOCK_TRIES = 1000
_LOCK_PAUSE_S = 0.005
_sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Journal:
    """An open journal that this process alone appends to: ``bench.ports.JournalSink``."""

    def __init__(self, descriptor: int, path: Path, *, is_torn: bool) -> None:
        self.path = path
        self._descriptor = descriptor
        self._is_torn = is_torn
        self._is_closed = False
        self.was_put_back = False
        """Somebody removed the file while it was written, and ``close`` wrote it again: at ``path``,
        which is then another one than before where something else lies there."""
        self.is_gone = False
        """Somebody removed it and ``close`` could not put it back: nothing of it is at ``path``."""
        self._dirty = threading.Event()
        self._closing = threading.Event()
        self._sync_fault: OSError | None = None
        self._encoder = msgspec.json.Encoder()
        self._thread = threading.Thread(target=self._keep_synced, name="journal-sync", daemon=True)
        self._thread.start()

    @classmethod
    def create(cls, path: Path, header: Header) -> Self:
        """Create the file, which must not exist, and write its header.

        Raises:
            JournalUnwritable: The folder can't be written or the disk is full.
        """
        journal = cls(_opened(path, os.O_CREAT | os.O_EXCL), path, is_torn=False)
        try:
            journal.write(header)
        except JournalUnwritable as error:
            journal.close()
            path.unlink(missing_ok=True)  # without a header it is no journal
            raise JournalUnwritable(error.message, hint=_BEFORE_THE_RUN) from error
        return journal

    @classmethod
    def open_for_append(cls, path: Path) -> Self:
        """Open an existing journal to go on with it; a cut last line is closed off first.

        Raises:
            JournalUnwritable: Another process writes to it, or it can't be written.
        """
        descriptor = _opened(path, 0)
        return cls(descriptor, path, is_torn=_ends_torn(descriptor))

    def write(self, record: JournalRecord) -> None:
        """Append one record as one line.

        Raises:
            JournalUnwritable: The disk is full or the file went away. Whatever part of the line was
                written stays as a damaged line; a later ``write`` begins on a new one.
        """
        if self._sync_fault is not None:
            raise _unwritable(self.path, self._sync_fault) from self._sync_fault
        line = self._encoded(record)
        data = memoryview(b"\n" + line if self._is_torn else line)
        self._is_torn = True
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self._is_torn = False
        if not self._dirty.is_set():  # it is for all but one or two records of a second
            self._dirty.set()

    def close(self) -> None:
        """Force everything to the disk and close the file; a second call does nothing.

        A file that somebody removed meanwhile is put back: what was paid is behind the descriptor.

        Raises:
            JournalUnwritable: The disk refused what had been handed to it.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self._closing.set()
        self._dirty.set()
        self._thread.join()
        try:
            if not _is_at(self.path, self._descriptor):
                self.path = _put_back(self._descriptor, self.path)
                self.was_put_back = True
        except OSError as error:
            self.is_gone = True
            raise _unwritable(self.path, error) from error
        finally:
            os.close(self._descriptor)
        if self._sync_fault is not None:
            raise _unwritable(self.path, self._sync_fault) from self._sync_fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _encoded(self, record: JournalRecord) -> bytes:
        try:
            # As lines: a third less time than `encode`, which copies what it made.
            return self._encoder.encode_lines((record,))
        except UnicodeEncodeError:
            # A model may answer half a surrogate pair in JSON, which no UTF-8 can hold.
            return self._encoder.encode_lines((_without_surrogates(msgspec.to_builtins(record)),))

    def _keep_synced(self) -> None:
        is_last = False
        while not is_last:
            self._dirty.wait()
            is_last = self._closing.is_set()
            self._dirty.clear()
            try:
                _sync(self._descriptor)
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a pipe or odd file system
                    self._sync_fault = error
                    return
            if not is_last:
                self._closing.wait(SYNC_INTERVAL_S)


def read_journal(path: Path) -> Ledger:
    """Read a journal, finished or not, being written or cut.

    Args:
        path: A ``.jsonl`` file. Lines that are no record are counted and skipped.

    Raises:
        JournalUnreadable: No such file, no header at its beginning, or a newer version.
    """
    try:
        with path.open("rb") as file:
            lines = iter(file)
            header = _header(path, next(lines, b""))
            if header.shard is not None:
                raise only_a_part(path, header)
            with Shards(path.parent) as shards:
                reader = RecordReader(lines)
                # Record by record: the journal of a long load is larger than any memory.
                ledger = collect(chain([header], shards.among(reader)))
                return replace(ledger, damaged_lines=reader.damaged + shards.damaged)
    except OSError as error:
        message = f"`{path}` can't be read: {reason_in(error)}"
        raise JournalUnreadable(message, hint="name a `.jsonl` or `.json` file of a run") from error


class _Mark(msgspec.Struct):
    """What tells a journal's first line, whatever its version."""

    type: str
    schemaVersion: int  # noqa: N815 - the name in the file


def _header(path: Path, line: bytes) -> Header:
    hint = "name a `.jsonl` journal that `gateway-bench` wrote"
    try:
        mark = msgspec.json.decode(line, type=_Mark)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"`{path}` is no journal: its first line is not a header"
        raise JournalUnreadable(message, hint=hint) from error
    if mark.type == "header" and mark.schemaVersion > JOURNAL_VERSION:
        message = (
            f"`{path}` is a journal of version {mark.schemaVersion}; "
            f"this program reads up to version {JOURNAL_VERSION}"
        )
        raise JournalUnreadable(message, hint="use the newer version that wrote it")
    try:
        return msgspec.json.decode(line, type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"`{path}` is no journal: its header can't be read: {error}"
        raise JournalUnreadable(message, hint=hint) from error


def _opened(path: Path, flags: int) -> int:
    """Open and lock; nothing is left open when either is refused."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | flags, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        _lock(descriptor, path)
    except BlockingIOError as error:
        os.close(descriptor)
        raise _held(path) from error
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # some network file systems
            os.close(descriptor)
            raise _unwritable(path, error) from error
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    """Lock for writing; whoever only asks whether it is written has it for an instant, and no more.

    Raises:
        BlockingIOError: Another process writes.
        OSError: This file system has no locks.
    """
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if is_being_written(path):
                raise
            time.sleep(_LOCK_PAUSE_S)
        else:
            return
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def refuse_if_written(path: Path) -> None:
    """Refuse a journal that another process has open to write it, before anything else is said.

    Raises:
        JournalUnwritable: It has; the run goes on.
    """
    if is_being_written(path):
        raise _held(path)


def _held(path: Path) -> JournalUnwritable:
    message = f"`{path}` is being written by another process: the run is still going on"
    hint = f"wait for it to end, or stop it; `gateway-bench show {quote(str(path))}` tells how far it is"
    return JournalUnwritable(message, hint=hint)


def is_being_written(path: Path) -> bool:
    """Say whether a process has this journal open to write it; ``False`` where no lock tells."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _is_at(path: Path, descriptor: int) -> bool:
    """Say whether the file behind ``descriptor`` is at ``path``.

    One of its size is taken for it, too: on some file systems a file's number doesn't last. Of what
    is no regular file, and can't be read again, that anything is there.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    own = os.fstat(descriptor)
    is_same = os.path.samestat(found, own) or found.st_size == own.st_size
    return is_same or not stat.S_ISREG(own.st_mode)


def _put_back(descriptor: int, path: Path) -> Path:
    """Write the file behind ``descriptor`` again, its folder too, and return where.

    What lies in its place by now, a stranger's file or a link to nothing, is left alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(path):
        path = path.with_name(f"{path.stem}-put-back{path.suffix}")
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        at = 0
        while piece := os.pread(descriptor, _PIECE_BYTES, at):
            copy.write(piece)
            at += len(piece)
        copy.flush()
        os.fsync(copy.fileno())
    return path


def _ends_torn(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"


def _unwritable(path: Path, error: OSError) -> JournalUnwritable:
    hints = {
        errno.ENOSPC: "free some space, then `gateway-bench resume` asks what is missing",
        errno.EDQUOT: "free some of the quota, then `gateway-bench resume` asks what is missing",
        errno.EEXIST: "name another output folder",
        errno.ENOENT: "create the folder, or name another one",
    }
    message = f"`{path}` can't be written: {reason_in(error)}"
    hint = hints.get(error.errno or 0, "name an output folder that can be written")
    return JournalUnwritable(message, hint=hint)


def _without_surrogates(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_without_surrogates(k): _without_surrogates(v) for k, v in value.items()}
        case list() | tuple():
            return [_without_surrogates(item) for item in value]
        case _:
            return value
