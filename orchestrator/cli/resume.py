"""`resume`: go on with an interrupted run; one of `run` gets its gateway started again."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bench.cli.configured import header_variables
from bench.cli.console import Console
from bench.cli.options import measuring_argv, resuming_options
from bench.cli.outcome import Outcome
from bench.cli.place import named_run
from bench.cli.sections import SectionedCommand
from bench.runs import FoundRun
from orchestrator.app import machine, trust_store
from orchestrator.cli.ab import KIND
from orchestrator.cli.ab_resume import resume_ab
from orchestrator.cli.attached import attach_option, describe_attached
from orchestrator.cli.describing import Described, describe, require_trusted
from orchestrator.cli.job_outcome import a_job, do_job, verbosity
from orchestrator.cli.launched import read_launch
from orchestrator.cli.start_options import keep_option
from orchestrator.faults import BuildDiffers
from orchestrator.job import Job, Measuring
from orchestrator.lifecycle import Machine
from orchestrator.records import differing
from orchestrator.trust import of_journal


@click.command("resume", cls=SectionedCommand)
@click.argument("run")
@attach_option
@keep_option
@resuming_options
@click.pass_context
def resume_command(ctx: click.Context, /, run: str, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Go on with RUN: only what has no result is asked, with the same seeds.

    RUN is a .jsonl file, a run id, latest, latest~1, or a commit of the gateway's build. For a run
    of `run` or `demo` the same build is started again, proven, and stopped afterwards.
    """
    console: Console = ctx.obj
    from bench.cli.resuming import nothing_missing, resume_journal
    from bench.cli.talk import set_up_log

    set_up_log(int(params.get("verbose") or 0), console)
    found = named_run(run, needs_journal=True)
    complete = nothing_missing(found, params, console)
    if complete is not None:
        return complete
    launch = read_launch(found.path)
    if launch is None or params.get("url"):
        return resume_journal(found, params, console)
    return _with_gateway(ctx, found, launch, console)


def _with_gateway(
    ctx: click.Context, found: FoundRun, launch: Mapping[str, Any], console: Console
) -> Outcome:
    here = machine(console.without_secrets)
    params = ctx.params
    if launch.get("attached") is not None:
        return _attached(ctx, found, launch, console)
    if params.get("attach") is not None:
        raise click.UsageError("`--attach` is for a run that was made with it")
    if not found.is_archived:
        require_trusted(of_journal(found.path, launch), trust_store(here), console)
    if launch.get("kind") == KIND:
        return resume_ab(
            launch,
            console,
            measuring=_measuring(ctx, found, launch),
            client_secrets=header_variables(params),
            is_verbose=bool(params.get("verbose")),
        )
    folder = Path(str(launch.get("cwd")))
    described = describe(
        _flags(launch, params),
        here,
        console,
        cwd=folder if folder.is_dir() else Path.cwd(),
        use_files=bool(launch.get("usesFiles")),
    )
    job = _job(ctx, described, here, found, launch)
    different = differing(launch.get("fingerprint") or {}, job.launch["fingerprint"])
    if different:
        raise BuildDiffers([f"its description differs in: {', '.join(different)}"])
    return do_job(job, here, console)


def _attached(
    ctx: click.Context, found: FoundRun, launch: Mapping[str, Any], console: Console
) -> Outcome:
    """Go on with a run on a gateway that nobody started here: a person says which one it is now."""
    pid = ctx.params.get("attach")
    if pid is None:
        message = "this run was made with `--attach`: name the process again with `--attach PID`"
        raise click.UsageError(message)
    here = machine(console.without_secrets)
    described = describe_attached(_flags(launch, ctx.params), here, pid)
    return do_job(_job(ctx, described, here, found, launch), here, console)


def _job(
    ctx: click.Context,
    described: Described,
    here: Machine,
    found: FoundRun,
    launch: Mapping[str, Any],
) -> Job:
    params = ctx.params
    job = a_job(
        described,
        here,
        measuring=_measuring(ctx, found, launch),
        models=tuple(launch.get("models", ())),
        flags=_flags(launch, params),
        params=params,
    )
    return replace(job, expected_build=launch.get("build", {}))


def _measuring(ctx: click.Context, found: FoundRun, launch: Mapping[str, Any]) -> Measuring:
    params = ctx.params
    return Measuring(
        command="resume",
        words=(str(found.path), *measuring_argv(ctx), *verbosity(params)),
        may_ask=not params.get("yes") and not params.get("wants_json"),
        tells_upstream=bool(launch.get("tellsUpstream")) and not params.get("baseline_url"),
    )


def _flags(launch: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was typed for the run, with the key's variable as it is named now."""
    flags = {**launch.get("flags", {})}
    if params.get("api_key_env"):
        flags["api_key_env"] = params["api_key_env"]
    return flags
