"""`--attach PID`: a gateway that somebody else started."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.cli.sections import SectionedOption
from orchestrator.attaching import Candidate, candidate
from orchestrator.cli.describing import Described
from orchestrator.cli.start_options import GATEWAY
from orchestrator.config import Sources, resolve
from orchestrator.lifecycle import Machine
from orchestrator.locate import Located

_F = TypeVar("_F", bound=Callable[..., Any])

_STARTS_ONLY = {
    "entry": "--entry",
    "entry_mode": "--entry-mode",
    "command": "--command",
    "env_file": "--env-file",
    "upstream": "--upstream",
    "upstream_key_env": "--upstream-key-env",
    "port_env": "--port-env",
    "ready_timeout": "--ready-timeout",
    "grace": "--grace",
    "keep": "--keep",
}
"""Options that say how a gateway is started or stopped: neither happens here."""


def attach_option(command: _F) -> _F:
    """Add `--attach`."""
    return click.option(
        "--attach",
        type=click.IntRange(min=1),
        cls=SectionedOption,
        section=GATEWAY,
        metavar="PID",
        help="Use a gateway that runs already: it is proven, watched and never stopped.",
    )(command)


def refuse_start_options(params: Mapping[str, Any], *, beside: str = "--attach") -> None:
    """Refuse what has no meaning for a gateway that runs already.

    Raises:
        UsageError: One was typed.
    """
    typed = [spelling for name, spelling in _STARTS_ONLY.items() if params.get(name)]
    if typed:
        message = f"`{typed[0]}` is not for `{beside}`, which starts and stops nothing"
        raise click.UsageError(message)


def describe_attached(flags: Mapping[str, Any], here: Machine, pid: int) -> Described:
    """Resolve what is known of a process that runs: health, port, key, dialect.

    One of ours that is on record brings its preset and its upstream along.

    Raises:
        NotAttached: There is no such process, or it can't be told.
    """
    found = candidate(here, pid)
    found.held.close()
    environ = dict(os.environ)
    sources = Sources(flags={**flags, **_known(flags, found)}, environ=environ, cwd=Path.cwd())
    folder = Path(found.seen.folder or "/")
    return Described(
        config=resolve(sources),
        located=Located(folder=folder, words=(), entry=None),
        environ=environ,
        uses_files=True,
    )


def _known(flags: Mapping[str, Any], found: Candidate) -> dict[str, Any]:
    if found.record is None:
        # Nobody here pointed it anywhere.
        return {"upstream": "own"}
    labels = found.record.labels
    chosen = labels.get("upstream")
    known = {
        "preset": flags.get("preset") or labels.get("preset"),
        # Preset `demo` brings its own, and no flag may name it.
        "upstream": None if chosen == "embedded" else chosen,
    }
    if flags.get("health.path") is None:
        known["health.path"] = found.record.health_path
    return known
