"""From typed options to a described, trusted and located gateway."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bench.cli.console import Console
from orchestrator.app import trust_store
from orchestrator.config import Sources, resolve
from orchestrator.description import GatewayConfig
from orchestrator.faults import Untrusted
from orchestrator.launching import read_env_files, secret_values
from orchestrator.lifecycle import Machine
from orchestrator.locate import Located, locate
from orchestrator.trust import Subject, TrustStore, subjects


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A gateway that may be started."""

    config: GatewayConfig
    located: Located
    environ: Mapping[str, str]


def describe(
    flags: Mapping[str, Any],
    machine: Machine,
    console: Console,
    *,
    cwd: Path | None = None,
    use_files: bool = True,
) -> Described:
    """Resolve the description, have it trusted, find what it starts.

    Args:
        flags: What was typed, by key.
        machine: The ports: the state folder remembers what is trusted.
        console: Where the question is asked, and what must be masked from now on.
        cwd: Working directory; ``None`` = the process's own.
        use_files: False for a gateway that no file may change.

    Raises:
        Untrusted: A file decides what is executed, nobody has agreed, and nobody can be asked.
    """
    environ = dict(os.environ)
    config = resolve(
        Sources(flags=flags, environ=environ, cwd=cwd or Path.cwd(), use_files=use_files)
    )
    _require_trust(config, trust_store(machine), console)
    located = locate(config, environ)
    for one in read_env_files(config):
        console.keep_secret(*secret_values(one))
    return Described(config=config, located=located, environ=environ)


def _require_trust(config: GatewayConfig, store: TrustStore, console: Console) -> None:
    for subject in subjects(config):
        if store.knows(subject):
            continue
        if not _can_ask(console):
            raise untrusted(subject)
        console.say(f"`{subject.path}` decides what would be executed:")
        for line in subject.decides:
            console.say(f"  {line}")
        if not click.confirm("Trust this content?", err=True):
            raise untrusted(subject)
        store.add(subject)


def untrusted(subject: Subject) -> Untrusted:
    """Return the refusal, with the command that agrees."""
    return Untrusted(
        str(subject.path), subject.decides, f"gateway-bench trust {subject.path.parent}"
    )


def _can_ask(console: Console) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and not console.wants_json
