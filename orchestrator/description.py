"""What is known of a gateway before it is started. Pure values; `config` makes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.entry import EntryMode
from orchestrator.readiness import HealthCheck
from orchestrator.settings import EnvFile, GeneratedFile, Service
from orchestrator.sources import TomlFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointing:
    """How the gateway is told where its upstream is."""

    env: Mapping[str, str] = field(default_factory=dict)
    args: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of each benchmark request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayConfig:
    """Everything that is known of a gateway before it is started."""

    preset: str | None = None
    about: str | None = None
    cwd: Path
    """Where the command was typed: `.env` and results belong there."""
    dir: Path
    look_in: tuple[str, ...] = (".",)
    """Folders under ``dir`` where the entry may be; the first that has it is the cwd."""
    executable: str | None = None
    """Name or path of a program; looked for in ``executable_env``, PATH and near virtual envs."""
    executable_env: str | None = None
    install: str | None = None
    """What to do when entry or executable is not there."""
    command: tuple[str, ...] = ()
    """The whole command, or with ``entry`` the interpreter and its options."""
    entry: Path | None = None
    entry_mode: EntryMode = "shim"
    args: tuple[str, ...] = ()
    env_files: tuple[EnvFile, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    port: int | None = None
    is_port_fixed: bool = False
    port_env: tuple[str, ...] = ()
    health: HealthCheck
    ready_timeout_ms: float
    grace_ms: float
    services: tuple[Service, ...] = ()
    build: tuple[tuple[str, ...], ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    teardown: tuple[tuple[str, ...], ...] = ()
    kill_patterns: tuple[str, ...] = ()
    upstream: str
    """``simulated``, ``own``, ``embedded`` (it is the simulator) or a URL."""
    upstream_key_env: str | None = None
    """Variable that holds the key for an upstream given as URL."""
    upstream_free: str | None = None
    """Why what the gateway asks costs nothing; ``None`` = nobody says so."""
    point: Pointing = field(default_factory=Pointing)
    generate: tuple[GeneratedFile, ...] = ()
    api_key_env: str | None = None
    token: str | None = None
    """The gateway's seeded token: no secret, it is in its own seed data."""
    dialect: str
    api_path: str
    notes: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)
    """Where each key's value came from."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Each key's value as it was written."""
    file: TomlFile | None = None
    """The file that took part; its content may need a person's trust."""
    untrusted: Mapping[str, str] = field(default_factory=dict)
    """Keys that were read from a file of the worktree, with the file's path."""
