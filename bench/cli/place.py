"""Where the command was called: the one place that reads the environment and working directory."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.config import Place
    from bench.runs import FoundRun


def current_place() -> "Place":
    """Return the working directory and the environment."""
    from bench.config import Place  # every command's help passes through this module

    return Place(folder=Path.cwd(), environ=dict(os.environ))


def data_home() -> Path:
    """Return the user's data folder of this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def config_home() -> Path:
    """Return the folder of this program in the user's configuration folder."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "gateway-bench"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "gateway-bench"


def claims_folder() -> Path:
    """Return where runs note what they may spend of a day."""
    return data_home() / "gateway-bench" / "days"


def archive_folder() -> Path:
    """Return the user's folder of runs: one folder per run id."""
    return data_home() / "gateway-bench" / "runs"


def named_run(name: str, *, needs_journal: bool) -> "FoundRun":
    """Return the file of the run that is called ``name`` here.

    Args:
        name: A file, a run id, `latest` (of this repository) or `latest~N`.
        needs_journal: A result document is not enough.

    Raises:
        UsageFault: There is none.
    """
    from bench.config import find_git_root
    from bench.repository import common_folder
    from bench.runs import Shelf, find_run

    folder = Path.cwd()
    shelf = Shelf(
        archive=archive_folder(),
        folder=folder,
        repository=common_folder(find_git_root(folder)),
    )
    return find_run(name, shelf, needs_journal=needs_journal)
