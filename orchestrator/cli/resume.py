"""`resume`: go on with an interrupted run; one of `run` gets its gateway started again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bench.cli.console import Console
from bench.cli.options import measuring_argv, resuming_options
from bench.cli.outcome import Outcome
from bench.cli.place import archive_folder
from bench.cli.sections import SectionedCommand
from bench.runs import FoundRun, find_run
from orchestrator.app import machine, trust_store
from orchestrator.cli.describing import describe, require_trusted
from orchestrator.cli.job_outcome import a_job, do_job, verbosity
from orchestrator.cli.launched import read_launch
from orchestrator.cli.start_options import keep_option
from orchestrator.faults import BuildDiffers
from orchestrator.job import Measuring
from orchestrator.trust import of_journal


@click.command("resume", cls=SectionedCommand)
@click.argument("run")
@keep_option
@resuming_options
@click.pass_context
def resume_command(ctx: click.Context, /, run: str, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Go on with RUN: only what has no result is asked, with the same seeds.

    RUN is a .jsonl file, a run id, latest or latest~1. For a run of `run` or `demo` the same
    build is started again, proven, and stopped afterwards.
    """
    console: Console = ctx.obj
    found = find_run(run, archive=archive_folder(), folder=Path.cwd(), needs_journal=True)
    launch = read_launch(found.path)
    if launch is None or params.get("url"):
        from bench.cli.resuming import resume_run

        return resume_run(run, params, console)
    return _with_gateway(ctx, found, launch, console)


def _with_gateway(
    ctx: click.Context, found: FoundRun, launch: Mapping[str, Any], console: Console
) -> Outcome:
    here = machine()
    params = ctx.params
    if not found.is_archived:
        require_trusted(of_journal(found.path, launch), trust_store(here), console)
    flags = {**launch.get("flags", {})}
    if params.get("api_key_env"):
        flags["api_key_env"] = params["api_key_env"]
    folder = Path(str(launch.get("cwd")))
    described = describe(
        flags,
        here,
        console,
        cwd=folder if folder.is_dir() else Path.cwd(),
        use_files=bool(launch.get("usesFiles")),
    )
    measuring = Measuring(
        command="resume",
        words=(str(found.path), *measuring_argv(ctx), *verbosity(params)),
        may_ask=not params.get("yes") and not params.get("wants_json"),
    )
    job = a_job(
        described,
        here,
        measuring=measuring,
        models=tuple(launch.get("models", ())),
        flags=flags,
        keep=params["keep"],
        is_verbose=bool(params.get("verbose")),
        expected=launch,
    )
    if job.launch["descriptionHash"] != launch.get("descriptionHash"):
        raise BuildDiffers(["its description is another one"])
    return do_job(job, here, console)
