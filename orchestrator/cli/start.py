"""`start`: a gateway detached and proven, for whatever is done with it next."""

from typing import Any

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.app import machine, new_run_id
from orchestrator.bringing import Up, bring_up
from orchestrator.cli.describing import describe, teardown_label
from orchestrator.cli.lease_options import lease_options
from orchestrator.cli.start_options import (
    GATEWAY,
    model_option,
    preset_option,
    start_options,
    typed_flags,
)
from orchestrator.facts import record_facts
from orchestrator.interrupts import Interrupts
from orchestrator.lifecycle import Machine
from orchestrator.render import environment_lines, record_lines
from orchestrator.vitals import end_lines, vitals, vitals_facts
from orchestrator.wanted import Wanted


@click.command("start", cls=SectionedCommand)
@click.option(
    "--name",
    default="default",
    cls=SectionedOption,
    section=GATEWAY,
    metavar="NAME",
    help="To tell several of one worktree apart. Default: default.",
)
@preset_option
@start_options
@model_option
@lease_options
@talking_options
@click.pass_context
def start_command(ctx: click.Context, /, **params: Any) -> Outcome:  # noqa: ANN401  option values arrive as click reads them
    """Start the described gateway in a session of its own and prove that what answers is it.

    One of this name that is up already is left alone, and that is said.
    """
    console: Console = ctx.obj
    here = machine(console.without_secrets)
    flags = typed_flags(params)
    described = describe(flags, here, console)
    models = params["models"] or ("*",)
    wanted = Wanted(
        config=described.config,
        located=described.located,
        name=params["name"],
        run_id=new_run_id(here),
        caller=described.environ,
        models=models,
        key_names=described.key_names(),
        ttl_s=params["ttl"],
        idle_stop_s=params["idle_stop"],
        labels=teardown_label(described, flags, models),
    )
    interrupts = Interrupts()
    with interrupts.installed(), interrupts.abandoning():
        up = bring_up(here, wanted, console.say)
    up.started.held.close()
    up.hold.release()
    return _outcome(up, here, console)


def _outcome(up: Up, here: Machine, console: Console) -> Outcome:
    record = up.started.record
    verb = "is up already" if up.started.was_up else "is up"
    headline = f"`{record.name}` {verb}: PID {record.identity.pid} on {up.url}"
    console.say(headline)
    life = vitals(here, record)
    told = (*end_lines(life, record), *record_lines(record), *environment_lines(up.environment))
    for line in told:
        console.say(f"  {line}")
    return Outcome(
        reason="was_up" if up.started.was_up else "started",
        run_id=record.run_id,
        headline=headline,
        next=f"gateway-bench stop {record.identity.pid}",
        detail={
            "gateway": {**record_facts(record), **vitals_facts(life), "baseUrl": up.base_url},
            "environment": {
                "added": list(up.environment.added),
                "dropped": list(up.environment.dropped),
                "shadowed": list(up.environment.shadowed),
                "replaced": list(up.environment.replaced),
            },
        },
        text=up.url,
    )
