"""The settings of a command that measures, with every secret in sight masked."""

from collections.abc import Mapping
from typing import Any

from bench.cli.console import Console
from bench.cli.options import typed_settings
from bench.cli.place import current_place
from bench.client.masking import holds_secret
from bench.config import Config, load_config


def configured(params: Mapping[str, Any], console: Console) -> Config:
    """Return the settings; every key in sight is masked from here on."""
    config = load_config(typed_settings(params), current_place())
    known = config.known_keys()
    environ = config.place.environ
    seen = [
        value for name, value in (*known.production, *known.local) if environ.get(name) == value
    ]
    console.keep_secret(*seen, *(value for _, value in known.production))
    typed = (*config.settings.header, *config.settings.baseline_header)
    console.keep_secret(*(value for name, value in typed if holds_secret(name.lower(), value)))
    return config
