"""Run the commands of a description: build, prepare, teardown. One after another, output to a log.

What they say may hold secrets, so only masked lines of it are shown.
"""

import shlex
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from orchestrator.events import Exit, described
from orchestrator.faults import CommandFailed
from orchestrator.masking import mask, secret_values

_TAIL_LINES = 20
_TAIL_BYTES = 65536


def run_commands(
    key: str,
    commands: Iterable[Sequence[str]],
    *,
    folder: Path,
    environment: Mapping[str, str],
    log: Path,
) -> None:
    """Run each command to its end.

    Args:
        key: ``build``, ``prepare`` or ``teardown``: for the message.
        commands: Words each; no shell reads them.
        folder: Working directory.
        environment: The whole one.
        log: Their output is appended to it.

    Raises:
        CommandFailed: One ended with another status than 0; later ones were not run.
    """
    for command in commands:
        how = _run(command, folder=folder, environment=environment, log=log)
        if how is not None:
            raise CommandFailed(key, shlex.join(command), how, _tail(log, environment))


def _run(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], log: Path
) -> str | None:
    """Run one command; return how it went wrong."""
    with log.open("ab") as output:
        log.chmod(0o600)
        try:
            status = subprocess.run(
                list(command),
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        except OSError as error:
            return f"could not be executed: {error.strerror or error}"
    return how_ended(status) if status else None


def how_ended(status: int) -> str:
    """Say how a child ended; ``status`` as ``subprocess`` has it, negative = a signal."""
    return described(Exit(signal=-status) if status < 0 else Exit(code=status))


def _tail(log: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        text = file.read().decode(errors="replace")
    secrets = secret_values(environment)
    return tuple(mask(line, secrets) for line in text.splitlines()[-_TAIL_LINES:])
