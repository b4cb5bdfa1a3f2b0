"""From a description to what `starting.start` takes: words, environment, health, per port."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.description import GatewayConfig
from orchestrator.entry import read_command
from orchestrator.environment import GatewayEnvironment, gateway_environment
from orchestrator.errors import EntryMissing, state_access
from orchestrator.lifecycle import Launch
from orchestrator.locate import Located
from orchestrator.masking import secret_values
from orchestrator.sources import read_env_file, unread_lines
from orchestrator.templates import fill, fill_per_model

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where the gateway's requests go; ``None`` fields = its own settings decide."""

    url: str | None = None
    """Without a path: ``http://127.0.0.1:18001``."""
    base_url: str | None = None
    """As OpenAI clients want it: with ``/v1``."""
    token: str | None = None
    is_simulated: bool = False

    @classmethod
    def at(
        cls, address: str, *, token: str | None = None, is_simulated: bool = False
    ) -> "Upstream":
        """Name an upstream by its address, with or without ``/v1``."""
        root = address.rstrip("/").removesuffix("/v1")
        return cls(url=root, base_url=f"{root}/v1", token=token, is_simulated=is_simulated)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What one start knows beside the description."""

    caller: Mapping[str, str]
    """Environment of the command."""
    generated: Path
    """Private folder for generated files."""
    upstream: Upstream = field(default_factory=Upstream)
    answer_book: Path | None = None
    models: tuple[str, ...] = ()
    """Names that the gateway will be asked for."""
    key_names: tuple[str, ...] = ()
    """Variables of the benchmark's own key."""


def token_of(config: GatewayConfig, near: Surroundings) -> str | None:
    """Return the gateway's local key: the exported one, else the seeded one."""
    exported = near.caller.get(config.api_key_env or "")
    if exported and config.upstream != "embedded":
        return exported
    values = {"upstream_token": near.upstream.token or "none"}
    return None if config.token is None else fill(config.token, values)


def client_key(config: GatewayConfig, near: Surroundings) -> dict[str, str]:
    """Return the gateway's local key under its variable's name, for a client's environment.

    Empty where the description seeds none: what the caller exported is there anyway.
    """
    name, token = config.api_key_env, token_of(config, near)
    if name is None or token is None or config.token is None:
        return {}
    return {name: token}


def environment_for(config: GatewayConfig, near: Surroundings, port: int) -> GatewayEnvironment:
    """Build the gateway's environment for one port.

    Raises:
        EntryMissing: An env file that has to be there is not.
    """
    values = places(config, near, port)
    sets = {name: str(port) for name in config.port_env}
    sets |= {name: fill(text, values) for name, text in _pointing_env(config, near).items()}
    return gateway_environment(
        near.caller,
        env_files=read_env_files(config),
        fills={name: fill(text, values) for name, text in config.env.items()},
        sets=sets,
        keys=near.key_names,
    )


def read_env_files(config: GatewayConfig) -> tuple[Mapping[str, str], ...]:
    """Read the gateway's env files, in order.

    Raises:
        EntryMissing: One that is not optional is not there.
    """
    found = []
    for one in config.env_files:
        if one.path.is_file():
            found.append(read_env_file(one.path))
        elif not one.optional:
            raise EntryMissing("env file", str(one.path), hint="check `--env-file`")
    return tuple(found)


def env_file_warnings(config: GatewayConfig) -> tuple[str, ...]:
    """Return a sentence for each env file that has lines which say nothing; no content of it."""
    warnings = []
    for one in config.env_files:
        lines = unread_lines(one.path) if one.path.is_file() else ()
        if lines:
            listed = ", ".join(map(str, lines))
            which = f"line {listed} of `{one.path}` is"
            if len(lines) > 1:
                which = f"lines {listed} of `{one.path}` are"
            warnings.append(f"{which} no `NAME=VALUE`, and left out")
    return tuple(warnings)


def places(config: GatewayConfig, near: Surroundings, port: int) -> dict[str, str]:
    """Return what each place of a template is filled with."""
    url = f"http://{HOST}:{port}"
    found: dict[str, str | None] = {
        "python": sys.executable,
        "host": HOST,
        "port": str(port),
        "url": url,
        "base_url": f"{url}{config.api_path}",
        "token": token_of(config, near),
        "generated": str(near.generated),
        "answer_book": None if near.answer_book is None else str(near.answer_book),
        "upstream_url": near.upstream.url,
        "upstream_base_url": near.upstream.base_url,
        "upstream_token": near.upstream.token or "none",
    }
    return {name: value for name, value in found.items() if value is not None}


def launch_for(
    config: GatewayConfig, located: Located, near: Surroundings
) -> Callable[[int], Launch]:
    """Return the function that says what to run on a given port; it writes generated files."""

    def launch(port: int) -> Launch:
        values = places(config, near, port)
        _write_generated(config, near, values)
        words = [*located.words, *config.args]
        words += config.point.args if near.upstream.url is not None else ()
        environment = environment_for(config, near, port).values
        folder = near.generated if config.upstream == "embedded" else located.folder
        return Launch(
            program=read_command([fill(word, values) for word in words], folder),
            entry_mode=config.entry_mode,
            folder=folder,
            environment=environment,
            health=config.health,
            secrets=secret_values(environment),
        )

    return launch


def request_headers(config: GatewayConfig, near: Surroundings, port: int) -> dict[str, str]:
    """Return the headers that point a request at the upstream."""
    if near.upstream.url is None:
        return {}
    values = places(config, near, port)
    return {name: fill(text, values) for name, text in config.point.headers.items()}


def fingerprint(config: GatewayConfig, located: Located, models: Iterable[str]) -> dict[str, str]:
    """Return a hash per part; all are the same when the same gateway is wanted again.

    Hashes, because an environment holds secrets; parts, so that a difference can be named.
    The port is left out unless it was ordered: a wish that was not granted is no difference.
    """
    told = {
        "command": [*located.words, *config.args, *config.point.args],
        "folder": str(located.folder),
        "entry mode": config.entry_mode,
        "environment": dict(config.env) | dict(config.point.env),
        "env files": [str(one.path) for one in config.env_files],
        "upstream": config.upstream,
        "upstream key": config.upstream_key_env,
        "port": config.port if config.is_port_fixed else None,
        "models": sorted(models) if config.generate else [],
    }
    return {
        part: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        for part, value in told.items()
    }


def _pointing_env(config: GatewayConfig, near: Surroundings) -> Mapping[str, str]:
    return config.point.env if near.upstream.url is not None else {}


def _write_generated(config: GatewayConfig, near: Surroundings, values: Mapping[str, str]) -> None:
    with state_access(near.generated):
        near.generated.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in config.generate:
        text = fill_per_model(one.text, one.each_model, near.models, values)
        path = near.generated / one.name
        with state_access(path):
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
