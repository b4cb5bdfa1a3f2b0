"""What the tests on a Ray cluster stand on: several nodes, and the command as people type it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bench.cluster.session import end_session
from bench.journal import read_journal
from bench.ledger import Ledger
from tests.patience import PATIENCE_S

KEY = "sk-simulated-0123456789-nobody-may-read-this"
MODEL = "sim-ttft20-itl5-n10"


@dataclass(frozen=True)
class SeveralNodes:
    """A running cluster."""

    address: str
    nodes: list[str]
    """Ids; the head's first."""
    process: "subprocess.Popen[str]"
    folder: Path
    """Sessions of Ray and temporary files of its processes."""
    environment: dict[str, str]

    def kill(self, node: str) -> None:
        """End a node without a farewell."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"kill {node}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "killed\n"

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the cluster, those of actors included."""
        return [
            process
            for process in psutil.process_iter()
            if process.pid != self.process.pid and _session_of(process) == self.process.pid
        ]

    def left_behind(self) -> list[Path]:
        """Return the folders of load processes that are still on its nodes."""
        return list((self.folder / "tmp").glob("gateway-bench-*"))


@contextmanager
def running_cluster(*, nodes: int, processors: float) -> Iterator[SeveralNodes]:
    """Start nodes, and end whatever is left of them."""
    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # short: paths of sockets are
    (folder / "tmp").mkdir()
    environment = os.environ | {
        "RAY_TMPDIR": str(folder),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": "of-the-tests",
        "RAY_USAGE_STATS_ENABLED": "0",
        "TMPDIR": str(folder / "tmp"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.ray.several_nodes", str(nodes), str(processors)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        said = json.loads(process.stdout.readline())
        yield SeveralNodes(
            address=said["address"],
            nodes=said["nodes"],
            process=process,
            folder=folder,
            environment=environment,
        )
    finally:
        process.stdin.close()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        end_session(process.pid)
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Command:
    """`bench`, typed in a folder."""

    folder: Path
    environment: dict[str, str]

    def begin(self, *words: str) -> "subprocess.Popen[str]":
        """Type it and return at once."""
        self.folder.mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-m", "bench", *words, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment | {"SIMULATED_KEY": KEY, "XDG_DATA_HOME": str(self.folder)},
        )

    def journal(self) -> Path | None:
        """Return the leading journal, once there is one."""
        found = [
            path
            for path in (self.folder / ".context/benchmarks").glob("*.jsonl")
            if not path.stem.rpartition(".")[2].isdecimal()
        ]
        return found[0] if found else None

    def ledger(self) -> Ledger:
        """Return what the journal and its shards say together."""
        journal = self.journal()
        assert journal is not None
        return read_journal(journal)


def until_asked(process: "subprocess.Popen[str]", is_so: Callable[[], bool]) -> None:
    """Wait until requests come; a command that ends before, or asks nothing, is shown and ended."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if process.poll() is not None or time.monotonic() > deadline:
            process.terminate()
            stdout, stderr = process.communicate()
            message = f"no requests came, exit {process.returncode}: {stdout}{stderr}"
            raise AssertionError(message)
        time.sleep(0.05)


def ended(process: "subprocess.Popen[str]") -> tuple[int, dict[str, Any], str]:
    """Return exit code, what was said in JSON, and what was said to people."""
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    return process.returncode, json.loads(stdout), stderr


def until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for it."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"not in time: {what}"
        time.sleep(0.05)


def _session_of(process: psutil.Process) -> int | None:
    try:
        return os.getsid(process.pid)
    except OSError:
        return None
