"""Where the command was called: the one place that reads the environment and working directory."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.config import Place


def current_place() -> "Place":
    """Return the working directory and the environment."""
    from bench.config import Place  # every command's help passes through this module

    return Place(folder=Path.cwd(), environ=dict(os.environ))


def data_home() -> Path:
    """Return the user's data folder of this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def archive_folder() -> Path:
    """Return the user's folder of runs: one folder per run id."""
    return data_home() / "gateway-bench" / "runs"
