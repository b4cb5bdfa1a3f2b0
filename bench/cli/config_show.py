"""`config show`: every measuring setting and where it comes from."""

import click
import msgspec

from bench.cli.options import measuring_options, typed_settings
from bench.cli.outcome import Outcome
from bench.cli.place import config_home, current_place
from bench.cli.sections import SectionedCommand
from bench.config import Config, load_config
from bench.user_config import UserConfig, load_user_config


@click.command("show", cls=SectionedCommand)
@measuring_options
def config_show_command(**params: object) -> Outcome:
    """Print the settings as a run here and now would use them, with the options typed after it."""
    config = load_config(typed_settings(params), current_place())
    user = load_user_config(config_home())
    return Outcome(
        headline=f"{len(config.origins)} measuring settings",
        detail={
            "bench": {name: msgspec.to_builtins(it) for name, it in config.origins.items()},
            "user": user_detail(user),
        },
        text="\n".join([*setting_lines(config), *user_lines(user)]),
    )


def user_lines(user: UserConfig) -> list[str]:
    """Return the user's own settings as lines of the same kind."""
    limit = user.max_cost_per_day
    origin = "default" if limit is None else str(user.path)
    return [f"max-cost-per-day = {'-' if limit is None else f'{limit:g}'}  ({origin})"]


def user_detail(user: UserConfig) -> dict[str, object]:
    """Return the same for programs."""
    return {"maxCostPerDay": user.max_cost_per_day, "file": str(user.path)}


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
