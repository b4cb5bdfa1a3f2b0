"""What a person waits for besides the answers: small commands, and a whole `demo` less its answers.

Run: ``python benchmarks/command_line.py [--reps 5]``. Of a small command the processor time counts,
which a busy machine changes least. The demo's own time is its wall time less the union of the
intervals in which a request was in flight, both read from outside: the clock here, the journal there.
How long a load run takes to its first request, ``python -m benchmarks.load_peers`` prints.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.budget import union_ms

COMMAND = (sys.executable, "-m", "orchestrator")
SMALL: Mapping[str, tuple[str, ...]] = {
    "--help": (*COMMAND, "--help"),
    "--version": (*COMMAND, "--version"),
    "config show": (*COMMAND, "config", "show"),
    "cases": (*COMMAND, "cases"),
    "ps": (*COMMAND, "ps"),
    "status": (*COMMAND, "status"),
    "stop": (*COMMAND, "stop"),
    "start --help": (*COMMAND, "start", "--help"),
    "run --help": (*COMMAND, "run", "--help"),
    "bench --help": (*COMMAND, "bench", "--help"),
    "simulator": (sys.executable, "-m", "bench.simulator", "--help"),
    "load process": (sys.executable, "-m", "bench.fleet"),
}
"""What is typed all day, and the processes that tests start by the hundred. The last says what it misses."""


def wall_ms(words: Sequence[str], folder: Path) -> tuple[float, str]:
    """Return how long a command took, and its stdout."""
    began = time.perf_counter_ns()
    done = subprocess.run(
        [*COMMAND, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return (time.perf_counter_ns() - began) / 1e6, done.stdout


def processor_ms(words: Sequence[str], folder: Path) -> float:
    """Return the processor time of a command, whatever its status: `status` of nothing is 3."""
    homes = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CONFIG", "DATA", "STATE")}
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, **homes},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return 1e3 * (used.ru_utime + used.ru_stime)


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
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        small: dict[str, list[float]] = {name: [] for name in SMALL}
        for _ in range(reps):  # in turn, so that the machine's load hits all alike
            for name, words in SMALL.items():
                small[name].append(processor_ms(words, folder))
        helps = [wall_ms(["--help"], folder)[0] for _ in range(reps)]
        demos = [demo_ms(folder) for _ in range(reps)]
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    for name, found in small.items():
        middle, worst = statistics.median(found), max(found)
        print(f"{name:13} processor time, median {middle:.0f} ms of {reps}, worst {worst:.0f}")
    print(
        f"--help        median {statistics.median(helps):.0f} ms of {reps}, worst {max(helps):.0f}"
    )
    own = [one for _, one in demos]
    print(f"demo, whole   median {statistics.median(t for t, _ in demos):.0f} ms of {reps}")
    print(f"demo, ours    median {statistics.median(own):.0f} ms of {reps}, worst {max(own):.0f}")
    print(f"load average  {load}")


if __name__ == "__main__":
    main()
