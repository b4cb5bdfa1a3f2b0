"""The journals of load processes, read where the leading one goes on.

What a load process wrote of a stage comes before the leading journal's end of that stage; the rest of
it, such as of a stage that was cut, before another process goes on with the run.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from bench.errors import JournalUnreadable, reason_in
from bench.model.footer import Footer
from bench.model.header import Header, Resumed
from bench.model.journal_record import JournalRecord
from bench.model.load import StageDone
from bench.model.steps import ShardOpened, Started, TrialDone
from bench.model.surroundings import Incident

_NAME = re.compile(r".+\.[0-9]+\.jsonl")
_FORMER_INCIDENT = re.compile(rb'\s*\{\s*"type"\s*:\s*"incident"\s*,\s*"incidentClass"')


def is_shard(path: Path) -> bool:
    """Return whether a file's name is that of a load process's journal, not of a whole run."""
    return _NAME.fullmatch(path.name) is not None


def shards_of(journal: Path) -> list[Path]:
    """Return the journals of load processes that lie beside a run's own."""
    begin = f"{journal.stem}."
    try:
        beside = sorted(journal.parent.iterdir())
    except OSError:
        return []
    return [path for path in beside if path.name.startswith(begin) and is_shard(path)]


def only_a_part(path: Path, header: Header) -> JournalUnreadable:
    """Return what is wrong with reading one load process's journal as if it were a run."""
    whole = path.with_name(f"{header.stem}.jsonl")
    message = f"`{path}` holds only what load process {header.shard} of a run sent"
    return JournalUnreadable(message, hint=f"name the whole run: `{whole}`")


class RecordReader:
    """The records of a journal's lines; counts those that are none."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self.damaged = 0
        self._lines = lines
        self._decoder = msgspec.json.Decoder(JournalRecord)

    def __iter__(self) -> Iterator[JournalRecord]:
        for line in self._lines:
            if not line.strip():
                continue
            try:
                yield self._decoder.decode(self._as_now(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self.damaged += 1

    @staticmethod
    def _as_now(line: bytes) -> bytes:
        """Give an incident of versions 1 to 3 the name that its class has since."""
        if _FORMER_INCIDENT.match(line):
            return line.replace(b'"incidentClass"', b'"class"', 1)
        return line


class Shards:
    """The load processes' journals of one run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self._readers: list[RecordReader] = []
        self._streams: list[Iterator[JournalRecord]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def damaged(self) -> int:
        """Lines of all of them that are no record."""
        return sum(reader.damaged for reader in self._readers)

    def among(self, records: Iterable[JournalRecord]) -> Iterator[JournalRecord]:
        """Yield the leading journal's records with those of the load processes in their places.

        Raises:
            JournalUnreadable: One that is named is not there.
        """
        for record in records:
            if isinstance(record, StageDone):
                yield from self._upto(record)
            elif isinstance(record, Resumed | Footer):
                yield from self._upto(None)
            yield record
            if isinstance(record, ShardOpened):
                self._begin(record)
        yield from self._upto(None)

    def _begin(self, opened: ShardOpened) -> None:
        # Only the name: a journal from elsewhere must not have other folders read.
        path = self._folder / Path(opened.file).name
        try:
            file = self._open.enter_context(path.open("rb"))
        except OSError as error:
            message = f"`{path}` can't be read: {reason_in(error)}"
            hint = "a run of several load processes is all its files: keep them in one folder"
            raise JournalUnreadable(message, hint=hint) from error
        reader = RecordReader(iter(file))
        self._readers.append(reader)
        self._streams.append(iter(reader))

    def _upto(self, end: StageDone | None) -> Iterator[JournalRecord]:
        """Yield what each wrote up to its own end of a stage; ``None`` = all the rest."""
        for stream in self._streams:
            for record in stream:
                match record:
                    case Started() | TrialDone() | Incident():
                        yield record
                    case StageDone() if end is not None and _same_stage(record, end):
                        break
                    case _:
                        pass  # the leading journal says it of all of them


def _same_stage(one: StageDone, other: StageDone) -> bool:
    key = (other.target_id, other.case_id, other.number, other.attempt)
    return (one.target_id, one.case_id, one.number, one.attempt) == key
