"""`bench`: benchmark an endpoint that is already there."""

import click

from bench.cli.console import Console
from bench.cli.options import measuring_options, with_positionals
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand


@click.command(
    "bench",
    cls=SectionedCommand,
    epilog="Exit codes: 0 done, 2 usage or key, 4 gateway died, 5 incomplete, 6 a gate failed, 7 "
    "needs your yes, 8 a gate is undecided (--strict), 130 interrupted.",
)
@click.argument("model_id", metavar="[MODEL]", required=False)
@click.argument("mappings", metavar="[MAPPINGS]", required=False)
@click.argument("run_count", metavar="[RUNS]", required=False)
@measuring_options
@click.pass_obj
def bench_command(
    console: Console,
    /,
    model_id: str | None,
    mappings: str | None,
    run_count: str | None,
    **params: object,
) -> Outcome:
    """Benchmark MODEL at an endpoint that is already there.

    MAPPINGS and RUNS are short for --mapping and --runs. Reports go to BENCHMARK_OUTPUT_DIR, else
    .context/benchmarks; their paths are all that is written to stdout.
    """
    from bench.cli.measuring import measure  # the client and its parser: not for `--help`

    return measure(with_positionals(params, model_id, mappings, run_count), console)
