"""The values of settings as listings and records keep them. Pure."""

from bench.durations import duration_text
from bench.load.levels import Typed
from bench.setting_readers import limit_ms, positive_duration_ms
from bench.settings import Setting


def shown(setting: Setting, value: object) -> object:
    """Return a value as `config show` and the journal keep it."""
    if setting.name in {"header", "baseline-header"} and isinstance(value, tuple):
        return [f"{name}: …" for name, _ in value]
    if setting.read in {limit_ms, positive_duration_ms}:
        return duration_text(value) if isinstance(value, float) else "none"
    if setting.kind == "one" and isinstance(value, tuple):
        return "/".join(f"{part:g}" for part in value)
    return [_typed(entry) for entry in value] if isinstance(value, tuple) else _typed(value)


def _typed(value: object) -> object:
    return value.text if isinstance(value, Typed) else value
