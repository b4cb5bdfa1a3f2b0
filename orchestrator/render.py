"""Records and environments as lines for people. Pure."""

from orchestrator.environment import GatewayEnvironment
from orchestrator.records import GatewayRecord

_NAMES_SHOWN = 12


def up_line(record: GatewayRecord, url: str) -> str:
    """Say that a gateway is up, and where it writes to if that is ours to read."""
    log = "" if record.entry_mode == "attached" else f", log `{record.log}`"
    verb = "attached to a gateway" if record.entry_mode == "attached" else "gateway up"
    return f"{verb}: PID {record.identity.pid} on {url}{log}"


def record_lines(record: GatewayRecord) -> tuple[str, ...]:
    """Return what a person wants to know of a gateway that is up, one fact a line."""
    build = record.build
    commit = build.commit[:12] if build.commit else "no git commit"
    dirty = " with changes" if build.is_dirty else ""
    branch = f" on {build.branch}" if build.branch else ""
    ready = "" if record.ready_after_ms is None else f", ready after {record.ready_after_ms:.0f} ms"
    lines = [
        f"build     {commit}{dirty}{branch}",
        f"entry     {record.entry or 'a plain command'} ({record.entry_mode})",
        f"worktree  {record.worktree}",
        f"parent    PID {record.adopter.pid} ({record.adopter.name})",
        f"since     {record.started_at}{ready}",
        *([] if record.entry_mode == "attached" else [f"log       {record.log}"]),
    ]
    lines += [
        f"warning   PID {one.pid} would be hit by `pkill -f '{one.pattern}'`"
        for one in record.exposure
    ]
    lines += [f"warning   {one}" for one in record.warnings]
    return tuple(lines)


def environment_lines(environment: GatewayEnvironment) -> tuple[str, ...]:
    """Return what was done to the caller's environment; names only."""
    rows = (
        ("added", environment.added),
        ("dropped", environment.dropped),
        ("shadowed", environment.shadowed),
        ("replaced", environment.replaced),
    )
    return tuple(f"{title:<9} {_names(names)}" for title, names in rows if names)


def _names(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    rest = len(names) - _NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
