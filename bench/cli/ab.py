"""`ab` between two endpoints that are there already; the job around two gateways calls it too."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bench.cli.baseline_options import BASELINE_ROWS
from bench.cli.console import Console
from bench.cli.option_row import PAIRS, OptionRow
from bench.cli.options import (
    baseline_options,
    pairing_options,
    row_option,
    with_positionals,
)
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand

_F = TypeVar("_F", bound=Callable[..., Any])

_OF_A = {"noise_pairs": "Pairs of side a with itself, measured first. Default: a third of --pairs."}
PAIR_ROWS = tuple(
    OptionRow(
        section=PAIRS,
        spellings=row.spellings,
        field=row.field,
        metavar=row.metavar,
        help=_OF_A.get(row.field, row.help),
    )
    for row in BASELINE_ROWS
    if row.field in {"pairs", "noise_pairs", "cold_pairs", "prompt_bytes"}
)
"""How two sides are asked in turn; what `overhead` calls its baseline is side a."""


def ab_options(command: _F) -> _F:
    """Add everything but the sides: pairs, gates, and what is measured."""
    command = pairing_options(command)
    for row in reversed(PAIR_ROWS):
        command = row_option(row)(command)
    return command


@click.command("ab", cls=SectionedCommand)
@click.argument("model_id", metavar="[MODEL]", required=False)
@baseline_options
@pairing_options
@click.pass_obj
def ab_command(console: Console, /, model_id: str | None, **params: object) -> Outcome:
    """Compare the endpoint at --url (b) with the one at --baseline-url (a), asked in turn."""
    from bench.cli.measuring import measure  # the client and its parser: not for `--help`
    from bench.prepare.pairing import AB

    merged = with_positionals(params, model_id, None, None)
    return measure(merged, console, labels=AB)
