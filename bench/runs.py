"""From what a person calls a run to its file: a path, a run id, `latest`, `latest~1`."""

import re
from dataclasses import dataclass
from pathlib import Path

from bench.errors import UnknownName, UsageFault

_LATEST = re.compile(r"latest(?:~(\d+))?")
_JOURNAL, _DOCUMENT = ".jsonl", ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A run's file and where it was found."""

    path: Path
    is_archived: bool
    """In the user's data folder, where only this tool writes; else a file that was named."""


def find_run(name: str, *, archive: Path, folder: Path, needs_journal: bool) -> FoundRun:
    """Return the file of a run.

    Args:
        name: A file, a run id, `latest` or `latest~N`.
        archive: The user's folder of runs, one folder per run id.
        folder: What relative paths count from.
        needs_journal: A result document is not enough.

    Raises:
        UnknownName: No run of that id.
        UsageFault: No such file, or only a document where a journal is needed.
    """
    path = folder / Path(name).expanduser()
    if path.is_file():
        return FoundRun(path=_suitable(path, needs_journal=needs_journal), is_archived=False)
    if "/" in name or path.suffix in {_JOURNAL, _DOCUMENT}:
        message = f"there is no file `{path}`"
        raise UsageFault(message)
    runs = _newest_first(archive)
    latest = _LATEST.fullmatch(name)
    if latest:
        number = int(latest[1] or 0)
        if number >= len(runs):
            message = f"`{name}`: `{archive}` holds {len(runs)} run(s)"
            raise UsageFault(message)
        return FoundRun(
            path=_suitable(_file_in(runs[number]), needs_journal=needs_journal), is_archived=True
        )
    for run in runs:
        if run.name == name:
            return FoundRun(
                path=_suitable(_file_in(run), needs_journal=needs_journal), is_archived=True
            )
    raise UnknownName("run", name, [run.name for run in runs], listed_by=f"ls {archive}")


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
    journals = sorted(path for path in files if path.suffix == _JOURNAL)
    return (journals or sorted(path for path in files if path.suffix == _DOCUMENT))[0]
