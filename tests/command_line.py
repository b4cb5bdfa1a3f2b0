"""The installed command as a process, with a state and data folder of the test's own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> dict[str, Any]:
        """The object of ``--json``: all of stdout, on one line."""
        assert self.out.count("\n") == 1, self.out
        assert len(self.out) < 8000
        told: dict[str, Any] = json.loads(self.out)
        return told

    @property
    def gateway(self) -> dict[str, Any]:
        """The gateway's part of the object."""
        part: dict[str, Any] = self.told["detail"]["gateway"]
        return part


class CommandLine:
    """`gateway-bench` as people type it, in one folder."""

    def __init__(self, home: Path, cwd: Path, **environ: str) -> None:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GATEWAY_", "BENCHMARK_", "LLM", "LOCAL_", "GWB_"))
        }
        self.cwd = cwd
        self.state = home / "state" / "gwb"
        self.environ = {
            **kept,
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "BENCHMARK_OUTPUT_DIR": str(home / "out"),
            "COLUMNS": "100",
            **environ,
        }
        self.out = home / "out"

    def begin(
        self, *words: str, group: Path | None = None, **environ: str
    ) -> subprocess.Popen[str]:
        """Start a command and return at once.

        Args:
            words: What is typed.
            group: Where it writes its PID before anything else.
            environ: Variables of this command only.
        """
        before = () if group is None else ("/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', str(group))
        return subprocess.Popen(
            [*before, sys.executable, "-m", "orchestrator", *words],
            cwd=self.cwd,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> Done:
        """Wait for a command that was begun."""
        out, err = process.communicate(timeout=PATIENCE_S)
        return Done(code=process.returncode, out=out, err=err)

    def __call__(self, *words: str, **environ: str) -> Done:
        """Run a command to its end."""
        return self.end(self.begin(*words, group=None, **environ))

    def leftovers(self) -> list[str]:
        """Processes that carry the marker of a gateway of this home, by PID."""
        found = []
        marker = str(self.state).encode()
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes()
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if marker in words and state != "Z":
                found.append(folder.name)
        return found

    def records(self) -> list[dict[str, Any]]:
        """Gateways on record."""
        return [json.loads(one.read_bytes()) for one in sorted(self.state.glob("*.json"))]


def hear(process: subprocess.Popen[str], text: str) -> str:
    """Wait until a command said something on stderr; what was read is no part of its end.

    Returns:
        The line that held it.
    """
    assert process.stderr is not None
    heard = []
    for line in process.stderr:
        heard.append(line)
        if text in line:
            return line
    raise AssertionError("".join(heard))
