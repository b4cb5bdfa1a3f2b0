"""What a person waits for besides the answers: `--help`, and a whole `demo` less its answers.

Run: ``python benchmarks/command_line.py [--reps 5]``. The demo's own time is its wall time less the
union of the intervals in which a request was in flight, both read from outside: the clock here, the
journal there.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.budget import union_ms

COMMAND = (sys.executable, "-m", "orchestrator")


def wall_ms(words: Sequence[str], folder: Path) -> tuple[float, str]:
    """Return how long a command took, and its stdout."""
    began = time.perf_counter_ns()
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return (time.perf_counter_ns() - began) / 1e6, done.stdout


def demo_ms(folder: Path) -> tuple[float, float]:
    """Return wall time of one demo and its part outside of waiting for answers."""
    took, out = wall_ms(["demo", "--no-archive"], folder)
    journal = next(line for line in out.splitlines() if line.endswith(".jsonl"))
    records = map(json.loads, Path(journal).read_text(encoding="utf-8").splitlines())
    trials = [record["trial"] for record in records if record["type"] == "trial"]
    waited = union_ms([(t["startedOffsetMs"], t["finishedOffsetMs"]) for t in trials])
    return took, took - waited


def main() -> None:
    """Measure and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=5)
    reps = parser.parse_args().reps
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        helps = [wall_ms(["--help"], folder)[0] for _ in range(reps)]
        demos = [demo_ms(folder) for _ in range(reps)]
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(
        f"--help        median {statistics.median(helps):.0f} ms of {reps}, worst {max(helps):.0f}"
    )
    own = [one for _, one in demos]
    print(f"demo, whole   median {statistics.median(t for t, _ in demos):.0f} ms of {reps}")
    print(f"demo, ours    median {statistics.median(own):.0f} ms of {reps}, worst {max(own):.0f}")
    print(f"load average  {load}")


if __name__ == "__main__":
    main()
