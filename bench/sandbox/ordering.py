"""From a ``Program`` to the order of the warden: which walls, whose user, which paths."""

import os
import tempfile
from pathlib import Path

from bench.sandbox.interpreters import environment, interpreter, options
from bench.sandbox.program import Program

_MB = 1024 * 1024
_BOX = "/box"
_FIRST_USER, _USERS = 61_184, 4_336
"""Users that no account has: systemd keeps them for services without one."""


def order(program: Program, walls: str) -> dict[str, object] | None:
    """Return the order, or ``None`` where this machine has no interpreter for the program."""
    found = interpreter(program.language)
    if found is None:
        return None
    limits = program.limits
    return {
        "walls": walls,
        "argv": [found.executable, *options(program.language, limits.memory_mb), *program.argv],
        "environment": environment(_BOX if walls == "namespaces" else "."),
        "files": dict(program.files),
        "stdin": program.stdin,
        "collect": program.collect,
        "looked_at": list(found.looked_at),
        "links": [list(link) for link in found.links],
        "covers": list(found.covers),
        "scratch": os.path.realpath(tempfile.gettempdir()),
        "user": free_user() if walls == "namespaces" and os.geteuid() == 0 else None,
        "wall_s": float(limits.wall_s),
        "cpu_s": float(limits.cpu_s),
        "memory_bytes": limits.memory_mb * _MB,
        "memory_limit": "AS" if program.language == "python" else "DATA",
        "processes": limits.processes,
        "file_mb": limits.file_mb,
        "output_bytes": limits.output_bytes,
    }


def free_user(table: Path = Path("/proc/self/uid_map")) -> int | None:
    """Return a user that no account has, another one each time.

    ``None`` = this root is one of a container that was given no such users.
    """
    user = _FIRST_USER + int.from_bytes(os.urandom(4), "little") % _USERS
    try:
        lines = table.read_text().splitlines()
    except OSError:
        return None
    ranges = [(int(first), int(count)) for first, _, count in (line.split() for line in lines)]
    return user if any(first <= user < first + count for first, count in ranges) else None
