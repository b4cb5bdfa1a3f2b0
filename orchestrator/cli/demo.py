"""`demo`: the whole job on the embedded gateway."""

from typing import Any

import click

from bench.cli.beforehand import check_beforehand
from bench.cli.console import Console
from bench.cli.options import measuring_argv, measuring_options_but, with_positionals
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.app import machine
from orchestrator.cli.describing import describe
from orchestrator.cli.job_outcome import a_job, do_job, verbosity
from orchestrator.cli.start_options import GATEWAY, keep_option
from orchestrator.job import Measuring

_MODEL = "demo-small"
# One that is right and quick, one that is cheap and often wrong, one that holds its stream back.
_MAPPINGS = "fast,sloppy,buffered"


@click.command("demo", cls=SectionedCommand)
@click.argument("model_id", metavar="[MODEL]", required=False)
@click.argument("mappings", required=False)
@click.argument("run_count", metavar="[RUNS]", required=False)
@click.option(
    "--port",
    metavar="PORT",
    cls=SectionedOption,
    section=GATEWAY,
    help="Exactly this port. Default: a free one.",
)
@keep_option
@measuring_options_but("url", "preset")
@click.pass_context
def demo_command(ctx: click.Context, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Do the whole job on the embedded gateway, whose answers are simulated.

    Needs no key, no network and no Node; reads no configuration of the folder it is typed in.
    """
    if params.get("url") or params.get("preset"):
        raise click.UsageError("`demo` has its own gateway: `--url` and `--preset` are for others")
    console: Console = ctx.obj
    words = (params.get("model_id"), params.get("mappings"), params.get("run_count"))
    check_beforehand(with_positionals(params, *words), console)
    here = machine(console.without_secrets)
    flags = {"preset": "demo", "port": params["port"]}
    described = describe(flags, here, console, use_files=False)
    asked = [*measuring_argv(ctx), *verbosity(params)]
    if not params.get("model_id") and not params.get("model"):
        asked += ["--model", _MODEL]
        if not params.get("mapping"):
            asked += ["--mapping", _MAPPINGS]
    if not params.get("dialect"):
        asked += ["--dialect", described.config.dialect]
    job = a_job(
        described,
        here,
        measuring=Measuring(command="bench", words=tuple(asked), may_ask=False),
        models=(),
        flags=flags,
        params=params,
    )
    return do_job(job, here, console)
