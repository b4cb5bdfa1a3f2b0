"""The commands of `gateway-bench`; each is imported when it is used.

The only place that joins the two packages: `bench`, `render`, `cases` are the benchmark's own
commands.
"""

import click

import bench
from bench.cli.group import COMMANDS as BENCH_COMMANDS
from bench.cli.sections import Lazy, LazyGroup

_HERE = "orchestrator.cli"

_COMMANDS = {
    "demo": Lazy(
        path=f"{_HERE}.demo:demo_command",
        summary="The whole job on the embedded gateway: no key, no network, no Node.",
    ),
    "run": Lazy(
        path=f"{_HERE}.run:run_command",
        summary="The whole job on a local build: start, verify, benchmark, stop.",
    ),
    "bench": BENCH_COMMANDS["bench"],
    "overhead": Lazy(
        path=f"{_HERE}.overhead:overhead_command",
        summary="What a gateway adds to its upstream, in pairs of requests.",
    ),
    "ab": Lazy(
        path=f"{_HERE}.ab:ab_command",
        summary="Two builds or configurations side by side, asked in turn; gates for CI and bisect.",
    ),
    "resume": Lazy(
        path=f"{_HERE}.resume:resume_command",
        summary="Go on with an interrupted run: only what is missing is asked.",
    ),
    "show": BENCH_COMMANDS["show"],
    "render": BENCH_COMMANDS["render"],
    "replay": BENCH_COMMANDS["replay"],
    "spend": BENCH_COMMANDS["spend"],
    "start": Lazy(
        path=f"{_HERE}.start:start_command",
        summary="Start a gateway detached and prove that what answers is it.",
    ),
    "status": Lazy(
        path=f"{_HERE}.status:status_command", summary="Whether a started gateway is up and ready."
    ),
    "stop": Lazy(path=f"{_HERE}.stop:stop_command", summary="Stop a started gateway by identity."),
    "logs": Lazy(path=f"{_HERE}.logs:logs_command", summary="The end of a gateway's log."),
    "exec": Lazy(
        path=f"{_HERE}.exec_command:exec_command",
        summary="Any command with a verified gateway up, which is stopped afterwards.",
    ),
    "with": Lazy(path=f"{_HERE}.exec_command:exec_command", summary="The same as `exec`."),
    "ps": Lazy(
        path=f"{_HERE}.ps:ps_command",
        summary="Every gateway on record and what looks like one, over all worktrees.",
    ),
    "clean": Lazy(
        path=f"{_HERE}.clean:clean_command",
        summary="Remove gateways of ours that nobody uses; a dry run unless told `--yes`.",
    ),
    "doctor": Lazy(
        path=f"{_HERE}.doctor:doctor_command",
        summary="What this machine can prove and what not, and what to do about it.",
    ),
    "models": BENCH_COMMANDS["models"],
    "cases": BENCH_COMMANDS["cases"],
    "trust": Lazy(
        path=f"{_HERE}.trusting:trust_command",
        summary="Agree to what a folder's configuration makes us execute.",
    ),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS, name="gateway-bench")
@click.version_option(bench.__version__, prog_name="gateway-bench")
def cli() -> None:
    """Start a local LLM gateway, prove it is yours, benchmark it, stop it. Lose nothing."""


cli.add_command(
    LazyGroup(
        "config",
        lazy={
            "show": Lazy(
                path=f"{_HERE}.config_show:config_show_command",
                summary="Each setting and where it comes from.",
            )
        },
        help="The settings and where they come from.",
    )
)
