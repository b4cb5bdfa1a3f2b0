"""A second home for journals and results: worktrees are thrown away, what was paid for is not."""

import logging
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from bench.errors import reason_in
from bench.model.record import Record

log = logging.getLogger(__name__)

_MARK = ".from.json"
"""Not one of the run's files: what begins with a dot is passed over when a run is looked for."""


class KeptFrom(Record, frozen=True, kw_only=True):
    """Where the files of a kept run come from. Stays on this machine, is in no result."""

    journal: str
    """Absolute path of the journal that the run writes."""
    repository: str | None = None
    """Folder that the worktrees of its repository share; ``None`` = made outside of one."""


def keep(files: Iterable[Path], folder: Path) -> tuple[str, ...]:
    """Link or copy ``files`` into ``folder``, over what an earlier part of the run left there.

    A hard link where both lie on one file system: a journal then grows in both places at once.

    Args:
        files: Existing files; those that don't exist are skipped.
        folder: One run's own folder in the user's data folder.

    Returns:
        One sentence for each file that could not be kept. The originals are never touched.
    """
    faults = []
    for file in files:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _keep_one(file, folder / file.name)
        except FileNotFoundError:
            log.debug("%s is not there, so it is not kept", file)
        except OSError as error:
            faults.append(f"`{file}` was not copied to `{folder}`: {reason_in(error)}")
    return tuple(faults)


def linked(file: Path, folder: Path) -> Path | None:
    """Return the hard link of ``file`` in ``folder``; ``None`` = there is none, or only a copy."""
    kept = folder / file.name
    try:
        return kept if kept.samefile(file) else None
    except OSError:
        return None


def mark(folder: Path, *, journal: Path, repository: Path | None) -> None:
    """Note where a kept run comes from; what can't be noted is only missed by `latest`.

    Args:
        folder: The run's own folder in the user's data folder.
        journal: The one that the run writes. One that lies in ``folder`` itself changes nothing.
        repository: What its worktrees share; ``None`` = as it was noted before, if it was.
    """
    if journal.absolute().parent == folder.absolute():
        return
    before = kept_from(folder)
    known = before.repository if before else None
    note = KeptFrom(
        journal=str(journal.absolute()), repository=str(repository) if repository else known
    )
    fresh = folder / f"{_MARK}.{os.getpid()}"
    try:
        fresh.write_bytes(msgspec.json.encode(note))
        fresh.replace(folder / _MARK)
    except OSError:
        log.debug("%s can't be marked", folder, exc_info=True)


def kept_from(folder: Path) -> KeptFrom | None:
    """Return where a kept run comes from; ``None`` = nobody noted it."""
    try:
        return msgspec.json.decode((folder / _MARK).read_bytes(), type=KeptFrom)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _keep_one(file: Path, kept: Path) -> None:
    if kept.exists() and kept.samefile(file):
        return
    fresh = kept.with_name(f".{kept.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        fresh.unlink()
    try:
        os.link(file, fresh)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without hard links
        shutil.copy2(file, fresh)
    fresh.replace(kept)
