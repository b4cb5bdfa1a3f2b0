"""`status`: whether a started gateway is up and ready."""

import click

from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from orchestrator.app import machine
from orchestrator.cli.meant import meant_option, the_meant
from orchestrator.facts import record_facts
from orchestrator.health_now import condition
from orchestrator.render import record_lines

NOT_PROVEN = 3


@click.command("status", cls=SectionedCommand)
@click.argument("wanted", metavar="[NAME|PID]", required=False)
@meant_option
@talking_options
def status_command(wanted: str | None, gateway_dir: str | None, **_talk: object) -> Outcome:
    """Say whether the gateway is up, ready and ours; exit 0, or 3 when that can't be shown."""
    here = machine()
    record = the_meant(here, wanted, gateway_dir, verb="status")
    if record is None:
        named = f"`{wanted}` " if wanted else "no gateway "
        headline = f"{named}is {'not ' if wanted else ''}up here"
        return Outcome(exit_code=NOT_PROVEN, reason="down", headline=headline, text=headline)
    now = condition(here, record)
    state = now.state.replace("_", " ")
    pid = record.identity.pid
    headline = f"`{record.name}` is {state}: PID {pid} on port {record.port}, {now.why}"
    lines = [headline, *(f"  {line}" for line in record_lines(record))]
    return Outcome(
        exit_code=0 if now.state == "ready" else NOT_PROVEN,
        reason=now.state,
        run_id=record.run_id,
        headline=headline,
        next=f"gateway-bench stop {record.name}",
        detail={"gateway": {**record_facts(record), "state": now.state, "why": now.why}},
        text="\n".join(lines),
    )
