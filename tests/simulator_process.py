"""The simulator as a real process, for tests: started on a free port, stopped by its PID."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S, until
from tests.untraced import untraced

TOKEN = "test-token"  # noqa: S105 - the simulator's default, no secret


@dataclass
class Simulator:
    """One running simulator."""

    url: str
    """``http://127.0.0.1:PORT``; chat completions are under ``/v1``."""
    process: "subprocess.Popen[bytes]"
    log_path: Path
    book_path: Path
    headers: dict[str, str] = field(default_factory=lambda: {"authorization": f"Bearer {TOKEN}"})

    @property
    def base_url(self) -> str:
        """The URL with ``/v1``."""
        return f"{self.url}/v1"

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    def records(self, *, since_ns: int = 0) -> list[dict[str, Any]]:
        """Return the request log so far, in the order in which answers ended.

        Args:
            since_ns: A reading of ``time.perf_counter_ns``: requests that came before are left out.
                A record follows its answer, so that counting lines would take in late ones.
        """
        if not self.log_path.exists():
            return []
        # The last line may be half written.
        whole = self.log_path.read_bytes().split(b"\n")[:-1]
        records = [json.loads(line) for line in whole]
        return [record for record in records if record["received_ns"] >= since_ns]

    def wait_for_records(self, count: int, *, since_ns: int = 0) -> list[dict[str, Any]]:
        """Return the log once it has ``count`` records: a record follows its answer's last byte."""

        def enough() -> list[dict[str, Any]] | None:
            found = self.records(since_ns=since_ns)
            return found if len(found) >= count else None

        found = until(enough, so_far=lambda: f"{len(self.records())} records in all")
        assert found is not None
        return found

    def found(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the newest record that is meant, once it is there: it follows its answer's end."""
        # One reading per round: counting in a second one would miss what came between the two.
        return until(lambda: [record for record in self.records() if is_it(record)])[-1]

    def last_record(self, model: str) -> dict[str, Any]:
        """Return the newest record of a model."""
        return self.found(lambda record: bool(record["model"] == model))

    def record_of(self, request_id: str) -> dict[str, Any]:
        """Return the record of the answer with this id."""
        return self.found(lambda record: bool(record["x_request_id"] == request_id))

    def add_to_book(
        self, prompt_hash: str, content: str, *, wrong: str | None = None, **answer: Any
    ) -> None:
        """Append an answer to the book; ``answer`` are further fields, such as ``toolCalls``."""
        entry: dict[str, Any] = {
            "promptHash": prompt_hash,
            "answer": {"content": content, **answer},
        }
        if wrong is not None:
            entry["wrong"] = {"content": wrong}
        with self.book_path.open("a") as book:
            book.write(json.dumps(entry) + "\n")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Signal the process and return its exit status."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.process.wait(PATIENCE_S)


@contextmanager
def running_simulator(folder: Path, *options: str, is_covered: bool = False) -> Iterator[Simulator]:
    """Start a simulator, wait until it is ready, stop it in the end.

    Args:
        folder: Where log and answer book live.
        options: Further words of the command line, such as ``--seed 7``.
        is_covered: Whether its lines count: where it is what is tested.
    """
    log, book = folder / "simulator.jsonl", folder / "book.jsonl"
    paths = ("--log", str(log), "--book", str(book))
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.simulator", "--port", "0", *paths, *options],
        stdout=subprocess.PIPE,
        env=os.environ if is_covered else untraced(os.environ),
    )
    simulator = None
    try:
        line = _first_line(process)
        simulator = Simulator(url=line.split()[2], process=process, log_path=log, book_path=book)
        yield simulator
    finally:
        if process.poll() is None:
            process.terminate()
            _wait_or_kill(process)
        assert process.stdout is not None
        process.stdout.close()


def _first_line(process: "subprocess.Popen[bytes]") -> str:
    assert process.stdout is not None
    readable, _, _ = select.select([process.stdout], (), (), PATIENCE_S)
    line = process.stdout.readline().decode() if readable else ""
    assert line.startswith("simulator ready: "), f"said {line!r}, exit {process.poll()}"
    return line


def _wait_or_kill(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise
