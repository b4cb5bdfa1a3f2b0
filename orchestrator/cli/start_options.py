"""The options that describe a gateway, shared by every command that starts one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.cli.sections import SectionedOption
from orchestrator.settings import ENTRY_MODES

_F = TypeVar("_F", bound=Callable[..., Any])

GATEWAY = "The gateway"

_OPTIONS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("--gateway", "gateway_dir", {"metavar": "DIR"}, "Its folder. Default: the working directory."),
    ("--upstream", "upstream", {"metavar": "simulated|own|URL"}, "Where its requests go."),
    (
        "--upstream-key-env",
        "upstream_key_env",
        {"metavar": "NAME"},
        "Variable with the key for an upstream that is a URL.",
    ),
    ("--entry", "entry", {"metavar": "FILE"}, "The file that is started."),
    (
        "--entry-mode",
        "entry_mode",
        {"type": click.Choice(ENTRY_MODES)},
        "How it is renamed. Default: shim.",
    ),
    (
        "--command",
        "command",
        {"metavar": "WORDS"},
        "The whole command, or with `--entry` its interpreter.",
    ),
    (
        "--env-file",
        "env_file",
        {"metavar": "FILE", "multiple": True},
        "Variables for the gateway; exported ones win. Repeatable.",
    ),
    ("--port", "port", {"metavar": "PORT"}, "Exactly this port. Default: a free one."),
    (
        "--port-env",
        "port_env",
        {"metavar": "NAMES"},
        "Variables that carry the port. Default: PORT,GATEWAY_PORT.",
    ),
    ("--health", "health", {"metavar": "PATH"}, "What is asked for health. Default: /health."),
    ("--health-status", "health_status", {"metavar": "N"}, "The status that counts. Default: 200."),
    (
        "--ready-timeout",
        "ready_timeout",
        {"metavar": "TIME"},
        "How long it may take to be ready. Default: 60s.",
    ),
    (
        "--grace",
        "grace",
        {"metavar": "TIME"},
        "Between SIGTERM and SIGKILL when it is stopped. Default: 10s.",
    ),
)

_PRESET = click.option(
    "--preset",
    "preset",
    cls=SectionedOption,
    section=GATEWAY,
    metavar="NAME",
    help="A known gateway: demo, litellm, llmgateway or portkey.",
)


def start_options(command: _F) -> _F:
    """Add what describes a gateway, less `--preset`, which measuring commands have already."""
    for spelling, name, extra, text in reversed(_OPTIONS):
        command = click.option(
            spelling, name, cls=SectionedOption, section=GATEWAY, help=text, **extra
        )(command)
    return command


def preset_option(command: _F) -> _F:
    """Add `--preset` to a command that does not measure."""
    return _PRESET(command)


def keep_option(command: _F) -> _F:
    """Add `--keep`."""
    return click.option(
        "--keep",
        is_flag=True,
        cls=SectionedOption,
        section=GATEWAY,
        help="Leave the gateway up at the end.",
    )(command)


def model_option(command: _F) -> _F:
    """Add ``--model`` where no model is an argument."""
    return click.option(
        "--model",
        "models",
        multiple=True,
        cls=SectionedOption,
        section=GATEWAY,
        metavar="ID",
        help="A model that generated configuration lists (litellm). Default: every name.",
    )(command)


def typed_flags(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed, by key of the description."""
    entry = params.get("entry")
    return {
        "preset": params.get("preset"),
        "dir": params.get("gateway_dir"),
        "upstream": params.get("upstream"),
        "upstream_key_env": params.get("upstream_key_env"),
        "entry": entry,
        "entry_mode": params.get("entry_mode"),
        "command": params.get("command"),
        "env_files": list(params["env_file"]) if params.get("env_file") else None,
        "port": params.get("port"),
        "port_env": params.get("port_env"),
        "health.path": params.get("health"),
        "health.status": params.get("health_status"),
        "ready_timeout": params.get("ready_timeout"),
        "grace": params.get("grace"),
        "api_key_env": params.get("api_key_env"),
    }


def working_folder() -> Path:
    """Return the working directory."""
    return Path.cwd()
