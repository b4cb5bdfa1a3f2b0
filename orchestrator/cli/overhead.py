"""`overhead`: what a gateway adds, on one that is there or one that is started for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from bench.cli.beforehand import check_beforehand
from bench.cli.console import Console
from bench.cli.options import (
    baseline_options,
    measuring_argv,
    pairing_options,
    with_positionals,
)
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from orchestrator.alongside import Measuring
from orchestrator.app import machine
from orchestrator.cli.attached import attach_option, describe_attached, refuse_start_options
from orchestrator.cli.describing import Described, describe
from orchestrator.cli.job_outcome import a_job, do_job, verbosity
from orchestrator.cli.run import asked_models, known_as
from orchestrator.cli.start_options import keep_option, start_options, typed_flags


@click.command(
    "overhead",
    cls=SectionedCommand,
    epilog="Exit codes: 0 done, 2 usage or key, 3 not started, 4 gateway died, 5 incomplete, 6 a "
    "gate failed, 7 needs your yes, 8 a gate is undecided (--strict), 130 interrupted.",
)
@click.argument("model_id", metavar="[MODEL]", required=False)
@baseline_options
@start_options
@attach_option
@keep_option
@pairing_options
@click.pass_context
def overhead_command(ctx: click.Context, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Measure what a gateway adds to its upstream.

    Both are asked in turn, pair by pair, with the same work and each with its own key. The gateway
    is the one at --url, or one that is started for it and stopped afterwards; then a simulated
    upstream, or one named with --upstream, is what it is held against.
    """
    console: Console = ctx.obj
    if params.get("url"):
        return _measured(params, console)
    return _job(ctx, params, console)


def _measured(params: Mapping[str, Any], console: Console) -> Outcome:
    """Measure a gateway that is there already."""
    from bench.cli.measuring import measure  # the client and its parser: not for `--help`
    from bench.prepare.pairing import OVERHEAD

    if params.get("attach") is not None:
        raise click.UsageError("`--url` and `--attach` exclude each other")
    refuse_start_options(params, beside="--url")
    typed = with_positionals(params, params.get("model_id"), None, None)
    return measure(typed, console, labels=OVERHEAD)


def _job(ctx: click.Context, params: Mapping[str, Any], console: Console) -> Outcome:
    """Start the gateway, measure it and its upstream, stop it."""
    first = (params["model_id"],) if params.get("model_id") else ()
    models = asked_models(
        (*first, *(params.get("model") or ())), tuple(params.get("mapping") or ())
    )
    if not models and not params.get("body"):
        raise click.UsageError("no MODEL: name the one to ask for")
    typed = with_positionals(params, params.get("model_id"), None, None)
    check_beforehand(typed, console, is_compared=True)
    here, flags, pid = machine(console.without_secrets), typed_flags(params), params["attach"]
    if pid is None:
        described = describe(flags, here, console)
    else:
        refuse_start_options(params)
        described = describe_attached(flags, here, pid)
    is_known = not params.get("baseline_url")
    if is_known:
        _require_upstream(described, is_attached=pid is not None)
    measuring = Measuring(
        command="overhead",
        words=(*measuring_argv(ctx), *known_as(described, params), *verbosity(params)),
        may_ask=not params.get("yes") and not params.get("wants_json"),
        tells_upstream=is_known,
    )
    job = a_job(described, here, measuring=measuring, models=models, flags=flags, params=params)
    job = replace(job, launch={**job.launch, "tellsUpstream": is_known})
    return do_job(job, here, console)


def _require_upstream(described: Described, *, is_attached: bool) -> None:
    """See that the job will know whom to hold the gateway against.

    Raises:
        UsageError: It will not.
    """
    upstream = described.config.upstream
    if upstream == "embedded":
        message = (
            "this gateway answers by itself: there is no upstream that it could add anything to"
        )
    elif upstream == "own" or is_attached:
        message = (
            "nobody but the gateway knows its upstream: name it with `--baseline-url URL` (and "
            "its key with `--baseline-api-key-env NAME`), or have it simulated with "
            "`--upstream simulated`"
        )
    else:
        return
    raise click.UsageError(message)
