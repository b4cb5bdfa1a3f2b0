"""`stop`: by identity, with its simulator and what was generated for it."""

import shutil
from pathlib import Path

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from orchestrator.app import machine
from orchestrator.bringing import generated_folder, stop_patiently, upstream_of
from orchestrator.cli.meant import meant_option, the_meant
from orchestrator.events import described
from orchestrator.facts import exit_facts, record_facts
from orchestrator.interrupts import Interrupts
from orchestrator.lifecycle import Machine, Stopped, find
from orchestrator.records import GatewayRecord, Instance


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
    here = machine()
    record = the_meant(here, wanted, gateway_dir, verb="stop")
    if record is None:
        headline = f"`{wanted}` is not up" if wanted else "no gateway is up here"
        console.say(headline)
        return Outcome(reason="was_down", headline=headline)
    stopped = stop_recorded(here, record)
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
            }
        },
    )


def stop_recorded(here: Machine, record: GatewayRecord) -> Stopped:
    """Stop a gateway on record and what belongs to it, the simulator last."""
    instance = Instance(worktree=Path(record.worktree), name=record.name)
    interrupts = Interrupts()
    with interrupts.installed():
        try:
            return stop_patiently(here, instance, interrupts)
        finally:
            if find(here, upstream_of(instance)) is not None:
                stop_patiently(here, upstream_of(instance), interrupts)
            shutil.rmtree(generated_folder(here, instance), ignore_errors=True)


def _how(stopped: Stopped) -> str:
    if stopped.was_down:
        return "was down already" + _exit(stopped)
    if stopped.was_killed:
        return "did not end in its grace and was killed"
    return "stopped" + _exit(stopped)


def _exit(stopped: Stopped) -> str:
    if stopped.ending is None:
        return ""
    return f", {described(stopped.ending.exit)}"
