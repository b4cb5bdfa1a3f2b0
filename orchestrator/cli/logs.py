"""`logs`: the end of a gateway's log."""

from pathlib import Path

import click

from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from orchestrator.app import machine
from orchestrator.cli.meant import meant_option, the_meant
from orchestrator.faults import NoSuchGateway
from orchestrator.masking import mask


@click.command("logs", cls=SectionedCommand)
@click.argument("wanted", metavar="[NAME|PID]", required=False)
@click.option(
    "-n", "--lines", type=click.IntRange(1, 10_000), default=40, help="How many. Default: 40."
)
@meant_option
@talking_options
def logs_command(
    wanted: str | None, lines: int, gateway_dir: str | None, **_talk: object
) -> Outcome:
    """Print the last lines of the log, with what looks like a secret masked."""
    here = machine()
    record = the_meant(here, wanted, gateway_dir, verb="logs")
    if record is None:
        raise NoSuchGateway(wanted or "default", ())
    told = [mask(line) for line in here.log.tail(Path(record.log), lines)]
    return Outcome(
        headline=f"the last {len(told)} lines of `{record.log}`",
        run_id=record.run_id,
        files=(record.log,),
        detail={"lines": told},
        text="\n".join(told),
    )
