"""The keys of a gateway's description, and how each is read from text or TOML. Pure.

A parser takes the raw value and the folder that relative paths count from, and returns the value
or raises ``Unreadable`` with the fault in words; where the value came from is the caller's part.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orchestrator.entry import EntryMode
from orchestrator.templates import MODEL_PLACES, unknown_places

ENTRY_MODES: tuple[EntryMode, ...] = ("shim", "import", "link", "direct")

_UNITS = {"ms": 1.0, "s": 1e3, "m": 60e3, "h": 3600e3}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PORT_LIMIT = 65535
_PORT_RULE = f"must be a port from 1 to {_PORT_LIMIT}"

Parser = Callable[[object, Path], Any]


class Unreadable(ValueError):
    """A value is not what its key asks for; the text goes on from the key's name."""

    def __init__(self, raw: object, must: str) -> None:
        super().__init__(f"is {raw!r}, {must}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Something the gateway needs and somebody else runs."""

    name: str
    tcp: str | None = None
    """``HOST:PORT`` to connect to."""
    http: str | None = None
    """Address that has to answer below 500."""
    url_env: str | None = None
    """Variable of the gateway's environment that holds a URL with host and port."""
    host_env: str | None = None
    port_env: str | None = None
    default: str | None = None
    """``HOST:PORT`` where no variable says otherwise."""
    note: str | None = None
    """Who owns it and how it is started; shown when it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedFile:
    """A configuration file written into the state folder before the start."""

    name: str
    text: str
    each_model: str = ""
    """Repeated per model where ``text`` says ``{each_model}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvFile:
    """A file of ``NAME=value`` lines for the gateway's environment."""

    path: Path
    optional: bool = False


def text(raw: object, _base: Path) -> str:
    """Read a text that is not empty."""
    if not isinstance(raw, str) or not raw.strip():
        raise Unreadable(raw, "must be a text")
    return raw


def template(raw: object, base: Path) -> str:
    """Read a text with places."""
    said = text(raw, base)
    _refuse_unknown_places(said)
    return said


def path(raw: object, base: Path) -> Path:
    """Read a path, relative to where it was written."""
    return base / Path(text(raw, base)).expanduser()


def duration(raw: object, _base: Path) -> float:
    """Read a duration in milliseconds: ``500ms``, ``2m``; a bare number is milliseconds."""
    found = _DURATION.fullmatch(str(raw).strip()) if not isinstance(raw, bool) else None
    if found is None:
        raise Unreadable(raw, "must be a duration such as `500ms`, `30s` or `2m`")
    return float(found[1]) * _UNITS[found[2] or "ms"]


def port(raw: object, _base: Path) -> int:
    """Read a TCP port, 1 to 65535."""
    digits = str(raw).strip()
    if isinstance(raw, bool) or not digits.isascii() or not digits.isdigit():
        raise Unreadable(raw, _PORT_RULE)
    if not 1 <= int(digits) <= _PORT_LIMIT:
        raise Unreadable(raw, _PORT_RULE)
    return int(digits)


def status(raw: object, _base: Path) -> int:
    """Read an HTTP status, 100 to 599."""
    digits = str(raw).strip()
    if isinstance(raw, bool) or not re.fullmatch(r"[1-5]\d\d", digits):
        raise Unreadable(raw, "must be an HTTP status such as 200")
    return int(digits)


def argv(raw: object, _base: Path) -> tuple[str, ...]:
    """Read a command: a list of words, or one text that is split as a shell would."""
    if isinstance(raw, str):
        try:
            words = shlex.split(raw)
        except ValueError as error:
            raise Unreadable(raw, f"no command: {error}") from error
    elif isinstance(raw, list | tuple) and all(isinstance(word, str) for word in raw):
        words = list(raw)
    else:
        raise Unreadable(raw, "must be a command or a list of words")
    for word in words:
        _refuse_unknown_places(word)
    return tuple(words)


def commands(raw: object, base: Path) -> tuple[tuple[str, ...], ...]:
    """Read commands that run one after another: one text, or a list of commands."""
    listed = [raw] if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple):
        raise Unreadable(raw, "must be a command or a list of commands")
    return tuple(argv(one, base) for one in listed)


def strings(raw: object, _base: Path) -> tuple[str, ...]:
    """Read a list of texts; one text is a list of one."""
    listed = [raw] if isinstance(raw, str) else raw
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str) for one in listed):
        raise Unreadable(raw, "must be a list of texts")
    return tuple(listed)


def variable(raw: object, _base: Path) -> str:
    """Read the name of an environment variable."""
    if not isinstance(raw, str) or not _VARIABLE.fullmatch(raw):
        raise Unreadable(raw, "must be the name of a variable")
    return raw


def variables(raw: object, base: Path) -> tuple[str, ...]:
    """Read names of variables: a list, or one text with commas."""
    listed = raw.split(",") if isinstance(raw, str) else raw
    return tuple(variable(one.strip(), base) for one in strings(listed, base))


def env_files(raw: object, base: Path) -> tuple[EnvFile, ...]:
    """Read paths of env files; one that begins with ``?`` may be missing."""
    return tuple(
        EnvFile(path=base / Path(one.removeprefix("?")).expanduser(), optional=one.startswith("?"))
        for one in strings(raw, base)
    )


