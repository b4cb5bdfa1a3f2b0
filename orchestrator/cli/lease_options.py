"""`--ttl` and `--idle-stop`: when a gateway that nobody stops ends by itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.cli.sections import SectionedOption
from orchestrator.cli.start_options import GATEWAY
from orchestrator.settings import Unreadable, duration

_F = TypeVar("_F", bound=Callable[..., Any])
_SHORTEST_S = 1.0

_OPTIONS = (
    ("--ttl", "ttl", "It ends this long after this command: `2h`. Default: never."),
    ("--idle-stop", "idle_stop", "It ends once nobody was connected for this long: `30m`."),
)


def lease_options(command: _F) -> _F:
    """Add both."""
    for spelling, name, text in reversed(_OPTIONS):
        command = click.option(
            spelling,
            name,
            cls=SectionedOption,
            section=GATEWAY,
            metavar="TIME",
            callback=_seconds,
            help=text,
        )(command)
    return command


def _seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    try:
        seconds = duration(value, Path()) / 1000
    except Unreadable as fault:
        message = f"`{param.opts[0]}` {fault}"
        raise click.UsageError(message, ctx) from fault
    if seconds < _SHORTEST_S:
        message = f"`{param.opts[0]}` is `{value}`, must be at least `1s`"
        raise click.UsageError(message, ctx)
    return seconds
