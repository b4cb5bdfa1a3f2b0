"""The C server as a process: built once, started on a free port, stopped by its PID."""

import json
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "mock" / "mock.c"
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What every answer is like."""

    ttft_ms: float
    itl_ms: float
    tokens: int = 100
    per_write: int = 1
    """Token events in one write."""

    @property
    def total_ms(self) -> float:
        """Shortest time of one answer."""
        return self.ttft_ms + (self.tokens - 1) * self.itl_ms


REAL = Pace(ttft_ms=50, itl_ms=10)
ZERO = Pace(ttft_ms=0, itl_ms=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request as the server saw it, nanoseconds on the machine's monotonic clock."""

    received_ns: int
    """By the kernel's stamp."""
    first_ns: int
    last_ns: int
    """Also what the last token says of itself."""
    connection: int

    @property
    def ttft_ms(self) -> float:
        """What the server took to the first token."""
        return (self.first_ns - self.received_ns) / 1e6


@dataclass(slots=True, kw_only=True)
class Mock:
    """A running server; ``served`` and its costs are there once it has stopped."""

    url: str
    served: list[Served] = field(default_factory=list)
    connections: int = 0
    events: int = 0
    cpu_us: float = 0.0

    @property
    def ttft_ms(self) -> float:
        """Median of what the server itself took to the first token."""
        return statistics.median(one.ttft_ms for one in self.served)

    @property
    def requests_per_s(self) -> float:
        """Over the span from the first request received to the last byte sent."""
        span_ns = max(one.last_ns for one in self.served) - self.began_ns
        return len(self.served) / (span_ns / 1e9)

    @property
    def began_ns(self) -> int:
        """When the first request had been received."""
        return min(one.received_ns for one in self.served)

    @property
    def ended_ns(self) -> int:
        """When the last byte was sent."""
        return max(one.last_ns for one in self.served)

    @property
    def ceiling(self) -> float:
        """Requests a second that one core could serve at this cost; 0 requests have none."""
        return 1e6 * len(self.served) / self.cpu_us


def build() -> Path:
    """Compile the server into the temporary folder, unless that was done with this source.

    Raises:
        subprocess.CalledProcessError: ``cc`` said why not.
    """
    program = Path(tempfile.gettempdir()) / f"gateway-bench-mock-{SOURCE.stat().st_mtime_ns}"
    if not program.exists():
        words = ["cc", "-O2", "-Wall", "-Wextra", "-o", f"{program}.new", str(SOURCE)]
        subprocess.run(words, check=True)
        Path(f"{program}.new").rename(program)
    return program


@contextmanager
def running(pace: Pace) -> Iterator[Mock]:
    """Start the server; when the block ends, stop it and read what it saw."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "served.tsv"
        options = {
            "--ttft-us": round(pace.ttft_ms * 1000),
            "--itl-us": round(pace.itl_ms * 1000),
            "--tokens": pace.tokens,
            "--per-write": pace.per_write,
            "--log": log,
        }
        words = [str(build()), *(str(word) for pair in options.items() for word in pair)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        port = process.stdout.readline() if process.stdout else ""
        mock = Mock(url=f"http://127.0.0.1:{int(port)}")
        try:
            yield mock
        finally:
            process.send_signal(signal.SIGTERM)
            told, _ = process.communicate(timeout=_PATIENCE_S)
        costs = json.loads(told)
        mock.connections, mock.events = costs["connections"], costs["events"]
        mock.cpu_us = costs["cpu_us"]
        mock.served = [_served(line) for line in log.read_text().splitlines()]


def _served(line: str) -> Served:
    received, first, last, connection = map(int, line.split("\t"))
    return Served(received_ns=received, first_ns=first, last_ns=last, connection=connection)
