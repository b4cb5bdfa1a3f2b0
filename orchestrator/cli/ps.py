"""`ps`: every gateway on record and everything that looks like one, over all worktrees."""

import shutil
from pathlib import Path

import click

from bench.cli.options import talking_options
from bench.cli.outcome import Outcome
from bench.cli.sections import SectionedCommand, SectionedOption
from orchestrator.app import machine
from orchestrator.capping import cap_logs
from orchestrator.stray_lines import (
    HIDDEN_BY_DEFAULT,
    bounded,
    counts_text,
    stray_facts,
    table,
)
from orchestrator.strays import Stray
from orchestrator.survey import survey

STRAYS = "What is listed"


@click.command("ps", cls=SectionedCommand)
@click.option(
    "--all",
    "wants_all",
    is_flag=True,
    cls=SectionedOption,
    section=STRAYS,
    help="Other users', containers' and other state folders' too.",
)
@talking_options
def ps_command(*, wants_all: bool, **_talk: object) -> Outcome:
    """List every gateway on record, what carries our marker, and what looks like a gateway.

    Each line says whose it is, who uses it, and why it is called what it is called. Nothing is
    signalled; `gateway-bench clean` shows what it would remove.
    """
    here = machine()
    cap_logs(here)
    everything = survey(here, near=str(Path.cwd()))
    shown = [one for one in everything if wants_all or one.verdict not in HIDDEN_BY_DEFAULT]
    rows, left_off = bounded([stray_facts(one) for one in shown])
    headline = _headline(everything, shown)
    if left_off:
        headline += f"; {left_off} of them did not fit in here"
    return Outcome(
        reason="listed",
        headline=headline,
        next="gateway-bench clean",
        detail={
            "gateways": rows,
            "total": len(shown),
            "leftOff": left_off,
            "hidden": len(everything) - len(shown),
        },
        text=_text(shown, _headline(everything, shown)),
    )


def _headline(everything: tuple[Stray, ...], shown: list[Stray]) -> str:
    hidden = len(everything) - len(shown)
    listed = counts_text(shown) or "no gateway on record, and nothing that looks like one"
    more = f"; {hidden} of other users, containers or state folders (`--all`)" if hidden else ""
    return f"{listed}{more}"


def _text(shown: list[Stray], headline: str) -> str:
    if not shown:
        return headline
    width = shutil.get_terminal_size((100, 24)).columns
    return f"{table(shown, width=width, home=str(Path.home()))}\n\n{headline}"
