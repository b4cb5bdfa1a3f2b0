"""Where settings are written: `gateway-bench.toml`, `.env`, the environment. Reads, judges nothing.

Paths in a file count from that file's folder, elsewhere from the working directory.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Writer = Literal["default", "preset", "file", "dotenv", "environment", "flag"]

ENVIRONMENT_KEYS: Mapping[str, str] = {
    "GATEWAY_PRESET": "preset",
    "GATEWAY_DIR": "dir",
    "GATEWAY_ENTRY": "entry",
    "GATEWAY_ENTRY_MODE": "entry_mode",
    "GATEWAY_COMMAND": "command",
    "GATEWAY_ENV_FILE": "env_files",
    "GATEWAY_PORT": "port",
    "GATEWAY_PORT_ENV": "port_env",
    "GATEWAY_HEALTH": "health.path",
    "GATEWAY_HEALTH_STATUS": "health.status",
    "GATEWAY_READY_TIMEOUT": "ready_timeout",
    "GATEWAY_GRACE": "grace",
    "GATEWAY_UPSTREAM": "upstream",
    "GATEWAY_UPSTREAM_KEY_ENV": "upstream_key_env",
}
"""Variables that describe the gateway, and the key each one sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One raw value and where it stands."""

    raw: Any
    origin: str
    base: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """All values of one origin; later layers win."""

    writer: Writer
    values: Mapping[str, Written]


@dataclass(frozen=True, slots=True, kw_only=True)
class TomlFile:
    """A file that may describe a gateway."""

    path: Path
    content: bytes
    tables: Mapping[str, Any]
    """``gateway`` and ``bench`` as they stand in the file."""
    fault: str | None = None
    """Why it can't be read as TOML."""
    base: Path | None = None
    """What its relative paths count from; ``None`` = its own folder."""
    copy: Path | None = None
    """Which copy of it was read; ``None`` = itself."""

    @property
    def folder(self) -> Path:
        """What its relative paths count from."""
        return self.path.parent if self.base is None else self.base


def find_toml(start: Path) -> TomlFile | None:
    """Return the nearest description upward from ``start``.

    A `gateway-bench.toml` goes before a `pyproject.toml` of the same folder, which counts only
    when it has a `[tool.gateway-bench]` table.
    """
    for folder in (start, *start.parents):
        own = folder / "gateway-bench.toml"
        if own.is_file():
            return _read(own, inside=())
        shared = folder / "pyproject.toml"
        if shared.is_file() and b"tool.gateway-bench" in (content := _bytes(shared)):
            return _read(shared, inside=("tool", "gateway-bench"), content=content)
    return None


def read_toml(path: Path) -> TomlFile:
    """Return the description in a file of any name; of a `pyproject.toml` its table.

    Raises:
        OSError: It can't be read.
    """
    is_shared = path.name == "pyproject.toml"
    return _read(path, inside=("tool", "gateway-bench") if is_shared else ())


def flattened(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's values by dotted key; only `health` and `point` are taken apart.

    Hyphens in keys read as underscores, so both spellings of TOML files are understood.
    """
    flat: dict[str, Any] = {}
    for name, value in table.items():
        key = name.replace("-", "_")
        if key in ("health", "point") and isinstance(value, Mapping):
            flat |= {f"{key}.{inner.replace('-', '_')}": value[inner] for inner in value}
        else:
            flat[key] = value
    return flat


def file_layer(file: TomlFile) -> Layer:
    """Return what the file's gateway table says."""
    table = file.tables.get("gateway")
    values = flattened(table) if isinstance(table, Mapping) else {}
    return Layer(
        writer="file",
        values={
            key: Written(raw=raw, origin=f"{file.path}: {key}", base=file.folder)
            for key, raw in values.items()
        },
    )


def environment_layer(environ: Mapping[str, str], cwd: Path) -> Layer:
    """Return what exported variables say; an empty one says nothing."""
    return Layer(
        writer="environment",
        values={
            key: Written(raw=environ[name], origin=f"env {name}", base=cwd)
            for name, key in ENVIRONMENT_KEYS.items()
            if environ.get(name)
        },
    )


def flag_layer(flags: Mapping[str, Any], cwd: Path) -> Layer:
    """Return what was typed; ``None`` and an empty tuple were not."""
    return Layer(
        writer="flag",
        values={
            key: Written(raw=raw, origin="flag", base=cwd)
            for key, raw in flags.items()
            if raw not in (None, ())
        },
    )


def dotenv_layer(cwd: Path) -> Layer:
    """Return what the nearest `.env` upward says, not above the git root.

    Only the names of ``ENVIRONMENT_KEYS`` are read from it.
    """
    path = find_dotenv(cwd)
    said = {} if path is None else read_env_file(path)
    return Layer(
        writer="dotenv",
        values={
            key: Written(raw=said[name], origin=f".env {name}", base=path.parent)
            for name, key in ENVIRONMENT_KEYS.items()
            if path is not None and said.get(name)
        },
    )


def find_dotenv(cwd: Path) -> Path | None:
    """Return the nearest `.env` upward from ``cwd``, not above the git root."""
    for folder in (cwd, *cwd.parents):
        if (folder / ".env").is_file():
            return folder / ".env"
        if (folder / ".git").exists():
            break
    return None


def read_env_file(path: Path) -> dict[str, str]:
    """Return the names and values of an env file, read as Node reads it: ``${NAME}`` stays."""
    from dotenv.parser import parse_stream

    with path.open(encoding="utf-8-sig") as file:
        return {
            one.key: one.value
            for one in parse_stream(file)
            if one.key is not None and one.value is not None
        }


def unread_lines(path: Path) -> tuple[int, ...]:
    """Return the numbers of an env file's lines that say no ``NAME=VALUE``; from 1."""
    from dotenv.parser import parse_stream

    with path.open(encoding="utf-8-sig") as file:
        return tuple(
            one.original.line + _blank_lines_before(one.original.string)
            for one in parse_stream(file)
            if one.error or (one.key is not None and one.value is None)
        )


def _blank_lines_before(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")


def preset_layer(name: str, values: Mapping[str, Any], base: Path) -> Layer:
    """Return what a preset says."""
    return Layer(
        writer="preset",
        values={
            key: Written(raw=raw, origin=f"preset {name}", base=base)
            for key, raw in flattened(values).items()
        },
    )


def _read(path: Path, *, inside: Iterable[str], content: bytes | None = None) -> TomlFile:
    content = _bytes(path) if content is None else content
    try:
        tables: Any = tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        return TomlFile(path=path, content=content, tables={}, fault=str(error))
    for name in inside:
        tables = tables.get(name, {})
    return TomlFile(path=path, content=content, tables=tables)


def _bytes(path: Path) -> bytes:
    return path.read_bytes()
