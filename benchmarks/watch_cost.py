"""What watching a gateway costs: processor time of watcher and lookout beside a real gateway.

Usage: ``python benchmarks/watch_cost.py [--windows 5] [--seconds 31] [--json]``. Three gateways are
started and watched side by side, each by a process of its own, as ``run`` does it; the processor
time of those processes is read at the end of each window. A window of 31 s holds everything that is
done now and then, PSS included. docs/performance.md holds the figures of record.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import msgspec

from bench.journal import Journal
from bench.model.surroundings import Sample
from orchestrator.lifecycle import Started
from orchestrator.link import JobLink
from orchestrator.lookout import Lookout, Watched
from orchestrator.stopping import stop
from orchestrator.tidings import Tidings
from orchestrator.watch import Watcher
from tests.sample_documents import smoke_ledger
from tests.yard import GUARDED, Yard

WORKERS = """
import subprocess, sys
from server import serve
if __name__ == "__main__":
    for _ in range({count}):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    serve()
"""
_FILE_BYTES = 20_000


@dataclass(frozen=True, kw_only=True)
class Case:
    """One gateway to watch."""

    name: str
    workers: int = 0
    files: int = 3
    connections: int = 0
    is_busy: bool = False
    """Somebody starts and ends twenty processes a second beside it."""


CASES = (
    Case(name="one process, 3 built files"),
    Case(
        name="9 processes, 500 built files, 200 connections", workers=8, files=500, connections=200
    ),
    Case(name="one process, 20 other processes started each second", is_busy=True),
)


def watch(case: Case, windows: int, seconds: float) -> None:
    """Start a gateway, watch it, and print processor seconds: at first, then of each window."""
    yard = Yard()
    try:
        for number in range(case.files):
            text = f"X = {number}\n" + "#" * _FILE_BYTES
            yard.write(f"dist/chunk{number}.py", text)
        started = yard.start_script(WORKERS.format(count=case.workers) if case.workers else GUARDED)
        with ExitStack() as after:
            address = ("127.0.0.1", started.record.port)
            for _ in range(case.connections):
                after.enter_context(socket.create_connection(address))
            link = JobLink()
            after.callback(link.close)
            reader = threading.Thread(target=_drain, args=(link.child_descriptor,), daemon=True)
            reader.start()
            _measure(yard, started, link, windows=windows, seconds=seconds)
        stop(yard.machine, yard.instance, held=started.held)
    finally:
        yard.close()


def _measure(yard: Yard, started: Started, link: JobLink, *, windows: int, seconds: float) -> None:
    tidings = Tidings(link, started.record)
    before = time.process_time()
    watcher = Watcher(yard.machine, started, on_exit=lambda _: None)
    lookout = Lookout(
        yard.machine,
        Watched(record=started.record),
        on_reading=tidings.reading,
        on_note=tidings.note,
    )
    tidings.journal_made()
    time.sleep(2.0)
    spent = [time.process_time() - before]
    for _ in range(windows):
        before = time.process_time()
        time.sleep(seconds)
        spent.append(time.process_time() - before)
    lookout.close()
    watcher.expect_end()
    watcher.close()
    print(json.dumps(spent), flush=True)


def _drain(descriptor: int) -> None:
    while os.read(descriptor, 65536):
        pass


@contextmanager
def bustle() -> Iterator[None]:
    """Start and end twenty short processes a second."""
    command = (
        "import subprocess, time\nwhile True:\n    subprocess.run(['true'])\n    time.sleep(0.05)"
    )
    with subprocess.Popen([sys.executable, "-c", command]) as busy:
        try:
            yield
        finally:
            busy.kill()


def receiving_us(folder: Path) -> float:
    """Return microseconds for which a sample keeps the measuring process: decode and write it."""
    line = json.dumps(
        {
            "type": "sample",
            "atNs": 4440912575545,
            "values": dict.fromkeys(
                ("processes", "cpuMs", "rssMb", "threads", "descriptors"), 27.3
            ),
        }
    ).encode()
    times = []
    with_header = smoke_ledger().header
    journal = Journal.create(folder / "cost.jsonl", with_header)
    for _ in range(2000):
        began = perf_counter_ns()
        said = msgspec.json.decode(line)
        journal.write(Sample(at_ns=said["atNs"], values=said["values"]))
        times.append(perf_counter_ns() - began)
    journal.close()
    return statistics.median(times) / 1000


def main() -> int:
    """Run every case and print a table, or an object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=31.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--case", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case is not None:
        watch(CASES[asked.case], asked.windows, asked.seconds)
        return 0
    found = _all(asked)
    if asked.json:
        print(json.dumps(found))
        return 0
    print(
        f"load average {found['load']}; a sample costs the measuring process "
        f"{found['receivingUs']:.0f} µs"
    )
    print("| gateway | per cent of one core, median | least, most | first 2 s, CPU ms |")
    print("|---|---|---|---|")
    for row in found["cases"]:
        low, high = min(row["shares"]), max(row["shares"])
        print(
            f"| {row['name']} | {statistics.median(row['shares']):.2f} | {low:.2f}, {high:.2f} | "
            f"{row['beginMs']:.0f} |"
        )
    return 0


def _all(asked: argparse.Namespace) -> dict[str, Any]:
    before = os.getloadavg()[0]
    common = ["--windows", str(asked.windows), "--seconds", str(asked.seconds)]
    rows = []
    with bustle():
        children = [
            subprocess.Popen(
                [sys.executable, __file__, "--case", str(number), *common],
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(len(CASES))
        ]
        for case, child in zip(CASES, children, strict=True):
            out, _ = child.communicate()
            first, *rest = json.loads(out)
            shares = [100 * spent / asked.seconds for spent in rest]
            rows.append({"name": case.name, "beginMs": first * 1000, "shares": shares})
    with tempfile.TemporaryDirectory() as folder:
        took_us = receiving_us(Path(folder))
    load = f"{before:.1f}-{os.getloadavg()[0]:.1f}"
    return {"load": load, "receivingUs": took_us, "cases": rows}


if __name__ == "__main__":
    sys.exit(main())
