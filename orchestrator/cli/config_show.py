"""`config show`: each setting of gateway and benchmark, and where it comes from."""

import os
from pathlib import Path
from typing import Any

import click
import msgspec

from bench.cli.config_show import setting_lines, user_detail, user_lines
from bench.cli.options import measuring_options, typed_settings
from bench.cli.outcome import Outcome
from bench.cli.place import config_home, current_place
from bench.cli.sections import SectionedCommand
from bench.config import load_config
from bench.durations import duration_text
from bench.user_config import load_user_config
from orchestrator.cli.start_options import start_options, typed_flags
from orchestrator.config import Sources, resolve
from orchestrator.description import GatewayConfig
from orchestrator.masking import mask
from orchestrator.trust import printable, shown

_WIDTH = 60


@click.command("show", cls=SectionedCommand)
@start_options
@measuring_options
def config_show_command(**params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Print the settings as `run` here and now would use them, with the options typed after it.

    Nothing is started and nothing is executed; what looks like a secret is masked.
    """
    gateway = resolve(Sources(flags=typed_flags(params), environ=dict(os.environ), cwd=Path.cwd()))
    bench = load_config(typed_settings(params), current_place())
    user = load_user_config(config_home())
    rows = gateway_rows(gateway)
    lines = ["[gateway]", *_lines(rows), *(f"note: {one}" for one in gateway.notes)]
    lines += ["", "[bench]", *setting_lines(bench), "", "your own", *user_lines(user)]
    return Outcome(
        headline=f"{len(rows)} gateway settings, {len(bench.origins)} measuring settings",
        detail={
            "gateway": {key: {"value": value, "origin": origin} for key, value, origin in rows},
            "bench": {name: msgspec.to_builtins(it) for name, it in bench.origins.items()},
            "user": user_detail(user),
        },
        text="\n".join(lines),
    )


def gateway_rows(config: GatewayConfig) -> list[tuple[str, str, str]]:
    """Return key, value and origin of each setting of the gateway, secrets masked."""
    return [
        (key, _safe(key, config.values[key]), config.origins[key]) for key in sorted(config.values)
    ]


def _safe(key: str, value: object) -> str:
    if key in ("env", "point.env", "point.headers") and isinstance(value, dict):
        named = [f"{name}={mask(f'{name}={one}').partition('=')[2]}" for name, one in value.items()]
        return printable(", ".join(named))
    if isinstance(value, float):  # the only numbers with a fraction are durations
        return duration_text(value)
    return printable(mask(shown(value)))


def _lines(rows: list[tuple[str, str, str]]) -> list[str]:
    left = [f"{key} = {value or '-'}" for key, value, _ in rows]
    width = min(max(map(len, left), default=0), _WIDTH)
    return [f"{one.ljust(width)}  ({row[2]})" for one, row in zip(left, rows, strict=True)]
