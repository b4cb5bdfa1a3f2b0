"""Run a job and turn its end into the outcome of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.cli.configured import header_variables
from bench.cli.console import Console
from bench.cli.outcome import Outcome
from orchestrator.app import trust_store
from orchestrator.cli.describing import Described, launch_of, private
from orchestrator.cli.launched import read_launch
from orchestrator.conclusion import JobEnd
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.job import Job, Measuring, run_job
from orchestrator.lifecycle import Machine
from orchestrator.trust import of_journal


def a_job(
    described: Described,
    here: Machine,
    *,
    measuring: Measuring,
    models: tuple[str, ...],
    flags: Mapping[str, Any],
    params: Mapping[str, Any],
) -> Job:
    """Return the job on a private instance, named after its run id.

    Args:
        described: The gateway.
        here: The ports.
        measuring: What the child does.
        models: Names that the gateway will be asked for.
        flags: What was typed, by key: kept so that the run can be resumed.
        params: What was typed, by option: `--keep`, `--attach`, `-v` and `--header-env` count.
    """
    attached = params.get("attach")
    return Job(
        wanted=private(
            described, here, models, flags=flags, client_secrets=header_variables(params)
        ),
        measuring=measuring,
        launch={**launch_of(described, flags, models), "attached": attached},
        keep=params["keep"] or attached is not None,
        attached=attached,
        is_verbose=bool(params.get("verbose")),
        on_journal=lambda path: trust_own(path, here),
    )


def verbosity(params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return `-v` as often as it was typed, for the measuring process."""
    return ("-v",) * int(params.get("verbose") or 0)


def trust_own(journal: Path, here: Machine) -> None:
    """Remember a journal of ours: what it would start again was typed here."""
    launch = read_launch(journal)
    if launch is not None:
        trust_store(here).add(of_journal(journal, launch))


def do_job(job: Job, machine: Machine, console: Console) -> Outcome:
    """Do the job under Ctrl-C and SIGTERM; its journal may be resumed without being asked about.

    Raises:
        OrchestratorError: The gateway did not start or could not be stopped.
    """
    interrupts = Interrupts()
    with interrupts.installed():
        try:
            end = run_job(job, machine, interrupts, console.say)
        except Interrupted as signal:
            left = "not touched" if job.attached is not None else "stopped"
            headline = f"interrupted before anything was measured; the gateway is {left}"
            console.say(f"error: {headline}")
            return Outcome(
                exit_code=signal.exit_code,
                reason="interrupted",
                run_id=job.wanted.run_id,
                headline=headline,
                next="the same command again",
            )
    tell_end(end, console)
    return job_outcome(end, run_id=job.wanted.run_id)


def tell_end(end: JobEnd, console: Console) -> None:
    """Say what the measuring process could not say itself."""
    if end.stop_fault is not None:
        console.say(f"error: {end.stop_fault.message}")
        console.say(f"hint: {end.stop_fault.hint}")
    if not end.said:
        console.say(f"error: {end.headline}")
        if end.next:
            console.say(f"hint: `{end.next}` asks only for what is missing")


def job_outcome(end: JobEnd, *, run_id: str) -> Outcome:
    """Return the measuring process's own outcome with the gateway's part beside it."""
    said = end.said
    files = tuple(str(one) for one in said.get("files", ())) or end.files
    detail: dict[str, Any] = {**(said.get("detail") or {}), "gateway": dict(end.gateway)}
    return Outcome(
        exit_code=end.exit_code,
        reason=end.reason,
        run_id=said.get("runId") or run_id,
        headline=str(said.get("headline") or end.headline),
        planned=said.get("planned"),
        done=said.get("done"),
        failed=said.get("failed"),
        spent_usd=said.get("spentUsd"),
        files=files,
        next=said.get("next") or end.next,
        detail=detail,
        text="\n".join(files),
    )
