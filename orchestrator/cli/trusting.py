"""`trust`: agree to what a folder's configuration makes us execute."""

import os
from pathlib import Path

import click

from bench.cli.console import Console
from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand
from orchestrator.app import machine, trust_store
from orchestrator.cli.launched import read_launch
from orchestrator.config import Sources, resolve
from orchestrator.sources import read_toml
from orchestrator.trust import Subject, of_journal, subjects


@click.command("trust", cls=SectionedCommand)
@click.argument("named", metavar="[DIR|FILE|JOURNAL]", default=".", type=click.Path(exists=True))
@talking_options
@click.pass_obj
def trust_command(console: Console, /, named: str, **_talk: object) -> Outcome:
    """Show what the configuration for DIR decides to execute, and agree to this content of it.

    A changed file asks again. Presets, options and exported variables need no trust. A FILE is a
    description of any name, as `--a-config` takes it. Of a JOURNAL it is what `resume` would start.
    """
    found = _subjects(Path(named).resolve())
    store = trust_store(machine())
    for one in found:
        console.say(f"`{one.path}` decides:")
        for line in one.decides:
            console.say(f"  {line}")
        store.add(one)
    paths = [str(one.path) for one in found]
    headline = (
        f"trusted as it is now: {', '.join(paths)}" if paths else "nothing here needs to be trusted"
    )
    console.say(headline)
    return Outcome(
        reason="trusted" if paths else "nothing_to_trust",
        headline=headline,
        detail={"trusted": {str(one.path): list(one.decides) for one in found}},
    )


def _subjects(place: Path) -> tuple[Subject, ...]:
    environ = {name: value for name, value in os.environ.items() if name[:8] != "GATEWAY_"}
    if place.is_file() and place.suffix == ".toml":
        sources = Sources(flags={}, environ=environ, cwd=place.parent, file=read_toml(place))
        return tuple(one for one in subjects(resolve(sources)) if one.path == place)
    if place.is_file():
        launch = read_launch(place)
        return () if launch is None else (of_journal(place, launch),)
    return subjects(resolve(Sources(flags={"dir": str(place)}, environ=environ, cwd=place)))
