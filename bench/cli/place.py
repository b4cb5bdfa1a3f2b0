"""Where the command was called: the one place that reads the environment and working directory."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.cli.console import Console
from bench.cli.options import typed_settings
from bench.client.masking import holds_secret
from bench.config import Config, Place, load_config


def current_place() -> Place:
    """Return the working directory and the environment."""
    return Place(folder=Path.cwd(), environ=dict(os.environ))


def data_home() -> Path:
    """Return the user's data folder of this system."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def archive_folder() -> Path:
    """Return the user's folder of runs: one folder per run id."""
    return data_home() / "gateway-bench" / "runs"


def configured(params: Mapping[str, Any], console: Console) -> Config:
    """Return the settings; every key in sight is masked from here on."""
    config = load_config(typed_settings(params), current_place())
    known = config.known_keys()
    environ = config.place.environ
    seen = [
        value for name, value in (*known.production, *known.local) if environ.get(name) == value
    ]
    console.keep_secret(*seen, *(value for _, value in known.production))
    typed = config.settings.header
    console.keep_secret(*(value for name, value in typed if holds_secret(name.lower(), value)))
    return config
