"""The commands that measure without starting anything: `python -m bench`."""

import click

import bench
from bench.cli.sections import Lazy, LazyGroup

COMMANDS = {
    "bench": Lazy(
        path="bench.cli.bench:bench_command",
        summary="Benchmark an endpoint that is already there.",
    ),
    "overhead": Lazy(
        path="bench.cli.overhead:overhead_command",
        summary="What a gateway adds to its upstream, in pairs of requests.",
    ),
    "ab": Lazy(
        path="bench.cli.ab:ab_command",
        summary="Two endpoints asked in turn: each difference with its interval, and gates.",
    ),
    "resume": Lazy(
        path="bench.cli.resume:resume_command",
        summary="Go on with an interrupted run: only what is missing is asked.",
    ),
    "render": Lazy(
        path="bench.cli.render:render_command",
        summary="Write a run's reports again, without a request.",
    ),
    "replay": Lazy(
        path="bench.cli.replay:replay_command",
        summary="An agentic trial's recorded tool calls again, without a model.",
    ),
    "show": Lazy(
        path="bench.cli.show:show_command",
        summary="What a run is, whether it can be trusted, and how it was made.",
    ),
    "spend": Lazy(
        path="bench.cli.spend:spend_command",
        summary="What paid runs have cost, by day and by model, over all worktrees.",
    ),
    "models": Lazy(
        path="bench.cli.models:models_command",
        summary="List models and mappings with their prices.",
    ),
    "cases": Lazy(path="bench.cli.cases:cases_command", summary="List profiles, suites and cases."),
}
"""Also mounted by the orchestrator's command line."""

CONFIG_SHOW = Lazy(
    path="bench.cli.config_show:config_show_command",
    summary="Each measuring setting and where it comes from.",
)

config_group = LazyGroup(
    "config", lazy={"show": CONFIG_SHOW}, help="The settings and where they come from."
)


@click.group(cls=LazyGroup, lazy=COMMANDS, name="bench")
@click.version_option(bench.__version__, prog_name="gateway-bench")
def cli() -> None:
    """Benchmark any OpenAI-compatible endpoint truthfully, losing nothing."""


cli.add_command(config_group)
