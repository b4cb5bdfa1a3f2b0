"""From files, environment and flags to the settings of a run, each with its origin.

default < preset < `gateway-bench.toml` < `.env` < environment < flag. Below this module nobody
reads the environment for settings. All faults are collected and told together.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any, Self

from bench.errors import ConfigFaults, UsageFault
from bench.keys import LOCAL_PREFIX, PRODUCTION_KEYS, KnownKeys, Origin, Secret
from bench.model.record import Value
from bench.model.run_config import OptionOrigin
from bench.presets import PRESETS, Preset
from bench.setting_text import shown
from bench.settings import (
    SETTINGS,
    Setting,
    Settings,
    read_value,
)

TOML_NAME = "gateway-bench.toml"
_PREFIX = "BENCHMARK_"
_NEVER_FROM_FILE = ("PATH", "NODE_", "PYTHON", "LD_", "DYLD_", "SSL_", "CURL_", "REQUESTS_")
"""Beginnings of names that would steer programs, proxies' and TLS's below."""


class Place(Value, frozen=True, kw_only=True):
    """Where a command was called: all that configuration may look at."""

    folder: Path
    """Absolute working directory."""
    environ: Mapping[str, str]


class _Layer(Value, frozen=True, kw_only=True):
    """Raw values of one origin, by field."""

    origin: Origin
    label: Callable[[Setting], str]
    """How a value of this layer is called in messages and in `config show`."""
    raw: Mapping[str, object]


class DotEnv(Value, frozen=True, kw_only=True):
    """The nearest `.env`; only names that the rules allow are ever handed out."""

    path: Path | None
    values: Mapping[str, str]

    def get(self, name: str) -> str | None:
        """Return the value of an allowed name; the caller says why it may ask for this one."""
        if name.upper().endswith("_PROXY") or name.upper().startswith(_NEVER_FROM_FILE):
            return None
        return self.values.get(name) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Resolved settings and what is needed to find secrets and folders."""

    settings: Settings
    origins: Mapping[str, OptionOrigin]
    """By setting name, values as text a person would type; secrets masked."""
    trust: Mapping[str, Origin]
    """By field."""
    place: Place
    dotenv: DotEnv
    git_root: Path | None
    toml_folder: Path | None

    @property
    def preset(self) -> Preset | None:
        """The named preset."""
        return PRESETS[self.settings.preset] if self.settings.preset else None

    def label(self, field: str) -> str:
        """Return where the value of ``field`` came from, for people."""
        return self.origins[SETTINGS[field].name].origin

    def path_of(self, field: str) -> Path | None:
        """Return a path setting, absolute: relative ones count from the file that holds them."""
        typed = getattr(self.settings, field)
        return None if typed is None else self._path(field, typed)

    def paths_of(self, field: str) -> tuple[Path, ...]:
        """Return a setting of many paths, absolute, as ``path_of`` does for one."""
        return tuple(self._path(field, typed) for typed in getattr(self.settings, field))

    def _path(self, field: str, typed: str) -> Path:
        in_file = self.trust[field] is Origin.FILE and self.toml_folder is not None
        base = self.toml_folder if in_file and self.toml_folder else self.place.folder
        return base / Path(typed).expanduser()

    def with_value(self, field: str, value: object, *, origin: Origin, label: str) -> Self:
        """Return the same settings but for one, which something else than a place decides."""
        origins = {**self.origins, SETTINGS[field].name: OptionOrigin(value=value, origin=label)}
        changed: dict[str, Any] = {field: value}
        settings = replace(self.settings, **changed)
        trust = {**self.trust, field: origin}
        return replace(self, settings=settings, origins=origins, trust=trust)

    def output_folder(self) -> Path:
        """Return the folder for results; it need not exist."""
        base = self.git_root or self.place.folder
        if self.settings.output_dir:
            return base / Path(self.settings.output_dir).expanduser()
        return base / ".context" / "benchmarks"

    def secret(self, name: str, *, named_by: Origin | None) -> Secret | None:
        """Return the secret in variable ``name``: the environment's, else the `.env`'s."""
        for origin, value in (
            (Origin.ENVIRONMENT, self.place.environ.get(name)),
            (Origin.DOTENV, self.dotenv.get(name)),
        ):
            if value:
                return Secret(variable=name, value=value, origin=origin, named_by=named_by)
        return None

    def known_keys(self) -> KnownKeys:
        """Return every key in sight, for comparing values."""
        environ = self.place.environ
        local = {name for name in environ if name.startswith(LOCAL_PREFIX)}
        local.update(name for preset in PRESETS.values() for name in preset.local_keys)
        tokens = tuple(
            (preset.local_keys[0], token)
            for preset in PRESETS.values()
            for token in preset.local_tokens
        )
        production = [(name, environ.get(name)) for name in PRODUCTION_KEYS]
        production += [(name, self.dotenv.get(name)) for name in PRODUCTION_KEYS]
        return KnownKeys(
            production=tuple((name, value) for name, value in production if value),
            local=tuple((name, environ[name]) for name in sorted(local) if environ.get(name))
            + tokens,
        )


