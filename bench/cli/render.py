"""`render`: write a run's reports again."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from bench.cli.console import Console
from bench.cli.option_row import RESULTS
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
    help="Where to. Default: beside a file that is named; for `latest` or an id, the results' folder.",
)
@click.option(
    "--format",
    "formats",
    metavar="LIST",
    multiple=True,
    cls=SectionedOption,
    section=RESULTS,
    help="Only these: json, md, html, timings, csv. Repeatable. Default: all.",
)
@talking_options
@click.pass_obj
def render_command(
    console: Console,
    /,
    run: str,
    output: str | None,
    formats: tuple[str, ...],
    verbose: int,
    **_talk: object,
) -> Outcome:
    """Write the reports of RUN again, without one request.

    RUN is a .json or .jsonl file, a run id, latest, latest~1, or a commit of the gateway's build.
    Also for a run that was killed.
    """
    from bench.app.rendering import FORMATS, render
    from bench.cli.place import current_place, named_run
    from bench.cli.talk import ended, set_up_log, terminal_width
    from bench.config import load_config
    from bench.journal import is_being_written

    set_up_log(verbose, console)
    wanted = tuple(_format(one, FORMATS) for listed in formats for one in listed.split(","))
    place = current_place()
    found = named_run(run, needs_journal=False)
    if output:
        folder = place.folder / Path(output).expanduser()
    else:
        folder = found.reports_folder(load_config({}, place).output_folder())
    made = render(
        found.path, folder, summary_width=terminal_width(), formats=wanted or tuple(FORMATS)
    )
    if is_being_written(found.path):
        said = f"`{found.path}` is still being measured; these reports show what is there by now"
        made = replace(made, notes=(said, *made.notes))
    return ended(made, console)


def _format(typed: str, known: Iterable[str]) -> str:
    from bench.setting_readers import one_of

    try:
        choice: str = one_of(*known)(typed)
    except ValueError as fault:
        message = f"`--format {typed}`: {fault}"
        raise click.UsageError(message) from fault
    return choice
