"""The options of measuring commands: one table, shared by every command that measures.

Their text is not read here: `bench.settings` reads it, with what files and the environment say,
so that all faults come in one message.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from bench.cli.baseline_options import BASELINE_ROWS
from bench.cli.option_row import TALK, OptionRow
from bench.cli.option_table import CONSENT, ROWS
from bench.cli.sections import SectionedOption
from bench.model.paired import OF_ONE_ENDPOINT
from bench.settings import SETTINGS

_F = TypeVar("_F", bound=Callable[..., Any])

_AGREEMENTS = ("yes", "again", "no_budget")


def baseline_options(command: _F) -> _F:
    """Add what only a comparison of two endpoints has."""
    for row in reversed(BASELINE_ROWS):
        command = row_option(row)(command)
    return command


def talking_options(command: _F) -> _F:
    """Add what every command has: `--json`, `--debug`, `-v`."""
    for decoration in reversed(
        (
            click.option(
                "--json",
                "wants_json",
                is_flag=True,
                cls=SectionedOption,
                section=TALK,
                help="One JSON object on stdout, also of a failure.",
            ),
            click.option(
                "--debug",
                is_flag=True,
                cls=SectionedOption,
                section=TALK,
                help="Tracebacks on stderr.",
            ),
            click.option(
                "-v",
                "--verbose",
                count=True,
                cls=SectionedOption,
                section=TALK,
                help="The log on stderr; -vv for more.",
            ),
        )
    ):
        command = decoration(command)
    return command


_PART_OF_ONE_ENDPOINT = (
    *OF_ONE_ENDPOINT,
    *("external_data", "external_limit", "external_offset", "external_mode"),
    *("external_unsupported", "trace_speed", "turns"),
    *("parallel_groups", "overlap", "max_turns", "allow_reduced_sandbox"),
)
"""With what only changes the meaning of these, or of agentic cases."""
_OF_TWO = {
    "fail_on": "End with 6 when the difference surely lies beyond: ttft=+5%, itl.p99=+2ms, "
    "errors=+1pt. Repeatable.",
    "concurrency": "Requests in flight: 8; 1,8,64 are levels, each compared on its own. Default: 1.",
    "requests": "Requests of each block. Default: 1 at -c 1, else 4 for each in flight, at least 20.",
    "case": "The one case that both are asked. Default: fixed_output_stream.",
    "model": "The model, in place of MODEL.",
}


def measuring_options(command: _F) -> _F:
    """Add every measuring option; their values arrive as text under the settings' names."""
    return _with_rows(command, ROWS)


def measuring_options_but(*decided: str) -> Callable[[_F], _F]:
    """Add the same to a command that decides some of them itself; its help doesn't offer these.

    Args:
        decided: Their fields; the command refuses them where they are typed.
    """
    rows = [replace(row, is_hidden=row.is_hidden or row.field in decided) for row in ROWS]
    return lambda command: _with_rows(command, rows)


def pairing_options(command: _F) -> _F:
    """Add the same to a comparison of two sides; what is refused there is not in its help."""
    told = [
        replace(
            row, is_hidden=row.field in _PART_OF_ONE_ENDPOINT, help=_OF_TWO.get(row.field, row.help)
        )
        for row in ROWS
    ]
    return _with_rows(command, told)


def _with_rows(command: _F, rows: Sequence[OptionRow]) -> _F:
    command = talking_options(command)
    for section, spellings, extra, text in reversed(CONSENT):
        command = click.option(
            *spellings,
            cls=SectionedOption,
            section=section,
            help=text,
            **extra,
        )(command)
    for row in reversed(rows):
        command = row_option(row)(command)
    for name in ("--output", "--format"):
        command = click.option(
            name, hidden=True, expose_value=False, callback=_refuse_owned, metavar="VALUE"
        )(command)
    return command


_OF_THE_WHOLE_RUN = {
    "budget": "Another time budget per target; what was used before counts. Default: as recorded.",
    "max_cost": "Another limit; what was spent before counts. Default: as recorded.",
}
_RESUMING = (
    *_OF_THE_WHOLE_RUN,
    *(
        "cases",
        "external_data",
        "body",
        "tag",
        "url",
        "preset",
        "api_key_env",
        "key",
        "header",
        "header_env",
        "cacert",
        "proxy",
    ),
    *("allow_unknown_cost", "allow_reduced_sandbox", "archive", "require_complete", "quiet"),
    *("workers", "engine", "ray_address", "ray_cpus"),
)
"""What of a run its journal doesn't hold, or must not decide."""


