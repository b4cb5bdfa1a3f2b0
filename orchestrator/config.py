"""The description of one gateway, resolved once, with the origin of each value.

default < preset < `gateway-bench.toml` < `.env` < environment < flag. All faults are reported
together. Nothing below this module reads files or variables that configure us.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from orchestrator.description import GatewayConfig, Pointing
from orchestrator.faults import ConfigFaults, UnknownPreset
from orchestrator.presets import preset_names, read_preset
from orchestrator.readiness import HealthCheck
from orchestrator.settings import KEYS, MERGED, GeneratedFile, Unreadable
from orchestrator.sources import (
    Layer,
    TomlFile,
    Written,
    dotenv_layer,
    environment_layer,
    file_layer,
    find_toml,
    flag_layer,
    preset_layer,
)

DEFAULTS: Mapping[str, Any] = {
    "entry_mode": "shim",
    "port_env": ["PORT", "GATEWAY_PORT"],
    "health.path": "/health",
    "health.status": 200,
    "ready_timeout": "60s",
    "grace": "10s",
    "upstream": "own",
    "dialect": "plain",
    "api_path": "/v1",
    "kill_patterns": [],
}
"""Values where nothing else is said; a gateway without a preset goes where its own settings say."""

PRODUCTION_KEYS = ("LLM_GATEWAY_API_KEY", "LLMGATEWAY_API_KEY")
"""Variables of the benchmark's production key; only a flag may name them for a local gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the caller has to say; tests fill it, the command line takes it from the system."""

    flags: Mapping[str, Any]
    """By dotted key; ``None`` = not typed."""
    environ: Mapping[str, str]
    cwd: Path
    use_files: bool = True
    """False for `demo`, whose gateway is fixed."""
    file: TomlFile | None = None
    """Taken in place of the nearest `gateway-bench.toml`; ``None`` = that one."""


def resolve(sources: Sources) -> GatewayConfig:
    """Return the description.

    Raises:
        ConfigFaults: Any value is not what its key asks for, or a key is unknown; lists all.
        UnknownPreset: No such preset, with near matches.
    """
    typed = flag_layer(sources.flags, sources.cwd)
    exported = environment_layer(sources.environ, sources.cwd)
    dotenv = dotenv_layer(sources.cwd) if sources.use_files else Layer(writer="dotenv", values={})
    folder = _start_folder(typed, exported, dotenv, sources.cwd)
    file = (sources.file or find_toml(folder)) if sources.use_files else None
    layers, notes = _with_preset(file, dotenv, exported, typed, folder=folder)
    faults = _file_faults(file)
    raw, origins = _combined(layers)
    parsed = _parsed(raw, origins, faults)
    _check_together(parsed, origins, faults)
    if faults:
        raise ConfigFaults(faults)
    return _config(parsed, layers, notes=notes, file=file, folders=(sources.cwd, folder))


def _start_folder(typed: Layer, exported: Layer, dotenv: Layer, cwd: Path) -> Path:
    for layer in (typed, exported, dotenv):
        if written := layer.values.get("dir"):
            return (written.base / Path(str(written.raw)).expanduser()).resolve()
    return cwd.resolve()


def _with_preset(
    file: TomlFile | None, *later: Layer, folder: Path
) -> tuple[list[Layer], tuple[str, ...]]:
    """Return all layers in ascending order, and what has to be said about them."""
    described = [] if file is None else [file_layer(file)]
    chosen = next(
        (
            (layer, written)
            for layer in reversed([*described, *later])
            if (written := layer.values.get("preset"))
        ),
        None,
    )
    defaults = Layer(
        writer="default",
        values={
            key: Written(raw=raw, origin="default", base=folder) for key, raw in DEFAULTS.items()
        },
    )
    if chosen is None:
        return [defaults, *described, *later], ()
    layer, written = chosen
    name = str(written.raw)
    if name not in preset_names():
        raise UnknownPreset(name, written.origin, preset_names())
    preset = preset_layer(name, read_preset(name), folder)
    notes: tuple[str, ...] = ()
    if layer.writer != "file" and file is not None and _contradicts(described[0], name, preset):
        notes = (f"`{file.path}` describes another gateway than preset `{name}`: not used",)
        described = []
    return [defaults, preset, *described, *later], notes