def patterns(raw: object, base: Path) -> tuple[str, ...]:
    """Read regular expressions as ``pgrep -f`` takes them."""
    listed = strings(raw, base)
    for one in listed:
        try:
            re.compile(one)
        except re.error as error:
            raise Unreadable(one, f"no regular expression: {error}") from error
    return listed


def entry_mode(raw: object, _base: Path) -> EntryMode:
    """Read how the entry is renamed."""
    for mode in ENTRY_MODES:
        if raw == mode:
            return mode
    raise Unreadable(raw, f"must be one of {', '.join(ENTRY_MODES)}")


def upstream(raw: object, _base: Path) -> str:
    """Read the upstream: ``simulated``, ``own``, ``embedded`` or an http address."""
    if raw in ("simulated", "own", "embedded"):
        return str(raw)
    if isinstance(raw, str) and re.match(r"https?://[^/\s]", raw):
        return raw.rstrip("/")
    raise Unreadable(raw, "must be `simulated`, `own` or a URL with http:// or https://")


def string_table(raw: object, _base: Path) -> Mapping[str, str]:
    """Read a table of names and texts (numbers and booleans are taken as written)."""
    if not isinstance(raw, Mapping):
        raise Unreadable(raw, "must be a table")
    table: dict[str, str] = {}
    for name, value in raw.items():
        if not isinstance(value, str | int | float):
            raise Unreadable({name: value}, "must be a text")
        table[name] = value if isinstance(value, str) else str(value).lower()
        _refuse_unknown_places(table[name])
    return table


def services(raw: object, base: Path) -> tuple[Service, ...]:
    """Read the services the gateway needs."""
    found = [Service(**fields) for fields in _tables(raw, base, known=Service.__dataclass_fields__)]
    for one in found:
        if not (one.tcp or one.http or one.default or one.url_env or one.host_env):
            raise Unreadable(one.name, "and has no address: give `tcp` or `http`")
        for address in (one.tcp, one.default):
            if address is not None:
                port(address.rpartition(":")[2], base)
    return tuple(found)


def generated_files(raw: object, base: Path) -> tuple[GeneratedFile, ...]:
    """Read files to generate."""
    found = [
        GeneratedFile(**fields)
        for fields in _tables(raw, base, known=GeneratedFile.__dataclass_fields__)
    ]
    for one in found:
        if Path(one.name).name != one.name:
            raise Unreadable(one.name, "must be a plain file name")
        _refuse_unknown_places(one.text, extra=("each_model",))
        _refuse_unknown_places(one.each_model, extra=MODEL_PLACES)
    return tuple(found)


def _tables(raw: object, _base: Path, *, known: Mapping[str, Any]) -> list[dict[str, str]]:
    if not isinstance(raw, list | tuple) or not all(isinstance(one, Mapping) for one in raw):
        raise Unreadable(raw, "must be a list of tables")
    for one in raw:
        for name, value in one.items():
            if name not in known or not isinstance(value, str):
                raise Unreadable({name: value}, f"known are {', '.join(known)}, all texts")
        if not one.get("name"):
            raise Unreadable(one, "has no `name`")
    return [dict(one) for one in raw]


def _refuse_unknown_places(said: str, *, extra: tuple[str, ...] | frozenset[str] = ()) -> None:
    if unknown := unknown_places(said, extra=extra):
        raise Unreadable(said, f"where `{{{unknown[0]}}}` is no place that a run fills")


KEYS: Mapping[str, Parser] = {
    "preset": text,
    "about": text,
    "dir": path,
    "look_in": strings,
    "executable": text,
    "executable_env": variable,
    "install": text,
    "command": argv,
    "entry": text,
    "entry_mode": entry_mode,
    "args": argv,
    "env_files": env_files,
    "env": string_table,
    "port": port,
    "port_env": variables,
    "health.path": text,
    "health.status": status,
    "health.text": text,
    "health.field": text,
    "health.equals": text,
    "ready_timeout": duration,
    "grace": duration,
    "services": services,
    "build": commands,
    "prepare": commands,
    "teardown": commands,
    "kill_patterns": patterns,
    "upstream": upstream,
    "upstream_key_env": variable,
    "upstream_free": text,
    "point.env": string_table,
    "point.args": argv,
    "point.headers": string_table,
    "generate": generated_files,
    "api_key_env": variable,
    "token": template,
    "dialect": text,
    "api_path": text,
    "notes": strings,
}
"""Every key of ``[gateway]`` and how it is read; tables inside it have dotted names."""

MERGED = frozenset({"env", "point.env", "point.headers"})
"""Tables whose names add up over the origins instead of replacing each other."""

EXECUTING = frozenset(
    {
        "preset",
        "dir",
        "look_in",
        "executable",
        "executable_env",
        "command",
        "entry",
        "args",
        "env_files",
        "env",
        "build",
        "prepare",
        "teardown",
        "upstream",
        "upstream_key_env",
        "upstream_free",
        "point.env",
        "point.args",
        "point.headers",
        "generate",
        "token",
        "api_key_env",
    }
)
"""Keys that decide what is executed, what it is given, or whether it costs money."""
