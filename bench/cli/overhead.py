"""`overhead`: what a gateway adds to its upstream."""

import click

from bench.cli.console import Console
from bench.cli.options import baseline_options, pairing_options, with_positionals
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand


@click.command(
    "overhead",
    cls=SectionedCommand,
    epilog="Exit codes: 0 done, 2 usage or key, 4 gateway died, 5 incomplete, 6 a gate failed, 7 "
    "needs your yes, 8 a gate is undecided (--strict), 130 interrupted.",
)
@click.argument("model_id", metavar="[MODEL]", required=False)
@baseline_options
@pairing_options
@click.pass_obj
def overhead_command(console: Console, /, model_id: str | None, **params: object) -> Outcome:
    """Measure what the gateway at --url adds to the upstream at --baseline-url.

    Both are asked in turn, pair by pair, with the same work and each with its own key. The first
    sentence says what is added to the time to first token, and whether the stream is buffered.
    """
    from bench.cli.measuring import measure  # the client and its parser: not for `--help`
    from bench.prepare.pairing import OVERHEAD

    return measure(with_positionals(params, model_id, None, None), console, labels=OVERHEAD)