def _contradicts(file: Layer, name: str, preset: Layer) -> bool:
    """Return whether a preset chosen by flag or variable leaves no room for the file."""
    own = file.values.get("preset")
    if own is not None:
        return bool(own.raw != name)
    return "entry" not in preset.values and any(
        key in file.values for key in ("entry", "command", "executable")
    )


def _combined(layers: Sequence[Layer]) -> tuple[dict[str, Any], dict[str, Written]]:
    """Return the winning raw values, merged tables included, and where each was written."""
    won: dict[str, Written] = {}
    for layer in layers:
        _drop_replaced_start(won, layer)
        for key, written in layer.values.items():
            before = won.get(key)
            if key in MERGED and before is not None and _both_tables(before.raw, written.raw):
                merged = {**before.raw, **written.raw}
                origin = f"{before.origin} + {written.origin}"
                won[key] = Written(raw=merged, origin=origin, base=written.base)
            else:
                won[key] = written
    return {key: written.raw for key, written in won.items()}, won


def _drop_replaced_start(won: dict[str, Written], layer: Layer) -> None:
    """Forget how lower layers start the gateway where this one says it otherwise.

    A ``command`` alone is a whole command; with ``entry`` it is the interpreter. Typed over a
    preset that looks for an executable, it names the executable and the arguments stay.
    """
    says = layer.values
    if "command" in says:
        if "executable" not in won:
            won.pop("args", None)
        won.pop("entry", None)
        won.pop("executable", None)
    elif "entry" in says and "entry" not in won:
        for key in ("command", "executable", "args"):
            won.pop(key, None)
    elif "executable" in says:
        for key in ("command", "entry", "args"):
            won.pop(key, None)


def _both_tables(one: object, other: object) -> bool:
    return isinstance(one, Mapping) and isinstance(other, Mapping)


def _parsed(
    raw: Mapping[str, Any], written: Mapping[str, Written], faults: list[str]
) -> dict[str, tuple[Any, Written]]:
    parsed: dict[str, tuple[Any, Written]] = {}
    for key, value in raw.items():
        at = written[key]
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1, cutoff=0.6)
            meant = f"; did you mean `{near[0]}`?" if near else ""
            faults.append(f"`{key}` ({at.origin}) is no key of a gateway{meant}")
            continue
        try:
            parsed[key] = (KEYS[key](value, at.base), at)
        except Unreadable as fault:
            faults.append(f"`{key}` ({at.origin}) {fault}")
    return parsed


def _file_faults(file: TomlFile | None) -> list[str]:
    if file is None:
        return []
    if file.fault is not None:
        return [f"`{file.path}` is no TOML: {file.fault}"]
    faults = []
    for name, table in file.tables.items():
        if name not in ("gateway", "bench"):
            near = get_close_matches(name, ("gateway", "bench"), n=1, cutoff=0.5)
            meant = f"; did you mean `[{near[0]}]`?" if near else ""
            faults.append(f"`[{name}]` ({file.path}) is no table of ours{meant}")
        elif not isinstance(table, Mapping):
            faults.append(f"`{name}` ({file.path}) is {table!r}, must be a table")
    return faults


