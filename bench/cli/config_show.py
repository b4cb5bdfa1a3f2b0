"""`config show`: every measuring setting and where it comes from."""

import click
import msgspec

from bench.cli.options import measuring_options, typed_settings
from bench.cli.outcome import Outcome
from bench.cli.place import current_place
from bench.cli.sections import SectionedCommand
from bench.config import Config, load_config


@click.command("show", cls=SectionedCommand)
@measuring_options
def config_show_command(**params: object) -> Outcome:
    """Print the settings as a run here and now would use them, with the options typed after it."""
    config = load_config(typed_settings(params), current_place())
    return Outcome(
        headline=f"{len(config.origins)} measuring settings",
        detail={"bench": {name: msgspec.to_builtins(it) for name, it in config.origins.items()}},
        text="\n".join(setting_lines(config)),
    )


def setting_lines(config: Config) -> list[str]:
    """Return one line per setting, `name = value  (origin)`; keys are named, never shown."""
    rows = [(f"{name} = {_shown(it.value)}", it.origin) for name, it in config.origins.items()]
    width = min(max(len(left) for left, _ in rows), 60)
    return [f"{left.ljust(width)}  ({origin})" for left, origin in rows]


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(str(entry) for entry in value) or "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
