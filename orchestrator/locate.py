"""Find what a description starts: the entry's folder, the executable, the interpreter.

Looks at files, starts nothing.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.description import GatewayConfig
from orchestrator.errors import EntryMissing
from orchestrator.faults import NothingDescribed

_INTERPRETERS = {
    ".js": "node",
    ".cjs": "node",
    ".mjs": "node",
    ".ts": "node",
    ".mts": "node",
    ".cts": "node",
    ".py": "python3",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What will be executed, before its places are filled."""

    folder: Path
    """Working directory of the gateway."""
    words: tuple[str, ...]
    """The command up to its arguments."""
    entry: Path | None
    """The file whose content is the build; ``None`` for a plain command."""


def locate(config: GatewayConfig, environ: Mapping[str, str]) -> Located:
    """Find entry or executable.

    Args:
        config: What is described.
        environ: Of the caller: PATH, and the variable that names an executable.

    Raises:
        EntryMissing: It is in none of the places that were looked at.
        NothingDescribed: The description names neither entry, executable nor command.
    """
    if config.entry is not None:
        return _entry(config, config.entry)
    if config.executable is not None:
        path = _executable(config, config.executable, environ)
        return Located(folder=config.dir, words=(str(path),), entry=path)
    if config.upstream != "embedded" and not config.dir.is_dir():
        hint = "check its name where `--gateway`, or a side's `--a` or `--b`, gives it"
        raise EntryMissing("folder of the gateway", str(config.dir), hint=hint)
    if not config.command:
        raise NothingDescribed(str(config.dir))
    return Located(folder=config.dir, words=config.command, entry=None)


def _entry(config: GatewayConfig, entry: Path) -> Located:
    folders = [config.dir / place for place in config.look_in]
    found = next((folder for folder in folders if (folder / entry).is_file()), None)
    if found is None:
        places = [str(folder / entry) for folder in folders]
        raise EntryMissing("entry file", "` or `".join(dict.fromkeys(places)), hint=config.install)
    folder = config.dir if entry.is_absolute() else found
    path = folder / entry
    before = config.command or _interpreter(path)
    return Located(folder=folder.resolve(), words=(*before, str(path)), entry=path)


def _interpreter(path: Path) -> tuple[str, ...]:
    name = _INTERPRETERS.get(path.suffix)
    return () if name is None else (name,)


def _executable(config: GatewayConfig, name: str, environ: Mapping[str, str]) -> Path:
    """Find a program: as a path, by its own variable, in PATH, in virtual environments near by."""
    named = environ.get(config.executable_env or "") or name
    if "/" in named:
        path = (config.cwd / Path(named).expanduser()).absolute()
        if path.is_file() and os.access(path, os.X_OK):
            return path
        raise EntryMissing("program", str(path), hint=config.install)
    if found := shutil.which(named, path=environ.get("PATH")):
        return Path(found).absolute()
    for folder in _environments(config.dir):
        if (folder / named).is_file():
            return folder / named
    raise EntryMissing(
        "program",
        f"{named}` in PATH, or in a `.venv` upward from `{config.dir}",
        hint=config.install,
    )


def _environments(start: Path) -> Iterator[Path]:
    for folder in (start, *start.parents):
        yield folder / ".venv" / "bin"
        yield folder / "venv" / "bin"
