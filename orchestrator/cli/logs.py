"""`logs`: the end of a gateway's log, and what comes after it."""

import os
from pathlib import Path

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.app import machine
from orchestrator.capping import cap_logs
from orchestrator.cli.meant import meant_option, the_meant
from orchestrator.endings import ending_line, last_ending
from orchestrator.events import described
from orchestrator.faults import NoSuchGateway
from orchestrator.lifecycle import Machine, find_all
from orchestrator.masking import mask, secret_values
from orchestrator.records import GatewayRecord
from orchestrator.tailing import follow
from orchestrator.wanted import worktree_of

_INTERRUPTED = 130
_LINES = "The lines"


@click.command("logs", cls=SectionedCommand)
@click.argument("wanted", metavar="[NAME|PID]", required=False)
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(1, 10_000),
    default=40,
    cls=SectionedOption,
    section=_LINES,
    help="How many. Default: 40.",
)
@click.option(
    "-f",
    "--follow",
    "is_followed",
    is_flag=True,
    cls=SectionedOption,
    section=_LINES,
    help="Go on with new lines until it ends.",
)
@meant_option
@talking_options
@click.pass_obj
def logs_command(
    console: Console,
    /,
    wanted: str | None,
    lines: int,
    is_followed: bool,
    gateway_dir: str | None,
    **_talk: object,
) -> Outcome:
    """Print the last lines of the log, with what looks like a secret masked.

    Of a gateway that has ended it is the log of the last one of that name.
    """
    if is_followed and console.wants_json:
        raise click.UsageError("`--follow` is a stream, `--json` one object: choose one")
    console.keep_secret(*secret_values(os.environ))
    here = machine(console.without_secrets)
    record = the_meant(here, wanted, gateway_dir, verb="logs")
    if record is None:
        return _of_the_last(here, wanted, gateway_dir, lines, console)
    if is_followed:
        return _followed(here, record, lines, console)
    told = _told(here, Path(record.log), lines, record.run_id)
    cap_logs(here)  # last: it empties what was just read
    return told


def _told(here: Machine, log: Path, lines: int, run_id: str) -> Outcome:
    told = [mask(line) for line in here.log.tail(log, lines)]
    return Outcome(
        headline=f"the last {len(told)} lines of `{log}`",
        run_id=run_id,
        files=(str(log),),
        detail={"lines": told},
        text="\n".join(told),
    )


def _of_the_last(
    here: Machine, wanted: str | None, folder: str | None, lines: int, console: Console
) -> Outcome:
    worktree = worktree_of(Path(folder) if folder else Path.cwd())
    ending = last_ending(here, worktree, wanted)
    if ending is None:
        here_too = [one.name for one in find_all(here) if isinstance(one, GatewayRecord)]
        raise NoSuchGateway(wanted or "default", here_too)
    console.say(ending_line(ending))
    return _told(here, Path(ending.log), lines, ending.run_id)


def _followed(here: Machine, record: GatewayRecord, lines: int, console: Console) -> Outcome:
    name = f"`{record.name}` (PID {record.identity.pid})"
    try:
        end = follow(here, record, lines=lines, emit=lambda line: console.data(mask(line)))
    except KeyboardInterrupt:
        return Outcome(exit_code=_INTERRUPTED, reason="interrupted", headline=f"{name} goes on")
    headline = f"{name} {described(end)}"
    console.say(headline)
    return Outcome(reason="ended", run_id=record.run_id, headline=headline, files=(record.log,))
