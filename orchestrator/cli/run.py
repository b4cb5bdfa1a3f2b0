"""`run`: the whole job on a local build."""

from collections.abc import Mapping
from typing import Any

import click

from bench.cli.beforehand import check_beforehand
from bench.cli.console import Console
from bench.cli.options import measuring_argv, measuring_options_but, with_positionals
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from orchestrator.app import machine
from orchestrator.cli.attached import attach_option, describe_attached, refuse_start_options
from orchestrator.cli.describing import Described, describe
from orchestrator.cli.job_outcome import a_job, do_job, verbosity
from orchestrator.cli.start_options import keep_option, start_options, typed_flags
from orchestrator.job import Measuring


@click.command("run", cls=SectionedCommand)
@click.argument("model_id", metavar="MODEL", required=False)
@click.argument("mappings", required=False)
@click.argument("run_count", metavar="[RUNS]", required=False)
@start_options
@attach_option
@keep_option
@measuring_options_but("url")
@click.pass_context
def run_command(ctx: click.Context, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Start a local gateway, prove it, benchmark MODEL on it, write reports, stop it.

    The gateway is described by a preset, by the nearest `gateway-bench.toml`, by GATEWAY_*
    variables or by the options below; `config show` says what came from where.
    """
    if params.get("url"):
        raise click.UsageError("`--url` is not for `run`, which starts the gateway; use `bench`")
    models = _models(params)
    if not models and not params.get("body"):
        raise click.UsageError("no MODEL: name the one to ask for")
    console: Console = ctx.obj
    words = (params.get("model_id"), params.get("mappings"), params.get("run_count"))
    check_beforehand(with_positionals(params, *words), console)
    here = machine(console.without_secrets)
    flags, pid = typed_flags(params), params["attach"]
    if pid is None:
        described = describe(flags, here, console)
    else:
        refuse_start_options(params)
        described = describe_attached(flags, here, pid)
    measuring = Measuring(
        command="bench",
        words=(*measuring_argv(ctx), *known_as(described, params), *verbosity(params)),
        may_ask=not params.get("yes") and not params.get("wants_json"),
    )
    job = a_job(
        described,
        here,
        measuring=measuring,
        models=models,
        flags=flags,
        params=params,
    )
    return do_job(job, here, console)


def asked_models(models: tuple[str, ...], mappings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the strings that the gateway will be asked for: plain, and pinned to a provider."""
    offers = [one for listed in mappings for one in listed.split(",") if one and "*" not in one]
    pinned = []
    for model in models:
        for offer in offers:
            provider, _, region = offer.partition(":")
            pinned.append(f"{provider}/{model}" + (f":{region}" if region else ""))
    return tuple(dict.fromkeys([*models, *pinned]))


def _models(params: Mapping[str, Any]) -> tuple[str, ...]:
    first = (params["model_id"],) if params.get("model_id") else ()
    offers = (params["mappings"],) if params.get("mappings") else ()
    return asked_models(
        (*first, *(params.get("model") or ())), (*offers, *(params.get("mapping") or ()))
    )


def known_as(described: Described, params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the description's preset and dialect where none was typed, for the child."""
    config = described.config
    preset = ("--preset", config.preset) if config.preset and not params.get("preset") else ()
    return (*preset, *(() if params.get("dialect") else ("--dialect", config.dialect)))
