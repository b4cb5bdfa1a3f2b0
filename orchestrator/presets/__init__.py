"""Descriptions of known gateways, as data: one TOML file each, with the keys of `[gateway]`."""

import tomllib
from importlib import resources
from typing import Any


def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, sorted."""
    files = resources.files(__name__).iterdir()
    return tuple(sorted(one.name.removesuffix(".toml") for one in files if _is_preset(one.name)))


def read_preset(name: str) -> dict[str, Any]:
    """Return the description of one preset.

    Args:
        name: One of ``preset_names()``.
    """
    return tomllib.loads((resources.files(__name__) / f"{name}.toml").read_text("utf-8"))


def _is_preset(file_name: str) -> bool:
    return file_name.endswith(".toml")
