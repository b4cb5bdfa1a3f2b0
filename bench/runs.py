"""From what a person calls a run to its file: a path, a run id, `latest`, `latest~1`, a commit."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from bench.archive import kept_from
from bench.errors import UnknownName, UsageFault
from bench.model.record import Value
from bench.shards import is_shard

_LATEST = re.compile(r"latest(?:~(\d+))?")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_GATEWAY = b'"type":"gateway"'
_FIRST_LINES = 20
_HEAD_BYTES = 40
"""Bytes of a journal line that hold its type."""
_JOURNAL, _DOCUMENT = ".jsonl", ".json"


class FoundRun(Value, frozen=True, kw_only=True):
    """A run's file and where it was found."""

    path: Path
    is_archived: bool
    """Found by way of the user's data folder, where only this tool writes; else it was named."""

    def reports_folder(self, results: Path) -> Path:
        """Return where the run's reports go: beside a file that was named, else to ``results``."""
        return results if self.is_archived else self.path.parent


class Shelf(Value, frozen=True, kw_only=True):
    """Where runs are looked for."""

    archive: Path
    """The user's folder of runs, one folder per run id."""
    folder: Path
    """What relative paths count from."""
    repository: Path | None = None
    """`latest` counts the runs of all worktrees of this one; ``None`` = of everywhere."""


def find_run(name: str, shelf: Shelf, *, needs_journal: bool) -> FoundRun:
    """Return the file of a run.

    Args:
        name: A file, a run id, `latest`, `latest~N`, or the (beginning of the) commit of a build:
            then the last run of it.
        shelf: Where to look.
        needs_journal: A result document is not enough.

    Raises:
        UnknownName: No run of that id.
        UsageFault: No such file, or only a document where a journal is needed.
    """
    path = shelf.folder / Path(name).expanduser()
    if path.is_file():
        is_ours = path.resolve().parent.parent == shelf.archive.resolve()
        return FoundRun(path=_suitable(path, needs_journal=needs_journal), is_archived=is_ours)
    if "/" in name or path.suffix in {_JOURNAL, _DOCUMENT}:
        message = f"there is no file `{path}`"
        raise UsageFault(message)
    run = _kept_run(name, shelf)
    file = _suitable(_file_in(run), needs_journal=needs_journal)
    return FoundRun(path=_fullest(file), is_archived=True)


def kept_journals(shelf: Shelf, *, since: float) -> Iterator[Path]:
    """Yield the journals of the runs that are kept, the last written first.

    Of a run whose journal grew on where it was made, that one; runs that left only a document have
    none.

    Args:
        shelf: Where to look; its repository decides whose runs.
        since: Seconds of the system's clock: journals written last before it are left out.
    """
    for run in _of_repository(_newest_first(shelf.archive), shelf.repository):
        kept = _file_in(run)
        if kept.suffix != _JOURNAL:
            continue
        journal = _fullest(kept)
        try:
            is_fresh = journal.stat().st_mtime >= since
        except OSError:
            continue  # removed in this moment
        if is_fresh:
            yield journal


def _kept_run(name: str, shelf: Shelf) -> Path:
    """Return the folder of the run that ``name`` means."""
    latest = _LATEST.fullmatch(name)
    runs = _newest_first(shelf.archive)
    if latest is None:
        if found := next((run for run in runs if run.name == name), None):
            return found
        if _COMMIT.fullmatch(name) and (found := _of_commit(runs, name)):
            return found
        listed = f"ls {shelf.archive}"
        raise UnknownName("run", name, [run.name for run in runs], listed_by=listed)
    number = int(latest[1] or 0)
    counted = list(_of_repository(runs, shelf.repository))
    if number < len(counted):
        return counted[number]
    message = f"`{name}`: `{shelf.archive}` holds {len(counted)} run(s)"
    hint = None
    if shelf.repository is not None:
        message += f" of the repository `{shelf.repository.parent}`"
        if others := len(runs) - len(counted):
            hint = f"{others} run(s) were made elsewhere: name one by its id or file"
    raise UsageFault(message, hint=hint)


def _of_commit(runs: Iterable[Path], commit: str) -> Path | None:
    """Return the last run whose gateway was built from ``commit``."""
    named = f'"commit":"{commit}'.encode()
    for run in runs:
        with suppress(OSError), _file_in(run).open("rb") as file:
            # The build is told before anything is measured.
            told = (line for line in islice(file, _FIRST_LINES) if _GATEWAY in line[:_HEAD_BYTES])
            if named in next(told, b""):
                return run
    return None


def _of_repository(runs: Iterable[Path], repository: Path | None) -> Iterator[Path]:
    for run in runs:
        origin = kept_from(run) if repository else None
        if repository is None or (origin and origin.repository == str(repository)):
            yield run


def _fullest(kept: Path) -> Path:
    """Return the journal that a kept one is the copy of, unless that is gone or behind.

    A journal only grows: of two files with the same header the longer one is the whole truth. A
    copy stays behind when its run was killed, for it is made at the start and at the end.
    """
    origin = kept_from(kept.parent)
    if origin is None or kept.suffix != _JOURNAL:
        return kept
    own = Path(origin.journal)
    try:
        if own.samefile(kept):
            return own
        is_whole = own.stat().st_size >= kept.stat().st_size
        return own if is_whole and _first_line(own) == _first_line(kept) else kept
    except OSError:
        return kept


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline()


def _suitable(path: Path, *, needs_journal: bool) -> Path:
    """Return the journal beside a document where one is needed."""
    if not needs_journal or path.suffix == _JOURNAL:
        return path
    journal = path.with_suffix(_JOURNAL)
    if not journal.is_file():
        message = f"`{path}` has no journal beside it"
        raise UsageFault(message, hint="name the `.jsonl` file of the run")
    return journal


def _newest_first(archive: Path) -> list[Path]:
    """Return the run folders that hold something, the last written first."""
    try:
        runs = [
            (_file_in(run).stat().st_mtime_ns, run) for run in archive.iterdir() if _has_file(run)
        ]
    except OSError:
        return []
    return [run for _, run in sorted(runs, reverse=True)]


def _has_file(run: Path) -> bool:
    return run.is_dir() and any(
        path.suffix in {_JOURNAL, _DOCUMENT} and not path.name.startswith(".")
        for path in run.iterdir()
    )


def _file_in(run: Path) -> Path:
    """Return the run's journal, else its document."""
    files = [path for path in run.iterdir() if not path.name.startswith(".")]
    journals = sorted(path for path in files if path.suffix == _JOURNAL and not is_shard(path))
    return (journals or sorted(path for path in files if path.suffix == _DOCUMENT))[0]
