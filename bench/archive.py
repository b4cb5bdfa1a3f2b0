"""A second home for journals and results: worktrees are thrown away, what was paid for is not."""

import logging
import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)


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
            faults.append(f"`{file}` was not copied to `{folder}`: {error.strerror}")
    return tuple(faults)


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
