"""`stop`: by identity, with its simulator and what was generated for it."""

from pathlib import Path

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from bench.errors import reason_in
from orchestrator.app import machine
from orchestrator.cli.describing import described_again
from orchestrator.cli.meant import meant_option, the_meant
from orchestrator.endings import ending_facts, ending_line, last_ending
from orchestrator.errors import OrchestratorError
from orchestrator.events import described
from orchestrator.facts import exit_facts, record_facts
from orchestrator.interrupts import Interrupts
from orchestrator.launching import fingerprint
from orchestrator.lifecycle import Machine, Stopped, find_all
from orchestrator.records import TEARDOWN, GatewayRecord, Preparation
from orchestrator.taking_down import run_teardown, take_down_recorded
from orchestrator.wanted import Wanted, worktree_of


@click.command("stop", cls=SectionedCommand)
@click.argument("wanted", metavar="[NAME|PID]", required=False)
@meant_option
@talking_options
@click.pass_obj
def stop_command(
    console: Console, /, wanted: str | None, gateway_dir: str | None, **_talk: object
) -> Outcome:
    """Stop a started gateway: SIGTERM, its grace, SIGKILL, then proof that its port is free.

    One that is down already is a success. Nothing that may not be ours is ever signalled.
    """
    here = machine(console.without_secrets)
    record = the_meant(here, wanted, gateway_dir, verb="stop")
    if record is None:
        return _was_down(here, wanted, gateway_dir, console)
    stopped = stop_recorded(here, record, console)
    headline = f"`{record.name}` (PID {record.identity.pid}) {_how(stopped)}"
    console.say(headline)
    ending = stopped.ending
    return Outcome(
        reason="was_down" if stopped.was_down else "stopped",
        run_id=record.run_id,
        headline=headline,
        detail={
            "gateway": {
                **record_facts(record),
                "wasDown": stopped.was_down,
                "wasKilled": stopped.was_killed,
                "exit": None if ending is None else exit_facts(ending.exit),
                "because": None if ending is None else ending.because,
            }
        },
    )


def _was_down(here: Machine, wanted: str | None, folder: str | None, console: Console) -> Outcome:
    """Say that there is nothing to stop and, where that is known, how the last one ended."""
    headline = f"`{wanted}` is not up" if wanted else "no gateway is up here"
    console.say(headline)
    last = last_ending(here, worktree_of(Path(folder) if folder else Path.cwd()), wanted)
    if last is not None:
        console.say(f"  {ending_line(last)}")
    for line in _namesakes(here, wanted):
        console.say(line)
    return Outcome(
        reason="was_down",
        headline=headline,
        detail={"last": None if last is None else ending_facts(last)},
    )


def _namesakes(here: Machine, name: str | None) -> list[str]:
    """Return what to say of gateways that have this name in other worktrees."""
    found = [one for one in find_all(here) if isinstance(one, GatewayRecord) and one.name == name]
    return [
        f"hint: one of `{one.worktree}` has that name: `gateway-bench stop {one.identity.pid}`"
        for one in found
    ]


def stop_recorded(here: Machine, record: GatewayRecord, console: Console) -> Stopped:
    """Stop a gateway on record and what belongs to it, the simulator last.

    Raises:
        OrchestratorError: The first thing that went wrong; every step was tried.
    """
    interrupts = Interrupts()
    with interrupts.installed():
        down = take_down_recorded(
            here, record, interrupts, tidy=lambda: run_recorded_teardown(here, record, console)
        )
    if down.fault is not None:
        raise down.fault
    return down.stopped or Stopped(ending=None, was_down=True)


def run_recorded_teardown(here: Machine, record: GatewayRecord, console: Console) -> None:
    """Run the teardown of the description that it was started from, if that still says the same.

    Raises:
        CommandFailed: One ended with another status than 0.
    """
    launch = record.labels.get(TEARDOWN)
    if launch is not None:
        run_described_teardown(
            here,
            Preparation(
                run_id=record.run_id, name=record.name, worktree=record.worktree, launch=launch
            ),
            console,
        )


def run_described_teardown(here: Machine, left: Preparation, console: Console) -> None:
    """Run the teardown of what was prepared, if its description still says the same.

    Raises:
        CommandFailed: One ended with another status than 0.
    """
    launch = left.launch
    try:
        described = described_again(launch, here, console)
    except OrchestratorError as fault:
        console.say(f"warning: its teardown was not run: {fault.message}")
        return
    except OSError as fault:
        gone = f"`{launch['file']['copy']}` can't be read: {reason_in(fault)}"
        console.say(f"warning: its teardown was not run: {gone}")
        return
    models = tuple(launch["models"])
    if fingerprint(described.config, described.located, models) != launch["fingerprint"]:
        told = f"`{launch['cwd']}` describes another gateway now"
        console.say(f"warning: its teardown was not run: {told}")
        return
    wanted = Wanted(
        config=described.config,
        located=described.located,
        name=left.name,
        run_id=left.run_id,
        caller=described.environ,
        models=models,
        key_names=described.key_names(),
    )
    run_teardown(here, wanted)


def _how(stopped: Stopped) -> str:
    if stopped.was_down:
        because = None if stopped.ending is None else stopped.ending.because
        how = _exit(stopped) if because is None else f", because {because}"
        return "was down already" + how
    if stopped.was_killed:
        return "did not end in its grace and was killed"
    return "stopped" + _exit(stopped)


def _exit(stopped: Stopped) -> str:
    if stopped.ending is None:
        return ""
    return f", {described(stopped.ending.exit)}"
