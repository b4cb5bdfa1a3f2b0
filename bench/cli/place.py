"""Where the command was called: the one place that reads the environment and working directory."""

import os
from pathlib import Path

from bench.config import Place


def current_place() -> Place:
    """Return the working directory and the environment."""
    return Place(folder=Path.cwd(), environ=dict(os.environ))
