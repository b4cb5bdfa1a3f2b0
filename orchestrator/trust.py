"""Whether a file of a worktree may decide what we execute: agreed once per content.

What is remembered is a hash of path and content: a changed file asks again, and so does the same
content in another place. Of a `.env` only the names that describe a gateway count.
"""

import hashlib
import json
import os
import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.description import GatewayConfig
from orchestrator.errors import state_access
from orchestrator.settings import EXECUTING
from orchestrator.sources import ENVIRONMENT_KEYS, find_dotenv, read_env_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One file that decides what is executed."""

    path: Path
    content: bytes
    decides: tuple[str, ...]
    """``key = value``, with control characters made visible."""


def of_journal(path: Path, launch: Mapping[str, object]) -> Subject:
    """Return a journal as a subject: what its header would have us start again."""
    flags = launch.get("flags")
    said = flags if isinstance(flags, Mapping) else {}
    decides = [f"{key} = {printable(str(value))}" for key, value in said.items()]
    decides.append(f"folder = {printable(str(launch.get('cwd')))}")
    content = json.dumps(launch, sort_keys=True).encode()
    return Subject(path=path, content=content, decides=tuple(decides))


class TrustStore:
    """The contents a person of this machine has agreed to.

    Args:
        folder: State folder of the tool; `trusted/` is made in it when something is trusted.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "trusted"

    def knows(self, subject: Subject) -> bool:
        """Return whether this content at this path was agreed to."""
        return (self._folder / _digest(subject)).is_file()

    def add(self, subject: Subject) -> None:
        """Remember that a person agreed to this content at this path."""
        target = self._folder / _digest(subject)
        with state_access(target):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(f"{subject.path.resolve()}\n")


def subjects(config: GatewayConfig) -> tuple[Subject, ...]:
    """Return the files that decide what is executed.

    Presets are ours, and flags and variables are the caller's own: they need no trust.
    """
    decided: dict[str, list[str]] = {"file": [], "dotenv": []}
    for key, origin in config.untrusted.items():
        if key in EXECUTING:
            where = "dotenv" if origin.startswith(".env ") else "file"
            decided[where].append(f"{key} = {printable(shown(config.values[key]))}")
    found: list[Subject] = []
    if decided["file"] and config.file is not None:
        found.append(
            Subject(
                path=config.file.path,
                content=config.file.content,
                decides=tuple(decided["file"]),
            )
        )
    dotenv = find_dotenv(config.cwd)
    if decided["dotenv"] and dotenv is not None:
        said = read_env_file(dotenv)
        lines = [f"{name}={said[name]}" for name in sorted(ENVIRONMENT_KEYS) if name in said]
        found.append(
            Subject(
                path=dotenv,
                content="\n".join(lines).encode(),
                decides=tuple(decided["dotenv"]),
            )
        )
    return tuple(found)


def shown(value: object) -> str:
    """Return a setting's value as one line of text."""
    if isinstance(value, tuple):
        return ", ".join(shown(one) for one in value) if _is_nested(value) else _words(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={one}" for name, one in value.items())
    named = getattr(value, "name", None)
    if named is None or isinstance(value, Path):
        named = getattr(value, "path", value)
    return str(named)


def _words(words: Collection[str]) -> str:
    """Join words so that it shows where each ends; a place such as ``{port}`` stays bare."""
    bare = {one: one.replace("{", "").replace("}", "") for one in words}
    return " ".join(
        one if bare[one] and shlex.quote(bare[one]) == bare[one] else shlex.quote(one)
        for one in words
    )


def printable(text: str) -> str:
    """Return text in which no control character can move a terminal's cursor or hide a word."""
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def _is_nested(value: tuple[object, ...]) -> bool:
    return not all(isinstance(one, str) for one in value)


def _digest(subject: Subject) -> str:
    return hashlib.sha256(
        str(subject.path.resolve()).encode() + b"\0" + subject.content
    ).hexdigest()
