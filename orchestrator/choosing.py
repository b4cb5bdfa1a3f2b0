"""Which gateway on record a person means. Pure.

Without a name: the only one of this worktree. A name is one of this worktree: `default` of another
one is never meant by it, but a run's own name is unique, and a PID is anywhere. Private simulators
belong to their gateways and are meant by themselves only once those are gone.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from orchestrator.faults import NoSuchGateway, SeveralCandidates
from orchestrator.records import UPSTREAM_OF, GatewayRecord


def choose(
    records: Iterable[GatewayRecord], *, wanted: str | None, worktree: Path, verb: str
) -> GatewayRecord | None:
    """Return the one that is meant; ``None`` = none is on record, by that name or here.

    Args:
        records: All of this user.
        wanted: Name or PID as typed; ``None`` = nothing was typed.
        worktree: Real path of the worktree that the command was typed in.
        verb: The command, for the hint.

    Raises:
        SeveralCandidates: More than one could be meant.
        NoSuchGateway: A PID that no record knows.
    """
    everyone = list(records)
    owners = {(one.worktree, one.name) for one in everyone}
    known = [one for one in everyone if (one.worktree, one.labels.get(UPSTREAM_OF)) not in owners]
    here = [one for one in known if one.worktree == str(worktree)]
    if wanted is None:
        return _only(here, verb)
    if wanted.isdigit():
        found = [one for one in known if one.identity.pid == int(wanted)]
        if not found:
            raise NoSuchGateway(wanted, [f"{one.name} (PID {one.identity.pid})" for one in known])
        return found[0]
    named = [one for one in here if one.name == wanted]
    return _only(named or [one for one in known if one.name == wanted == one.run_id], verb)


def _only(found: Sequence[GatewayRecord], verb: str) -> GatewayRecord | None:
    if len(found) > 1:
        raise SeveralCandidates(verb, [line_of(one) for one in found])
    return found[0] if found else None


def line_of(record: GatewayRecord) -> str:
    """Return one line that tells this gateway from the others."""
    return (
        f"{record.name}  PID {record.identity.pid}  port {record.port}  since "
        f"{record.started_at}  `{record.worktree}`"
    )
