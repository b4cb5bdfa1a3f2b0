"""Commands that send nothing, in the tests' own process: a tenth of the time of one of their own."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from bench.cli.entry import run
from bench.cli.group import cli
from tests.bench_process import KEY, Bench


@dataclass
class Here:
    """Runs commands in the folder of a ``Bench``."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, bench: Bench, *words: str) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr of a command."""
        home = {"XDG_DATA_HOME": str(bench.folder / "data"), KEY: bench.token}
        for name, value in {**home, **bench.environ}.items():
            self.monkeypatch.setenv(name, value)
        self.monkeypatch.chdir(bench.folder)
        self.capsys.readouterr()
        code = run(cli, words, prog_name="bench")
        out, err = self.capsys.readouterr()
        return code, out, err

    def text(self, bench: Bench, *words: str) -> str:
        """Return the stdout of a command that succeeds."""
        code, out, err = self(bench, *words)
        assert code == 0, err
        return out

    def told(self, bench: Bench, *words: str) -> Any:
        """Return the object of ``--json``."""
        return json.loads(self(bench, *words, "--json")[1])
