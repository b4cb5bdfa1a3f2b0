"""`replay`: an agentic trial's recorded tool calls again, without a model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from bench.cli.console import Console
from bench.cli.option_row import REQUEST, WHAT
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption

if TYPE_CHECKING:
    from bench.app.replaying import ReplayedTrial

_MOST_DIFFERENCES = 3


@click.command("replay", cls=SectionedCommand)
@click.argument("run")
@click.option(
    "--trial",
    "trials",
    metavar="ID",
    multiple=True,
    cls=SectionedOption,
    section=WHAT,
    help="Such as `MODEL|agentic_bugfix_small|r1`. Repeatable. Default: all with a verdict.",
)
@click.option(
    "--allow-reduced-sandbox",
    is_flag=True,
    cls=SectionedOption,
    section=REQUEST,
    help="Run the recorded code also where this machine's sandbox holds less.",
)
@talking_options
@click.pass_obj
def replay_command(
    console: Console,
    /,
    run: str,
    trials: tuple[str, ...],
    allow_reduced_sandbox: bool,
    verbose: int,
    **_talk: object,
) -> Outcome:
    """Carry out the recorded tool calls of RUN's agentic trials on fresh files, and judge them.

    No model is asked and nothing is written. The same files and the same verdict have to come out:
    exit 0; else exit 6.

    RUN is a .jsonl file, a run id, latest, latest~1, or a commit of the gateway's build.
    """
    from bench.agent.loading import load_tasks
    from bench.app.replaying import check_unchanged, chosen_trials, replay_trials
    from bench.cli.place import named_run
    from bench.cli.talk import set_up_log
    from bench.clock import SystemClock
    from bench.journal import read_journal
    from bench.prepare.coding import open_workbench, refuse_not_runnable, sandbox_note

    set_up_log(verbose, console)
    ledger = read_journal(named_run(run, needs_journal=True).path)
    found = chosen_trials(ledger, trials)
    check_unchanged(ledger, found, load_tasks())
    bench = open_workbench(allow_reduced=allow_reduced_sandbox)
    refuse_not_runnable((trial.case_id for trial in found), bench)
    console.say(sandbox_note(bench.described()))
    return _told(ledger.header.run_id, replay_trials(ledger, found, bench, SystemClock()), console)


def _told(run_id: str, done: "Sequence[ReplayedTrial]", console: Console) -> Outcome:
    other = [one for one in done if not one.replayed.is_same]
    count = "1 trial" if len(done) == 1 else f"{len(done)} trials"
    if other:
        headline = f"{len(other)} of {count} came to another end than recorded"
    else:
        headline = f"{count} replayed: the same files and the same verdict"
    console.say(headline)
    return Outcome(
        exit_code=6 if other else 0,
        reason="replay_differs" if other else "replayed",
        run_id=run_id,
        headline=headline,
        planned=len(done),
        done=len(done) - len(other),
        failed=len(other),
        spent_usd=0.0,
        detail={"trials": [_described(one) for one in done]},
        text="\n".join(_line(one) for one in done),
        next="gateway-bench show RUN --trial ID" if other else None,
    )


def _line(one: "ReplayedTrial") -> str:
    replayed = one.replayed
    tree = "same files" if replayed.same_tree else "OTHER FILES"
    verdict = {True: "same verdict", False: "OTHER VERDICT", None: "no verdict was recorded"}
    now = {True: "solved", False: "not solved", None: "not judged"}[replayed.verdict.passed]
    told = (
        f"{one.trial.id}: {tree}, {verdict[replayed.same_verdict]} ({now}), {replayed.calls} calls"
    )
    important = [d for d in replayed.differences if d.matters]
    for found in important[:_MOST_DIFFERENCES]:
        told += f"\n  turn {found.turn}, {found.call}: was {found.recorded!a}, is {found.now!a}"
    return told


def _described(one: "ReplayedTrial") -> dict[str, Any]:
    replayed = one.replayed
    return {
        "trialId": one.trial.id,
        "sameTree": replayed.same_tree,
        "sameVerdict": replayed.same_verdict,
        "recordedPassed": replayed.recorded_verdict,
        "passed": replayed.verdict.passed,
        "treeHash": replayed.tree_hash,
        "calls": replayed.calls,
        "otherResults": sum(d.matters for d in replayed.differences),
        "otherWords": sum(not d.matters for d in replayed.differences),
    }
