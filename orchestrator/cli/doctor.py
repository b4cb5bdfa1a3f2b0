"""`doctor`: what this machine can prove and what not."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.place import current_place
from bench.cli.sections import SectionedCommand
from bench.config import Config, load_config
from bench.keys import PRODUCTION_KEYS
from bench.presets import PRESETS
from bench.sandbox import probe
from orchestrator.app import examiner, machine
from orchestrator.doctor import examine
from orchestrator.doctor_limits import SandboxFacts, Surroundings
from orchestrator.findings import failed, finding_facts, finding_lines

_NOT_PROVEN = 3


@click.command("doctor", cls=SectionedCommand)
@talking_options
def doctor_command(**_talk: object) -> Outcome:
    """Say what can be proven on this machine and what not, what that means, and what to do.

    Each thing is tried once; nothing is changed, no request leaves this machine. Exit 0, or 3 when
    something that matters can't be proven. Keys are told by name only.
    """
    config = load_config({}, current_place())
    near = Surroundings(
        environ=dict(os.environ),
        folder=Path.cwd(),
        results=config.output_folder(),
        keys=_keys(config),
        sandbox=_sandbox(),
    )
    found = examine(machine(), examiner(), near)
    short = failed(found)
    doubtful = [one for one in found if one.verdict != "yes"]
    headline = (
        f"what matters can be proven here; {len(doubtful)} of {len(found)} points limit something"
        if not short
        else f"can't be proven here: {', '.join(one.what for one in short)}"
    )
    return Outcome(
        exit_code=_NOT_PROVEN if short else 0,
        reason="not_proven" if short else "proven",
        headline=headline,
        next=next((one.remedy for one in short if one.remedy), None),
        detail={"findings": finding_facts(found)},
        text="\n".join([*finding_lines(found), headline]),
    )


def _sandbox() -> SandboxFacts:
    """Return what keeps the code of models in, tried with code of our own."""
    found = probe()
    by_id = {item.id: item.how for item in found.items}
    held = f"{found.walls}; memory {by_id.get('memory')}; processes {by_id.get('count')}"
    return SandboxFacts(level=found.level, seen=found.why or held)


def _keys(config: Config) -> Mapping[str, str | None]:
    """Return the variables that keys are looked for in, and where each is set."""
    names = [*PRODUCTION_KEYS, *(name for one in PRESETS.values() for name in one.local_keys)]
    found = {}
    for name in dict.fromkeys(names):
        secret = config.secret(name, named_by=None)
        found[name] = None if secret is None else secret.origin.value
    return found