def resuming_options(command: _F) -> _F:
    """Add the options of a command that goes on with a recorded run."""
    command = talking_options(command)
    for section, spellings, extra, text in reversed(CONSENT):
        if spellings[0] in {"--yes", "--trust-url", "--no-budget"}:
            command = click.option(
                *spellings, cls=SectionedOption, section=section, help=text, **extra
            )(command)
    for row in reversed(ROWS):
        if row.field in _RESUMING:
            own = _OF_THE_WHOLE_RUN.get(row.field, row.help)
            command = row_option(replace(row, help=own))(command)
    for row in reversed(BASELINE_ROWS):
        if row.field in _RESUMING_ARMS:
            command = row_option(row)(command)
    return command


_RESUMING_ARMS = (
    *("baseline_url", "baseline_api_key_env", "baseline_key_header"),
    *("baseline_header", "baseline_header_env"),
)
"""The same of the endpoint that a comparison holds against."""

_LISTING = (
    *("mapping", "catalogue", "include_deactivated", "url", "preset", "api_key_env", "key"),
    *("key_header", "header", "header_env", "cacert", "proxy", "dialect"),
)
"""What decides which list is read and what of it is shown."""


def listing_options(command: _F) -> _F:
    """Add the options of a command that asks a gateway what it has."""
    command = talking_options(command)
    for section, spellings, extra, text in reversed(CONSENT):
        if spellings[0] == "--trust-url":
            command = click.option(
                *spellings, cls=SectionedOption, section=section, help=text, **extra
            )(command)
    for row in reversed(ROWS):
        if row.field in _LISTING:
            command = row_option(row)(command)
    return command


def row_option(row: OptionRow) -> Callable[[_F], _F]:
    """Return what adds one option of a table to a command."""
    setting = SETTINGS[row.field]
    extra: dict[str, Any] = {"default": None}
    if setting.kind == "switch":
        negative = len(row.spellings) == 1 and row.spellings[0].startswith("--no-")
        extra |= {"is_flag": True} if "/" not in row.spellings[0] else {}
        extra |= {"flag_value": False} if negative else {}
    else:
        extra |= {"metavar": row.metavar, "multiple": setting.kind in {"many", "list"}}
    return click.option(
        *row.spellings,
        row.field,
        cls=SectionedOption,
        section=row.section,
        help=row.help,
        hidden=row.is_hidden,
        **extra,
    )


def _refuse_owned(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is not None:
        msg = (
            f"`--{param.name}` is not for this command: it writes all report formats itself, into "
            "`BENCHMARK_OUTPUT_DIR`, else `.context/benchmarks`"
        )
        raise click.UsageError(
            msg,
            ctx,
        )


def typed_settings(params: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings that were typed, by field, for `bench.config.load_config`."""
    typed = {
        field: params[field]
        for field in SETTINGS
        if params.get(field) is not None and params[field] != ()
    }
    if params.get("no_budget"):
        if "budget" in typed:
            raise click.UsageError("`--budget` and `--no-budget` exclude each other")
        typed["budget"] = "none"
    return typed


def with_positionals(
    params: Mapping[str, Any], model: str | None, mappings: str | None, runs: str | None
) -> dict[str, Any]:
    """Return ``params`` with the positional `MODEL [MAPPINGS] [RUNS]` in their options' places."""
    merged = dict(params)
    if model is not None:
        merged["model"] = (model, *(params.get("model") or ()))
    if mappings is not None:
        merged["mapping"] = (mappings, *(params.get("mapping") or ()))
    if runs is not None:
        if params.get("runs") is not None:
            raise click.UsageError("RUNS is given twice, as third word and as `--runs`")
        merged["runs"] = runs
    return merged


def measuring_argv(ctx: click.Context) -> list[str]:
    """Return the measuring options that were typed in ``ctx``, for a child that measures.

    Positional MODEL, MAPPINGS and RUNS come back as options; `--json`, `--debug` and `-v` don't.
    """
    typed = {
        name: value
        for name, value in ctx.params.items()
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    positional = [typed.get(name) for name in ("model_id", "mappings", "run_count")]
    merged = with_positionals(typed, *positional)
    argv = [
        word for row in (*ROWS, *BASELINE_ROWS) for word in _emitted(row, merged.get(row.field))
    ]
    argv += [f"--{name.replace('_', '-')}" for name in _AGREEMENTS if merged.get(name)]
    for host in merged.get("trusted_hosts") or ():
        argv += ["--trust-url", host]
    return argv


def _emitted(row: OptionRow, value: object) -> Sequence[str]:
    if value is None:
        return ()
    name = next(spelling for spelling in row.spellings if spelling.startswith("--"))
    if isinstance(value, bool):
        positive, _, negative = name.partition("/")
        return (positive if value or not negative else negative,)
    entries = value if isinstance(value, tuple) else (value,)
    return tuple(f"{name}={entry}" for entry in entries)