def load_config(flags: Mapping[str, object], place: Place) -> Config:
    """Resolve the settings.

    Args:
        flags: What was typed, by field; absent or ``None`` = not typed.
        place: Where.

    Raises:
        ConfigFaults: Any value that can't be read, any unknown name, any contradiction.
        UsageFault: A configuration file that is no TOML.
    """
    faults: list[str] = []
    git_root = find_git_root(place.folder)
    dotenv = read_dotenv(place.folder, git_root)
    toml_path, table = read_table(place.folder)
    typed = _Layer(
        origin=Origin.FLAG,
        label=lambda setting: f"`--{setting.name}`",
        raw={name: value for name, value in flags.items() if value is not None},
    )
    layers = [
        _file_layer(toml_path, table, faults),
        _variables_layer(Origin.DOTENV, dotenv.values, "dotenv", faults),
        _variables_layer(Origin.ENVIRONMENT, place.environ, "env", faults),
        typed,
    ]
    values, labels, trust = _resolve(layers, faults)
    faults += _contradictions(values, trust)
    if faults:
        raise ConfigFaults(faults)
    origins = {
        setting.name: OptionOrigin(value=shown(setting, values[field]), origin=labels[field])
        for field, setting in SETTINGS.items()
    }
    return Config(
        settings=Settings(**values),
        origins=origins,
        trust=trust,
        place=place,
        dotenv=dotenv,
        git_root=git_root,
        toml_folder=toml_path.parent if toml_path else None,
    )


def _resolve(
    layers: Sequence[_Layer], faults: list[str]
) -> tuple[dict[str, Any], dict[str, str], dict[str, Origin]]:
    """Return value, label and origin of each field: the last layer that has it wins."""
    values: dict[str, Any] = {field: setting.default for field, setting in SETTINGS.items()}
    labels = dict.fromkeys(SETTINGS, "default")
    trust = dict.fromkeys(SETTINGS, Origin.DEFAULT)
    preset_layer = _preset_layer(layers)
    for layer in [preset_layer, *layers]:
        for field, raw in layer.raw.items():
            setting = SETTINGS[field]
            try:
                values[field] = read_value(setting, raw)
            except ValueError as fault:
                typed = ", ".join(map(str, raw)) if isinstance(raw, list | tuple) else raw
                said = "" if setting.secret else f" is `{typed}`"
                faults.append(f"{layer.label(setting)}{said}: {fault}")
            labels[field] = (
                "flag" if layer.origin is Origin.FLAG else layer.label(setting).replace("`", "")
            )
            trust[field] = layer.origin
    return values, labels, trust


def _preset_layer(layers: Sequence[_Layer]) -> _Layer:
    """Return what the preset says, whichever layer names it; a wrong name is found later."""
    name = next((layer.raw["preset"] for layer in reversed(layers) if "preset" in layer.raw), None)
    preset = PRESETS.get(str(name))
    raw: dict[str, object] = {}
    if preset is not None:
        raw["dialect"] = preset.dialect
        if preset.production_url:
            raw["url"] = preset.production_url
    return _Layer(origin=Origin.PRESET, label=lambda _: f"preset {name}", raw=raw)


