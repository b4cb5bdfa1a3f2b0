"""The options of measuring commands: one table, shared by every command that measures.

Their text is not read here: `bench.settings` reads it, with what files and the environment say,
so that all faults come in one message.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from bench.cli.sections import SectionedOption
from bench.settings import SETTINGS

_F = TypeVar("_F", bound=Callable[..., Any])

WHAT = "What is measured"
HOW_OFTEN = "How often and how long"
REQUEST = "The request"
ENDPOINT = "Endpoint and key"
MONEY = "Money"
RESULTS = "Results"
TALK = "Talk and help"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One option: its spellings (the setting's name first), section, metavar and help."""

    section: str
    spellings: tuple[str, ...]
    field: str
    metavar: str | None = None
    help: str


_ROWS = (
    _Row(
        section=WHAT,
        spellings=("--model",),
        field="model",
        metavar="ID",
        help="One more model, as the gateway names it. Repeatable.",
    ),
    _Row(
        section=WHAT,
        spellings=("--mapping",),
        field="mapping",
        metavar="LIST",
        help="Which providers' offers: provider, provider:region, provider:*, *. Default: all active.",
    ),
    _Row(
        section=WHAT,
        spellings=("--include-deactivated",),
        field="include_deactivated",
        help="Measure deactivated mappings too.",
    ),
    _Row(
        section=WHAT,
        spellings=("--profile",),
        field="profile",
        metavar="NAME",
        help="Set of cases. Default: smoke; `gateway-bench cases` lists them.",
    ),
    _Row(
        section=WHAT,
        spellings=("--suite",),
        field="suite",
        metavar="NAME",
        help="The older selector of cases.",
    ),
    _Row(
        section=WHAT,
        spellings=("--case",),
        field="case",
        metavar="LIST",
        help="These cases only. Repeatable.",
    ),
    _Row(
        section=WHAT,
        spellings=("--reference",),
        field="reference",
        metavar="TARGET",
        help="Target whose answers the others are compared with. Default: the first.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("--runs",),
        field="runs",
        metavar="N",
        help="Measured runs of each case. Default: the case's own.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("--warmup",),
        field="warmup",
        metavar="N",
        help="Warm-up runs of each case, excluded from figures.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("--budget", "--max-time"),
        field="budget",
        metavar="TIME",
        help="Most time with a request in flight, per target: 2m, 500ms, bare = ms. Default: 2m.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("-c", "--concurrency"),
        field="concurrency",
        metavar="N",
        help="Requests in flight at a time, instead of the case's own number.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("--parallel-groups",),
        field="parallel_groups",
        metavar="N",
        help="Quality groups side by side; performance groups always run alone. Default: 1.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("--overlap",),
        field="overlap",
        help="Let performance groups run beside others; the report says so.",
    ),
    _Row(
        section=HOW_OFTEN,
        spellings=("--seed",),
        field="seed",
        metavar="N",
        help="Draws the instances; the same seed asks the same. Default: 1.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--reasoning-effort", "--reasoning"),
        field="reasoning_effort",
        metavar="LEVEL",
        help="Instead of the case's own.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--max-tokens",),
        field="max_tokens",
        metavar="N",
        help="Instead of the case's own.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--temperature",),
        field="temperature",
        metavar="X",
        help="Instead of the case's own.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--timeout",),
        field="timeout",
        metavar="TIME",
        help="Of one request. Default: 60s.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--stream/--no-stream",),
        field="stream",
        help="Without streaming there is no TTFT. Default: stream.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--body",),
        field="body",
        metavar="FILE",
        help="Send this file byte for byte instead of the cases' requests.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--allow-cache",),
        field="allow_cache",
        help="Let the gateway's response cache answer.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--allow-fallback",),
        field="allow_fallback",
        help="Let another provider answer than the one asked.",
    ),
    _Row(
        section=REQUEST,
        spellings=("--tag/--no-tag",),
        field="tag",
        help="Send run and trial id along, to find them in a bill. Default: tag.",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--url",),
        field="url",
        metavar="URL",
        help="A host, a /v1 base or the full path. Default: BENCHMARK_API_URL, else the preset's.",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--preset",),
        field="preset",
        metavar="NAME",
        help="Endpoint, dialect and key rules of demo, llmgateway, litellm or portkey.",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--api-key-env",),
        field="api_key_env",
        metavar="NAME",
        help="Variable that holds the key. Default: LLM_GATEWAY_API_KEY, then LLMGATEWAY_API_KEY.",
    ),
    _Row(section=ENDPOINT, spellings=("--no-key",), field="key", help="Send no key."),
    _Row(
        section=ENDPOINT,
        spellings=("-H", "--header"),
        field="header",
        metavar="'NAME: VALUE'",
        help="One more request header. Repeatable; no place for secrets.",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--header-env",),
        field="header_env",
        metavar="NAME=VARIABLE",
        help="A header whose value is a secret in a variable. Repeatable.",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--cacert",),
        field="cacert",
        metavar="FILE",
        help="Certificate authorities to trust instead of the system's (PEM).",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--dialect",),
        field="dialect",
        metavar="NAME",
        help="auto, plain, llmgateway, litellm or portkey. Default: auto, and says what it found.",
    ),
    _Row(
        section=ENDPOINT,
        spellings=("--api",),
        field="api",
        metavar="NAME",
        help="Wire protocol: chat.",
    ),
    _Row(
        section=MONEY,
        spellings=("--max-cost",),
        field="max_cost",
        metavar="USD",
        help="Send nothing that could take the total above this.",
    ),
    _Row(
        section=MONEY,
        spellings=("--assume-price",),
        field="assume_price",
        metavar="IN/OUT",
        help="Dollars per million tokens, where the gateway lists no price.",
    ),
    _Row(
        section=MONEY,
        spellings=("--allow-unknown-cost",),
        field="allow_unknown_cost",
        help="With --max-cost: go on though some cost can't be bounded.",
    ),
    _Row(
        section=RESULTS,
        spellings=("--no-responses",),
        field="responses",
        help="Leave the answers' text out of the result.",
    ),
    _Row(
        section=RESULTS,
        spellings=("--no-archive",),
        field="archive",
        help="Keep no copy in your data folder.",
    ),
    _Row(
        section=RESULTS,
        spellings=("--require-complete",),
        field="require_complete",
        help="A run cut by time ends with exit code 5.",
    ),
    _Row(section=TALK, spellings=("--quiet",), field="quiet", help="No progress."),
)

