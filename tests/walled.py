"""Hostile programs behind the walls of this machine, as ourselves or as an ordinary user."""

import os
import pickle
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

from bench.sandbox.probing import Walls, find_out
from bench.sandbox.program import Language, Limits, Outcome, Program, Protections
from bench.sandbox.running import run_now

_ROOT = Path(__file__).parents[1]
_NOBODY = 65_534


class Behind:
    """Runs programs behind one kind of walls, as one user."""

    def __init__(self, walls: Walls, *, server: subprocess.Popen[bytes] | None) -> None:
        self.walls = walls
        self.is_root = server is None and os.geteuid() == 0
        self._server = server

    def run(self, code: str, *words: str, **fields: Any) -> Outcome:
        """Run some Python as a program; ``fields`` go to ``Program``, limits by their own names."""
        return self.facts(code, *words, **fields)[0]

    def facts(self, code: str, *words: str, **fields: Any) -> tuple[Outcome, dict[str, Any]]:
        """Return also what the warden saw."""
        language: Language = fields.pop("language", "python")
        limits = Limits(**({"wall_s": 20.0} | fields.pop("limits", {})))
        files = {"main": code.encode()} | fields.pop("files", {})
        program = Program(
            language=language, argv=("main", *words), files=files, limits=limits, **fields
        )
        found: tuple[Outcome, dict[str, Any]] = self._ask((program, self.walls))
        return found

    def protections(self) -> Protections:
        """Return what a probe finds as this user."""
        found: Protections = self._ask(None)
        return found

    def _ask(self, wanted: tuple[Program, Walls] | None) -> Any:
        if self._server is None:
            return find_out(run_now) if wanted is None else run_now(*wanted)
        assert self._server.stdin
        assert self._server.stdout
        pickle.dump(wanted, self._server.stdin)
        self._server.stdin.flush()
        return pickle.load(self._server.stdout)  # noqa: S301 - our own child


@cache
def readable_python() -> str | None:
    """Return a Python of our version that every user may run: ours may lie in root's home."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (os.path.realpath(sys.executable), f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        if Path(found).exists() and _runs_as_nobody(found):
            return found
    return None


def _runs_as_nobody(python: str) -> bool:
    try:
        with _as_nobody([python, "-c", "import bench.sandbox"]) as tried:
            return tried.wait() == 0
    except OSError:
        return False


def start_ordinary(python: str) -> subprocess.Popen[bytes]:
    """Start the server that runs programs as an ordinary user."""
    return _as_nobody([python, str(_ROOT / "tests/sandbox/as_user.py")])


def _as_nobody(words: list[str]) -> subprocess.Popen[bytes]:
    packages = sysconfig.get_path("purelib")
    return subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={
            "PYTHONPATH": f"{_ROOT}:{packages}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": "/usr/bin",
        },
        cwd="/",
        user=_NOBODY,
        group=_NOBODY,
        extra_groups=[],
    )
