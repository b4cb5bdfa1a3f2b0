"""Which unmarked processes look like a gateway. Pure; a suspicion is shown, never acted upon.

Two ways to look like one: a command line that names a gateway's entry, run by a runtime; or a
listening socket and a command line, or a port, that gateways are known by. An editor or a search
that has `dist/serve.js` among its words is neither.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from orchestrator.exposure import DEFAULT_PATTERNS
from orchestrator.ports import ProcessInfo

USUAL_PORTS: Mapping[int, str] = {4000: "LiteLLM", 4001: "LLMGateway", 8787: "Portkey"}
"""What gateways listen on when nobody says otherwise."""

_RUNTIMES = ("node", "bun", "deno", "tsx", "python", "pypy", "uvicorn", "gunicorn", "litellm")
_ENTRIES = (r"(?:^|[/ ])dist/serve\.[cm]?[jt]s\b", r"start-server\.js", r"\bbench\.simulator\b")
# Every second server has `serve` or `dist` in its command line: alone they say nothing.
_TOO_GENERAL = frozenset({"serve", "dist"})
_SERVERS = (
    *(one for one in DEFAULT_PATTERNS if one not in _TOO_GENERAL),
    r"\blitellm\b",
    r"\bportkey\b",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """One process, and why it is suspected."""

    process: ProcessInfo
    why: str


def suspicions(
    table: Iterable[ProcessInfo],
    *,
    ports: Mapping[int, tuple[int, ...]],
    recorded_ports: Mapping[int, str],
    spared: Collection[int],
) -> tuple[Suspicion, ...]:
    """Return what looks like a gateway.

    Args:
        table: The process table.
        ports: What each process listens on, by PID.
        recorded_ports: Names of gateways on record, by their port.
        spared: PIDs that are known already, and those of ourselves and our ancestors.
    """
    known = {port: f"the usual port of {name}" for port, name in USUAL_PORTS.items()}
    known |= {
        port: f"the port of `{name}`, which is on record" for port, name in recorded_ports.items()
    }
    found = []
    for one in table:
        if one.pid in spared or one.state == "zombie" or one.argv is None:
            continue
        why = _why(one, ports.get(one.pid, ()), known)
        if why is not None:
            found.append(Suspicion(process=one, why=why))
    return tuple(found)


def _why(one: ProcessInfo, ports: tuple[int, ...], known: Mapping[int, str]) -> str | None:
    port = next((port for port in ports if port in known), None)
    if port is not None:
        return f"listens on {port}, {known[port]}"
    if _is_runtime(one):
        entry = _first_match(_ENTRIES, one.command)
        if entry is not None:
            return f"runs `{entry.strip(' /')}`"
    if ports and (words := _first_match(_SERVERS, one.command)) is not None:
        return f"listens, and `{words.strip()}` is in its command line"
    return None


def _is_runtime(one: ProcessInfo) -> bool:
    name = PurePath(one.argv[0]).name if one.argv else ""
    return name.startswith(_RUNTIMES) or one.name.startswith(_RUNTIMES)


def _first_match(patterns: Iterable[str], command: str) -> str | None:
    found = (re.search(pattern, command) for pattern in patterns)
    return next((match[0][:60] for match in found if match), None)
