"""Run a job and turn its end into the outcome of a command."""

from typing import Any

from bench.cli.console import Console
from bench.cli.outcome import Outcome
from orchestrator.conclusion import JobEnd
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.job import Job, run_job
from orchestrator.lifecycle import Machine


def do_job(job: Job, machine: Machine, console: Console) -> Outcome:
    """Do the job under Ctrl-C and SIGTERM.

    Raises:
        OrchestratorError: The gateway did not start or could not be stopped.
    """
    interrupts = Interrupts()
    with interrupts.installed():
        try:
            end = run_job(job, machine, interrupts, console.say)
        except Interrupted as signal:
            console.say("error: interrupted before anything was measured; the gateway is stopped")
            return Outcome(
                exit_code=signal.exit_code,
                reason="interrupted",
                run_id=job.wanted.run_id,
                headline="interrupted before anything was measured; the gateway is stopped",
                next="the same command again",
            )
    if not end.said:
        console.say(f"error: {end.headline}")
        if end.next:
            console.say(f"hint: `{end.next}` asks only for what is missing")
    return job_outcome(end, run_id=job.wanted.run_id)


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
