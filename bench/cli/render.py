"""`render`: write a run's reports again."""

from pathlib import Path

import click

from bench.cli.console import Console
from bench.cli.option_table import RESULTS
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption


@click.command("render", cls=SectionedCommand)
@click.argument("run")
@click.option(
    "--output",
    metavar="DIR",
    cls=SectionedOption,
    section=RESULTS,
    help="Where to. Default: beside the file; for a run from the archive, the results' folder.",
)
@talking_options
@click.pass_obj
def render_command(
    console: Console, /, run: str, output: str | None, verbose: int, **_talk: object
) -> Outcome:
    """Write the reports of RUN again, without one request.

    RUN is a .json or .jsonl file, a run id, latest or latest~1. Also for a run that was killed.
    """
    from bench.app import render
    from bench.cli.place import archive_folder, current_place
    from bench.cli.talk import ended, set_up_log, terminal_width
    from bench.config import load_config
    from bench.runs import find_run

    set_up_log(verbose, console)
    place = current_place()
    found = find_run(run, archive=archive_folder(), folder=place.folder, needs_journal=False)
    folder = place.folder / Path(output).expanduser() if output else None
    if folder is None and found.is_archived:
        folder = load_config({}, place).output_folder()
    return ended(render(found.path, folder, summary_width=terminal_width()), console)
