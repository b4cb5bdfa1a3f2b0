"""`resume`: go on with an interrupted run."""

from typing import Any

import click

from bench.cli.console import Console
from bench.cli.options import resuming_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand


@click.command("resume", cls=SectionedCommand)
@click.argument("run")
@resuming_options
@click.pass_obj
def resume_command(console: Console, /, run: str, **params: Any) -> Outcome:  # noqa: ANN401  options
    """Go on with RUN: only what has no result is asked, with the same seeds.

    RUN is a .jsonl file, a run id, latest, latest~1, or a commit of the gateway's build. What the
    run asks, and how, is in its journal; the key, secret headers and an address that changed are
    given again.
    """
    from bench.cli.resuming import resume_run

    return resume_run(run, params, console)