def _file_layer(path: Path | None, table: Mapping[str, object], faults: list[str]) -> _Layer:
    known = {setting.name: field for field, setting in SETTINGS.items() if "file" in setting.places}
    raw: dict[str, object] = {}
    for key, value in table.items():
        if key in known:
            raw[known[key]] = value
        elif key.replace("-", "_") in SETTINGS:
            faults.append(f"`{path}`: `{key}` can't stand in a file; type `--{key}`")
        else:
            faults.append(f"`{path}`: no setting `{key}` in `[bench]`{_meant(key, known)}")
    return _Layer(origin=Origin.FILE, label=lambda setting: f"{path}: {setting.name}", raw=raw)


def _variables_layer(
    origin: Origin, variables: Mapping[str, str], place: str, faults: list[str]
) -> _Layer:
    """Return the settings among ``variables``.

    Other programs have `BENCHMARK_…` variables too, so an unknown one is a fault only when it
    looks like one of ours written wrong.
    """
    known = {setting.variable: field for field, setting in SETTINGS.items()}
    where = "env" if origin is Origin.ENVIRONMENT else ".env"
    raw: dict[str, object] = {}
    for name, value in variables.items():
        if not name.startswith(_PREFIX) or not value:
            continue
        if name not in known:
            if get_close_matches(name, known, n=1, cutoff=0.85):
                faults.append(f"{where}: no setting `{name}`{_meant(name, known)}")
        elif place in SETTINGS[known[name]].places:
            raw[known[name]] = value
        else:
            faults.append(f"{where}: `{name}` counts only as `--{SETTINGS[known[name]].name}`")
    return _Layer(origin=origin, label=lambda setting: f"{where} {setting.variable}", raw=raw)


def _meant(name: str, known: Mapping[str, str]) -> str:
    near = get_close_matches(name, known, n=2, cutoff=0.6)
    return f"; did you mean {' or '.join(f'`{match}`' for match in near)}?" if near else ""


def _contradictions(values: Mapping[str, Any], trust: Mapping[str, Origin]) -> list[str]:
    """Return what can't be asked together; a file's selection gives way to a typed one."""
    faults = []
    for one, other in combinations(("profile", "suite", "external"), 2):
        if values[one] and values[other] and trust[one] == trust[other]:
            faults.append(f"`--{one}` and `--{other}` exclude each other")
    if not values["key"] and trust["api_key_env"] is Origin.FLAG:
        faults.append("`--no-key` and `--api-key-env` exclude each other")
    return faults


def find_git_root(folder: Path) -> Path | None:
    """Return the nearest folder upward that holds `.git` (a folder, or a worktree's file)."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def read_dotenv(folder: Path, git_root: Path | None) -> DotEnv:
    """Return the nearest `.env` upward, not above the git root; outside git, this folder's only."""
    for each in (folder, *folder.parents):
        path = each / ".env"
        if path.is_file():
            return DotEnv(path=path, values=_dotenv_values(path))
        if each == git_root or git_root is None:
            break
    return DotEnv(path=None, values={})


def _dotenv_values(path: Path) -> dict[str, str]:
    from dotenv import dotenv_values  # 15 ms that most commands don't pay

    # Not interpolated: a stranger's `.env` must not read other variables into the ones we take.
    read = dotenv_values(path, interpolate=False)
    return {name: value for name, value in read.items() if value is not None}


def read_table(folder: Path) -> tuple[Path | None, Mapping[str, object]]:
    """Return the nearest configuration file upward and its `[bench]` table.

    `gateway-bench.toml` goes before `[tool.gateway-bench]` of a `pyproject.toml` beside it.

    Raises:
        UsageFault: The file can't be read, or the table is none.
    """
    for each in (folder, *folder.parents):
        own, shared = each / TOML_NAME, each / "pyproject.toml"
        if own.is_file():
            return own, _table(_read_toml(own), own, "bench")
        if shared.is_file():
            tables = _table(_read_toml(shared), shared, "tool")
            if "gateway-bench" in tables:
                ours = _table(tables, shared, "gateway-bench")
                return shared, _table(ours, shared, "bench")
    return None, {}


def _read_toml(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as fault:
        message = f"`{path}` can't be read: {fault}"
        raise UsageFault(message) from fault


def _table(tables: Mapping[str, object], path: Path, name: str) -> Mapping[str, object]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        message = f"`{path}`: `{name}` is no table"
        raise UsageFault(message)
    return table