_CONSENT: tuple[tuple[str, tuple[str, ...], dict[str, Any], str], ...] = (
    (MONEY, ("--yes",), {"is_flag": True}, "Yes to the question that a paid run asks."),
    (
        MONEY,
        ("--again",),
        {"is_flag": True},
        "Pay again though an unfinished run of the same plan could be resumed.",
    ),
    (HOW_OFTEN, ("--no-budget",), {"is_flag": True}, "No limit of time."),
    (
        ENDPOINT,
        ("--trust-url", "trusted_hosts"),
        {"multiple": True, "metavar": "HOST"},
        "Let a key go to this host though a .env or toml file names it. Repeatable.",
    ),
)


_AGREEMENTS = ("yes", "again", "no_budget")


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


def measuring_options(command: _F) -> _F:
    """Add every measuring option; their values arrive as text under the settings' names."""
    command = talking_options(command)
    for section, spellings, extra, text in reversed(_CONSENT):
        command = click.option(
            *spellings,
            cls=SectionedOption,
            section=section,
            help=text,
            **extra,
        )(command)
    for row in reversed(_ROWS):
        command = _option(row)(command)
    for name in ("--output", "--format"):
        command = click.option(
            name, hidden=True, expose_value=False, callback=_refuse_owned, metavar="VALUE"
        )(command)
    return command


_RESUMING = (
    *("body", "tag", "url", "preset", "api_key_env", "key", "header", "header_env", "cacert"),
    *("allow_unknown_cost", "archive", "require_complete", "quiet"),
)
"""What of a run its journal doesn't hold, or must not decide."""


def resuming_options(command: _F) -> _F:
    """Add the options of a command that goes on with a recorded run."""
    command = talking_options(command)
    for section, spellings, extra, text in reversed(_CONSENT):
        if spellings[0] in {"--yes", "--trust-url"}:
            command = click.option(
                *spellings, cls=SectionedOption, section=section, help=text, **extra
            )(command)
    for row in reversed(_ROWS):
        if row.field in _RESUMING:
            command = _option(row)(command)
    return command


def _option(row: _Row) -> Callable[[_F], _F]:
    setting = SETTINGS[row.field]
    extra: dict[str, Any] = {"default": None}
    if setting.kind == "switch":
        negative = len(row.spellings) == 1 and row.spellings[0].startswith("--no-")
        extra |= {"is_flag": True} if "/" not in row.spellings[0] else {}
        extra |= {"flag_value": False} if negative else {}
    else:
        extra |= {"metavar": row.metavar, "multiple": setting.kind in {"many", "list"}}
    return click.option(
        *row.spellings, row.field, cls=SectionedOption, section=row.section, help=row.help, **extra
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
    argv = [word for row in _ROWS for word in _emitted(row, merged.get(row.field))]
    argv += [f"--{name.replace('_', '-')}" for name in _AGREEMENTS if merged.get(name)]
    for host in merged.get("trusted_hosts") or ():
        argv += ["--trust-url", host]
    return argv


def _emitted(row: _Row, value: object) -> Sequence[str]:
    if value is None:
        return ()
    name = next(spelling for spelling in row.spellings if spelling.startswith("--"))
    if isinstance(value, bool):
        positive, _, negative = name.partition("/")
        return (positive if value or not negative else negative,)
    entries = value if isinstance(value, tuple) else (value,)
    return tuple(f"{name}={entry}" for entry in entries)