def _check_together(
    parsed: Mapping[str, tuple[Any, Written]], written: Mapping[str, Written], faults: list[str]
) -> None:
    key_env = parsed.get("api_key_env")
    if key_env and key_env[0] in PRODUCTION_KEYS and key_env[1].origin != "flag":
        faults.append(
            f"`api_key_env` ({key_env[1].origin}) names the production key `{key_env[0]}` for a "
            "local gateway: only `--api-key-env` may do that"
        )
    chosen = parsed.get("upstream")
    if chosen is None:
        return
    value, at = chosen
    preset = written["preset"].raw if "preset" in written else None
    can_point = any(key in written for key in ("point.env", "point.args", "point.headers"))
    can_point |= any("upstream" in one.text + one.each_model for one in _generated(parsed))
    if value == "embedded" and not at.origin.startswith("preset"):
        faults.append(f"`upstream` ({at.origin}) is `embedded`: only preset `demo` is that")
    elif value not in ("own", "embedded") and preset == "demo":
        faults.append(f"`upstream` ({at.origin}) is `{value}`, but the demo gateway has none")
    elif value not in ("own", "embedded") and not can_point:
        faults.append(
            f"`upstream` ({at.origin}) is `{value}`, but nothing says how this gateway is pointed "
            "at it: give `point.env`, `point.args`, `point.headers` or `generate` with "
            "`{upstream_base_url}`, or `--upstream own`"
        )


def _generated(parsed: Mapping[str, tuple[Any, Written]]) -> tuple[GeneratedFile, ...]:
    found: tuple[GeneratedFile, ...] = parsed["generate"][0] if "generate" in parsed else ()
    return found


def _config(
    parsed: Mapping[str, tuple[Any, Written]],
    layers: Sequence[Layer],
    *,
    notes: tuple[str, ...],
    file: TomlFile | None,
    folders: tuple[Path, Path],
) -> GatewayConfig:
    cwd, folder = folders
    values = {key: value for key, (value, _) in parsed.items()}
    took_part = any(layer.writer == "file" for layer in layers)
    plain = {
        key: value
        for key, value in values.items()
        if "." not in key and key not in ("dir", "entry", "ready_timeout", "grace", "notes")
    }
    return GatewayConfig(
        **plain,
        cwd=cwd,
        dir=_folder(parsed, file if took_part else None, folder),
        entry=_entry(parsed, folder),
        is_port_fixed=_is_port_fixed(layers),
        health=HealthCheck(**{key[7:]: values[key] for key in values if key.startswith("health.")}),
        point=Pointing(**{key[6:]: values[key] for key in values if key.startswith("point.")}),
        ready_timeout_ms=values["ready_timeout"],
        grace_ms=values["grace"],
        notes=(*values.get("notes", ()), *notes),
        origins={key: at.origin for key, (_, at) in parsed.items()},
        values=values,
        file=file if took_part else None,
        untrusted=_untrusted(layers, parsed),
    )


def _folder(parsed: Mapping[str, tuple[Any, Written]], file: TomlFile | None, folder: Path) -> Path:
    """Return the gateway's folder: as named, else the folder of the file that describes it."""
    if "dir" in parsed:
        named: Path = parsed["dir"][0]
        return named.resolve()
    return folder if file is None or not file.tables.get("gateway") else file.folder.resolve()


def _entry(parsed: Mapping[str, tuple[Any, Written]], folder: Path) -> Path | None:
    """Return the entry: a preset's stays relative (to be looked for), others are placed."""
    if "entry" not in parsed:
        return None
    said, at = parsed["entry"]
    path = Path(said).expanduser()
    if at.origin.startswith("preset") or path.is_absolute():
        return path
    typed_in_folder = folder / path
    placed = at.base / path
    return typed_in_folder if not placed.exists() and typed_in_folder.exists() else placed


def _is_port_fixed(layers: Sequence[Layer]) -> bool:
    """Return whether the port is an order (flag, exported variable) and not a first wish."""
    last = next((layer for layer in reversed(layers) if "port" in layer.values), None)
    return last is not None and last.writer in ("flag", "environment")


def _untrusted(
    layers: Sequence[Layer], parsed: Mapping[str, tuple[Any, Written]]
) -> dict[str, str]:
    """Return the keys for which a file of the worktree has a say."""
    found: dict[str, str] = {}
    for layer in layers:
        for key, written in layer.values.items():
            if key not in parsed:
                continue
            if layer.writer in ("file", "dotenv"):
                found[key] = written.origin
            elif key not in MERGED:
                found.pop(key, None)
    return found
