"""From typed options to a described, trusted and located gateway."""

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from bench.cli.console import Console
from bench.config import find_git_root, read_dotenv
from orchestrator.app import new_run_id, trust_store
from orchestrator.config import PRODUCTION_KEYS, Sources, resolve
from orchestrator.description import GatewayConfig
from orchestrator.faults import Untrusted
from orchestrator.launching import (
    env_file_warnings,
    fingerprint,
    read_env_files,
)
from orchestrator.lifecycle import Machine
from orchestrator.locate import Located, locate
from orchestrator.masking import secret_values
from orchestrator.records import TEARDOWN
from orchestrator.sources import TomlFile, read_toml
from orchestrator.trust import Subject, TrustStore, subjects
from orchestrator.wanted import Wanted

_FOUND_BY_FOLDER = ("gateway-bench.toml", "pyproject.toml", ".env")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """A gateway that may be started."""

    config: GatewayConfig
    located: Located
    environ: Mapping[str, str]
    uses_files: bool
    """Files of the worktree may take part in the description."""

    def key_names(self, others: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the variables of its clients' secrets: its key's, and ``others``."""
        own = (self.config.api_key_env,) if self.config.api_key_env else ()
        return (*own, *others)


def describe(
    flags: Mapping[str, Any],
    machine: Machine,
    console: Console,
    *,
    cwd: Path | None = None,
    use_files: bool = True,
    file: TomlFile | None = None,
    environ: Mapping[str, str] | None = None,
    once_trusted: Callable[[GatewayConfig], GatewayConfig] = lambda config: config,
) -> Described:
    """Resolve the description, have it trusted, find what it starts.

    Args:
        flags: What was typed, by key.
        machine: The ports: the state folder remembers what is trusted.
        console: Where the question is asked, and what must be masked from now on.
        cwd: Working directory; ``None`` = the process's own.
        use_files: False for a gateway that no file may change.
        file: In place of the nearest `gateway-bench.toml`.
        environ: Of the caller; ``None`` = the process's own.
        once_trusted: Takes the description before what it starts is looked for, builds that too
            where it must, and returns the one that counts.

    Raises:
        Untrusted: A file decides what is executed, nobody has agreed, and nobody can be asked.
    """
    environ = dict(os.environ if environ is None else environ)
    sources = Sources(
        flags=flags, environ=environ, cwd=cwd or Path.cwd(), use_files=use_files, file=file
    )
    config = resolve(sources)
    _require_trust(config, trust_store(machine), console)
    config = once_trusted(config)
    located = locate(config, environ)
    _keep_keys(config, environ, console)
    for one in read_env_files(config):
        console.keep_secret(*secret_values(one))
    for line in env_file_warnings(config):
        console.say(f"warning: {line}")
    return Described(config=config, located=located, environ=environ, uses_files=use_files)


def private(
    described: Described,
    here: Machine,
    models: tuple[str, ...] = (),
    *,
    flags: Mapping[str, Any] | None = None,
    client_secrets: tuple[str, ...] = (),
) -> Wanted:
    """Return the described gateway as an instance of one command's own, named after its run id.

    Args:
        described: The gateway.
        here: The ports.
        models: Names that it will be asked for.
        flags: What was typed, by key: whoever stops it later can run its teardown then.
        client_secrets: Variables of its clients' secrets, beside its key's.
    """
    run_id, config = new_run_id(here), described.config
    return Wanted(
        config=config,
        located=described.located,
        name=run_id,
        run_id=run_id,
        caller=described.environ,
        models=models,
        key_names=described.key_names(client_secrets),
        labels={} if flags is None else teardown_label(described, flags, models),
    )


def teardown_label(
    described: Described, flags: Mapping[str, Any], models: tuple[str, ...]
) -> dict[str, Any]:
    """Return what a record keeps of a gateway that has a teardown: what describes it again."""
    if not described.config.teardown:
        return {}
    return {TEARDOWN: launch_of(described, flags, models)}


def side_teardown_label(
    described: Described,
    flags: Mapping[str, Any],
    models: tuple[str, ...],
    *,
    file: TomlFile | None,
    env: Mapping[str, str],
) -> dict[str, Any]:
    """Return the same of one side of a comparison.

    Args:
        described: The gateway.
        flags: What was typed of this side, by key.
        models: Names that it will be asked for.
        file: In place of the nearest description.
        env: Variables of this side only.
    """
    label = teardown_label(described, flags, models)
    for launch in label.values():
        launch |= {"isSide": True, "env": dict(env)}
        if file is not None:
            places = {"path": file.path, "base": file.folder, "copy": file.copy or file.path}
            launch["file"] = {name: str(path) for name, path in places.items()}
    return label


def described_again(launch: Mapping[str, Any], machine: Machine, console: Console) -> Described:
    """Describe what a label of a teardown was made of, as that is now.

    Raises:
        OSError: A file that it was described by can't be read.
        OrchestratorError: It can't be described any more, or nobody has agreed.
    """
    found = launch.get("file")
    file = None
    if found is not None:
        copy = Path(found["copy"])
        file = replace(
            read_toml(copy), path=Path(found["path"]), base=Path(found["base"]), copy=copy
        )
    described = describe(
        launch["flags"],
        machine,
        console,
        cwd=Path(launch["cwd"]),
        use_files=launch["usesFiles"],
        file=file,
        once_trusted=without_port if launch.get("isSide") else lambda config: config,
    )
    return replace(described, environ={**described.environ, **launch.get("env", {})})


def without_port(config: GatewayConfig) -> GatewayConfig:
    """Return a description that wants no port of its own: two sides can't have one."""
    return replace(config, port=None, is_port_fixed=False)


def launch_of(
    described: Described, flags: Mapping[str, Any], models: tuple[str, ...]
) -> dict[str, Any]:
    """Return what describes the same gateway again, later and elsewhere: no secret.

    Args:
        described: The gateway.
        flags: What was typed, by key.
        models: Names that it will be asked for.
    """
    config, located = described.config, described.located
    return {
        "flags": {key: value for key, value in flags.items() if value is not None},
        "cwd": str(config.cwd),
        "usesFiles": described.uses_files,
        "models": list(models),
        "preset": config.preset,
        "entry": None if located.entry is None else str(located.entry),
        "fingerprint": fingerprint(config, located, models),
    }


def _keep_keys(config: GatewayConfig, environ: Mapping[str, str], console: Console) -> None:
    """Mask the keys that the gateway's clients may send: it may repeat one in what it dies of."""
    dotenv = read_dotenv(config.cwd, find_git_root(config.cwd))
    for name in (config.api_key_env, *PRODUCTION_KEYS):
        if name:
            console.keep_secret(environ.get(name, ""), dotenv.get(name) or "")


def _require_trust(config: GatewayConfig, store: TrustStore, console: Console) -> None:
    for subject in subjects(config):
        require_trusted(subject, store, console)


def require_trusted(subject: Subject, store: TrustStore, console: Console) -> None:
    """Go on only with content that a person agreed to; ask where somebody can answer.

    Raises:
        Untrusted: Nobody has agreed.
    """
    if store.knows(subject):
        return
    if not _can_ask(console):
        raise _untrusted(subject)
    console.say(f"`{subject.path}` decides what would be executed:")
    for line in subject.decides:
        console.say(f"  {line}")
    if not click.confirm("Trust this content?", err=True):
        raise _untrusted(subject)
    store.add(subject)


def _untrusted(subject: Subject) -> Untrusted:
    """Return the refusal, with the command that agrees."""
    is_found = subject.path.name in _FOUND_BY_FOLDER
    agreed_by = subject.path.parent if is_found else subject.path
    command = f"gateway-bench trust {quote(str(agreed_by))}"
    return Untrusted(str(subject.path), subject.decides, command)


def _can_ask(console: Console) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and not console.wants_json
