"""The real command as a process, for tests: `python -m bench …` against a simulator."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.document_schema import check_documents
from tests.patience import PATIENCE_S, until
from tests.untraced import untraced

ROOT = Path(__file__).parents[1]
KEY = "LOCAL_TEST_KEY"


@dataclass
class Bench:
    """One folder of results, and the processes that write to it."""

    folder: Path
    url: str
    token: str = "test-token"  # noqa: S105 - the simulator's default, no secret
    is_covered: bool = True
    """Off for a process that will be killed: it would leave half a coverage file behind."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """Variables besides the usual ones, or in their place."""
    running: "list[subprocess.Popen[str]]" = field(default_factory=list)

    @property
    def output(self) -> Path:
        return self.folder / "out"

    @property
    def journal(self) -> Path:
        """The only journal there is."""
        (path,) = self.output.glob("*.jsonl")
        return path

    def start(self, *words: str, link: int | None = None) -> "subprocess.Popen[str]":
        """Start `python -m bench` with ``words``."""
        environ = {
            **os.environ,
            KEY: self.token,
            "BENCHMARK_OUTPUT_DIR": str(self.output),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "PYTHONPATH": str(ROOT),
            **self.environ,
        }
        if link is not None:
            environ["GWB_LINK_FD"] = str(link)
        if not self.is_covered:
            environ = untraced(environ)
        process = subprocess.Popen(
            [sys.executable, "-m", "bench", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=self.folder,
            env=environ,
            pass_fds=() if link is None else (link,),
        )
        self.running.append(process)
        return process

    def start_run(
        self, model: str, *words: str, link: int | None = None
    ) -> "subprocess.Popen[str]":
        """Start a run of one case at the simulator."""
        address = ("--url", self.url, "--api-key-env", KEY, "--dialect", "plain", "--yes")
        return self.start("bench", model, *address, *words, "--json", link=link)

    def finish(self, process: "subprocess.Popen[str]") -> tuple[int, dict[str, object], str]:
        """Return exit code, the object on stdout, and what was said.

        Every result document that is there afterwards has to keep to the schema that ships.
        """
        out, err = process.communicate(timeout=PATIENCE_S)
        check_documents(self.output)
        return process.returncode, json.loads(out) if out.strip() else {}, err

    def do(self, *words: str) -> tuple[int, dict[str, object], str]:
        """Run one command to its end."""
        return self.finish(self.start(*words, "--json"))

    def wait_for(self, text: str, count: int = 1) -> None:
        """Wait until the journal holds ``text`` so often."""
        process = self.running[-1]

        def is_there() -> bool:
            has_ended = process.poll() is not None
            found = sum(path.read_text().count(text) for path in self.output.glob("*.jsonl"))
            if found < count and has_ended:
                raise AssertionError(process.communicate())
            return found >= count

        until(is_there)

    def hear(self, process: "subprocess.Popen[str]", text: str) -> None:
        """Wait until a command said something; it is then no longer part of what it says."""
        assert process.stderr is not None
        heard = ""
        while text not in " ".join(heard.split()):
            line = process.stderr.readline()
            assert line, heard
            heard += line

    def end_all(self) -> None:
        """Kill what a failed test left running."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.communicate()
