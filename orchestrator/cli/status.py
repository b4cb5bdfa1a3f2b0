"""`status`: whether a started gateway is up and ready."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.app import machine
from orchestrator.attaching import attach as attach_to
from orchestrator.capping import cap_logs
from orchestrator.cli.attached import attach_option, describe_attached
from orchestrator.cli.describing import private
from orchestrator.cli.meant import meant_option, the_meant
from orchestrator.cli.start_options import GATEWAY
from orchestrator.endings import ending_facts, ending_line, last_ending
from orchestrator.facts import record_facts
from orchestrator.health_now import condition
from orchestrator.lifecycle import Machine
from orchestrator.render import record_lines
from orchestrator.vitals import vitals, vitals_facts, vitals_lines
from orchestrator.wanted import worktree_of

NOT_PROVEN = 3


@click.command("status", cls=SectionedCommand)
@click.argument("wanted", metavar="[NAME|PID]", required=False)
@attach_option
@click.option(
    "--port",
    cls=SectionedOption,
    section=GATEWAY,
    metavar="PORT",
    help="With `--attach`: which of its ports.",
)
@meant_option
@talking_options
def status_command(
    wanted: str | None,
    attach: int | None,
    port: str | None,
    gateway_dir: str | None,
    **_talk: object,
) -> Outcome:
    """Say whether the gateway is up, ready and ours; exit 0, or 3 when that can't be shown.

    With `--attach PID`: whether a process that nobody started here owns its port and answers.
    """
    here = machine()
    cap_logs(here)
    if attach is not None:
        if wanted is not None:
            raise click.UsageError("a name or `--attach PID`, not both")
        return _attached(here, attach, {"port": port, "dir": gateway_dir})
    if port is not None:
        raise click.UsageError("`--port` goes with `--attach`")
    record = the_meant(here, wanted, gateway_dir, verb="status")
    if record is None:
        return _down(here, wanted, gateway_dir)
    now, life = condition(here, record), vitals(here, record)
    state = now.state.replace("_", " ")
    pid = record.identity.pid
    headline = f"`{record.name}` is {state}: PID {pid} on port {record.port}, {now.why}"
    told = (*vitals_lines(life, record), *record_lines(record))
    lines = [headline, *(f"  {line}" for line in told)]
    return Outcome(
        exit_code=0 if now.state == "ready" else NOT_PROVEN,
        reason=now.state,
        run_id=record.run_id,
        headline=headline,
        next=f"gateway-bench stop {record.identity.pid}",
        detail={
            "gateway": {
                **record_facts(record),
                **vitals_facts(life),
                "state": now.state,
                "why": now.why,
            }
        },
        text="\n".join(lines),
    )


def _attached(here: Machine, pid: int, flags: Mapping[str, Any]) -> Outcome:
    described = describe_attached(flags, here, pid)
    up = attach_to(here, private(described, here), pid)
    up.started.held.close()
    up.hold.release()
    record, life = up.started.record, vitals(here, up.started.record)
    headline = f"PID {pid} answers on {up.url}: a connection to it is its own"
    told = (*vitals_lines(life, record), *record_lines(record))
    return Outcome(
        reason="ready",
        headline=headline,
        next=f"gateway-bench run MODEL --attach {pid}",
        detail={"gateway": {**record_facts(record), **vitals_facts(life), "state": "ready"}},
        text="\n".join([headline, *(f"  {line}" for line in told)]),
    )


def _down(here: Machine, wanted: str | None, folder: str | None) -> Outcome:
    """Say that it is down and, where that is known, how the last one ended."""
    named = f"`{wanted}` " if wanted else "no gateway "
    headline = f"{named}is {'not ' if wanted else ''}up here"
    ending = last_ending(here, worktree_of(Path(folder) if folder else Path.cwd()), wanted)
    last = () if ending is None else (f"  {ending_line(ending)}",)
    return Outcome(
        exit_code=NOT_PROVEN,
        reason="down",
        headline=headline,
        detail={"last": None if ending is None else ending_facts(ending)},
        text="\n".join([headline, *last]),
    )
