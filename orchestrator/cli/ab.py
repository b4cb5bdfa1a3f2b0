"""`ab`: two builds or two configurations side by side."""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bench.cli.ab import ab_options
from bench.cli.beforehand import check_beforehand
from bench.cli.bisecting import CANT_TELL, bisected
from bench.cli.configured import header_variables
from bench.cli.console import Console
from bench.cli.manners import Manners
from bench.cli.option_row import GATES
from bench.cli.options import measuring_argv, with_positionals
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.ab_job import AbJob, Side, run_ab
from orchestrator.alongside import Measuring
from orchestrator.app import machine, new_run_id
from orchestrator.cli.ab_options import LETTERS, SideWords, side_options, side_words
from orchestrator.cli.ab_sides import Setting, describe_side, side_fingerprint
from orchestrator.cli.job_outcome import job_outcome, tell_end, trust_own, verbosity
from orchestrator.cli.run import asked_models
from orchestrator.cli.start_options import start_options, typed_flags
from orchestrator.interrupts import Interrupted, Interrupts
from orchestrator.lifecycle import Machine

KIND = "ab"


class _Ab(SectionedCommand):
    """A command for `git bisect` too, which stops at every other code than 0, 1 and 125."""

    manners = Manners(own_failure=CANT_TELL, own_failure_with="--bisect")


@click.command(
    "ab",
    cls=_Ab,
    epilog="Exit codes: 0 done, 2 usage, 3 a side did not start, 4 one died, 5 incomplete, 6 a gate "
    "failed, 7 needs your yes, 8 undecided with --strict. With --bisect: 0 good, 1 bad, 125 else.",
)
@click.argument("model_id", metavar="[MODEL]", required=False)
@side_options
@start_options
@ab_options
@click.option(
    "--bisect",
    is_flag=True,
    cls=SectionedOption,
    section=GATES,
    help="For `git bisect run`: 0 when every gate passed, 1 when one failed, 125 for all else.",
)
@click.pass_context
def ab_command(ctx: click.Context, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Compare two gateways: both up at once, asked in turn, each difference with its interval.

    Side a is what is held against, side b what is asked about: two folders, two commits, two
    configurations, two products. What is described once holds for both; with nothing that tells
    them apart it is an A/A run, which shows what this machine can tell.
    """
    if params.get("bisect") and not params.get("fail_on"):
        raise click.UsageError(
            "`--bisect` needs a gate that decides: for example `--fail-on ttft=+5%`"
        )
    if params.get("port"):
        raise click.UsageError("`--port` is not for `ab`: two gateways can't have one port")
    console: Console = ctx.obj
    common = typed_flags(params)
    words = [side_words(letter, params, common) for letter in LETTERS]
    models = asked_models(_models(params), tuple(params.get("mapping") or ()))
    check_beforehand(
        with_positionals(params, params.get("model_id"), None, None), console, is_compared=True
    )
    words_of_child = [*measuring_argv(ctx), *verbosity(params)]
    if not models and not params.get("body"):
        words_of_child += _demo_model(words)
    plan = Plan(
        words=tuple(words),
        measuring=Measuring(
            command="ab",
            words=tuple(words_of_child),
            may_ask=not params.get("yes") and not params.get("wants_json"),
        ),
        models=models,
        cwd=Path.cwd(),
        dialect=None if params.get("dialect") == "auto" else params.get("dialect"),
        client_secrets=header_variables(params),
        is_verbose=bool(params.get("verbose")),
    )
    outcome = compared(plan, console)
    return bisected(outcome, console) if params.get("bisect") else outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is compared, as typed or as recorded."""

    words: tuple[SideWords, ...]
    """Of both sides."""
    measuring: Measuring
    models: tuple[str, ...]
    cwd: Path
    dialect: str | None = None
    """Of both sides; ``None`` = as each is described."""
    client_secrets: tuple[str, ...] = ()
    """Variables of the clients' secrets, beside the key's: kept from both gateways."""
    is_verbose: bool = False
    expected_builds: Mapping[str, Mapping[str, Any]] | None = None


def _models(params: Mapping[str, Any]) -> tuple[str, ...]:
    first = (params["model_id"],) if params.get("model_id") else ()
    return (*first, *(params.get("model") or ()))


def _demo_model(words: list[SideWords]) -> list[str]:
    """Return the model of a comparison that names none: only the embedded gateway has one.

    Raises:
        click.UsageError: Another gateway is asked.
    """
    if {one.flags.get("preset") for one in words} == {"demo"}:
        return ["--model=demo-small", "--mapping=fast"]
    raise click.UsageError("no MODEL: name the one to ask for")


def compared(
    plan: Plan, console: Console, *, check: Callable[[Side], None] = lambda _: None
) -> Outcome:
    """Describe both sides, compare them, and leave nothing of them behind.

    Args:
        plan: What is compared.
        console: Talks.
        check: Sees each side before anything is started.
    """
    here, interrupts = machine(console.without_secrets), Interrupts()
    run_id = new_run_id(here)

    def new_job(trees: ExitStack) -> AbJob:
        setting = Setting(
            here=here,
            console=console,
            cwd=plan.cwd,
            run_id=run_id,
            models=plan.models,
            trees=trees,
            client_secrets=plan.client_secrets,
        )
        a, b = (describe_side(one, setting) for one in plan.words)
        for side in (a, b):
            check(side)
        sides = (a, b)
        return AbJob(
            run_id=run_id,
            sides=sides,
            measuring=plan.measuring,
            caller=dict(os.environ),
            dialect=plan.dialect,
            launch=_launch(plan, sides),
            is_verbose=plan.is_verbose,
            expected_builds=plan.expected_builds,
            on_journal=lambda path: trust_own(path, here),
        )

    return do_ab(new_job, here, interrupts, console, run_id=run_id)


def do_ab(
    new_job: Callable[[ExitStack], AbJob],
    here: Machine,
    interrupts: Interrupts,
    console: Console,
    *,
    run_id: str,
) -> Outcome:
    """Do a comparison under Ctrl-C and SIGTERM; its working trees are removed last.

    Raises:
        OrchestratorError: A side can't be described, built, started or stopped.
    """
    with interrupts.installed(), ExitStack() as trees:
        try:
            with interrupts.abandoning():
                job = new_job(trees)
            end = run_ab(job, here, interrupts, console.say)
        except Interrupted as signal:
            headline = "interrupted before anything was measured; what was started is stopped"
            console.say(f"error: {headline}")
            return Outcome(
                exit_code=signal.exit_code,
                reason="interrupted",
                run_id=run_id,
                headline=headline,
                next="the same command again",
            )
    tell_end(end, console)
    return job_outcome(end, run_id=run_id)


def _launch(plan: Plan, sides: tuple[Side, Side]) -> dict[str, Any]:
    """Return what describes both sides again, later and elsewhere: no secret."""
    recorded = {
        side.letter: one.recorded(None if side.commit is None else side.commit.sha)
        for one, side in zip(plan.words, sides, strict=True)
    }
    return {
        "kind": KIND,
        "flags": recorded,
        "cwd": str(plan.cwd),
        "models": list(plan.models),
        "fingerprints": {side.letter: side_fingerprint(side) for side in sides},
    }
