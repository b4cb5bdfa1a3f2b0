"""Which gateway a command without a description is about."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from bench.cli.sections import SectionedOption
from orchestrator.choosing import choose
from orchestrator.cli.start_options import GATEWAY
from orchestrator.endings import last_ending
from orchestrator.faults import NoSuchGateway
from orchestrator.lifecycle import Machine, find, find_all
from orchestrator.records import UPSTREAM_OF, GatewayRecord, Instance
from orchestrator.wanted import worktree_of

_F = TypeVar("_F", bound=Callable[..., Any])


def meant_option(command: _F) -> _F:
    """Add `--gateway`, whose worktree is looked at first."""
    return click.option(
        "--gateway",
        "gateway_dir",
        cls=SectionedOption,
        section=GATEWAY,
        metavar="DIR",
        help="A folder of its worktree. Default: the working directory.",
    )(command)


def the_meant(
    machine: Machine, wanted: str | None, folder: str | None, *, verb: str
) -> GatewayRecord | None:
    """Return the record that is meant; ``None`` = there is none, or it ended.

    Raises:
        NoSuchGateway: A PID that no gateway on record has or had.
        SeveralCandidates: More than one could be meant.
        RecordUnreadable: Nothing readable is meant, or a simulator, and a record can't be read.
    """
    found = find_all(machine)
    records = [one for one in found if isinstance(one, GatewayRecord)]
    worktree = worktree_of(Path(folder) if folder else Path.cwd())
    try:
        meant = choose(records, wanted=wanted, worktree=worktree, verb=verb)
    except NoSuchGateway:
        if last_ending(machine, worktree, wanted) is None:
            raise
        return None
    if meant is None:
        for one in found:
            if not isinstance(one, GatewayRecord):
                raise one
    elif (owner := meant.labels.get(UPSTREAM_OF)) is not None:
        # Where the record of its gateway is there and can't be read, that one may need it.
        find(machine, Instance(worktree=Path(meant.worktree), name=str(owner)))
    return meant
