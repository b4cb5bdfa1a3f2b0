"""How long after its death does the measuring process know that the gateway is dead?

    python benchmarks/death_notice.py [REPETITIONS]

Runs the whole job on the embedded gateway, kills that by its PID in the middle, and reads both
stamps from the journal: when the watcher woke, and when the measuring process had the notice.
All processes of a machine share the monotonic clock. Prints medians and the load average.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MODEL = "sim-ttft100-itl20-n20"
TARGET_MS = 50.0
SAFETY_STOP_S = 120.0


def main() -> int:
    """Measure, print, and return 0."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    before = os.getloadavg()[0]
    found = [one_death() for _ in range(repetitions)]
    load = f"load average {before:.1f}-{os.getloadavg()[0]:.1f}"
    print(f"{repetitions} deaths by SIGKILL, {os.cpu_count()} cores, {load}")
    for title, place in (("watcher awake", 0), ("measuring process told", 1)):
        times = sorted(one[place] for one in found)
        listed = " ".join(f"{one:.1f}" for one in times)
        print(f"{title}: median {statistics.median(times):.1f} ms of {listed}")
    print(f"target: {TARGET_MS:g} ms from the death to the measuring process")
    return 0


def one_death() -> tuple[float, float]:
    """Return milliseconds from the kill to the watcher's stamp, and to the notice's."""
    with tempfile.TemporaryDirectory(prefix="d") as made:
        home = Path(made)
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_DATA_HOME": str(home / "data"),
            "BENCHMARK_OUTPUT_DIR": str(home / "out"),
        }
        words = ("demo", MODEL, "--case", "fixed_output_stream", "--runs", "30", "--quiet")
        job = subprocess.Popen(
            [sys.executable, "-P", "-m", "orchestrator", *words],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_for_trials(home / "out", job)
            killed_ns = kill_the_gateway(home / "state" / "gwb")
            job.wait(SAFETY_STOP_S)
        finally:
            if job.poll() is None:
                job.terminate()
                job.wait()
        incident = next(
            one
            for one in records(home / "out")
            if one["type"] == "incident" and one["class"] == "gateway_killed"
        )
        return (incident["atNs"] - killed_ns) / 1e6, (incident["noticedNs"] - killed_ns) / 1e6


def kill_the_gateway(state: Path) -> int:
    """Send SIGKILL through a pidfd; return the monotonic reading just before."""
    (record,) = (json.loads(one.read_bytes()) for one in state.glob("*.json"))
    held = os.pidfd_open(record["identity"]["pid"])
    killed_ns = time.perf_counter_ns()
    signal.pidfd_send_signal(held, signal.SIGKILL)
    os.close(held)
    return killed_ns


def wait_for_trials(out: Path, job: subprocess.Popen[bytes]) -> None:
    """Wait until a few trials are recorded."""
    deadline = time.perf_counter() + SAFETY_STOP_S
    while sum(one["type"] == "trial" for one in records(out)) < 2:  # noqa: PLR2004  # a few
        if job.poll() is not None or time.perf_counter() > deadline:
            message = f"the job ended with {job.poll()} before anything was measured"
            raise SystemExit(message)
        time.sleep(0.02)


def records(out: Path) -> list[dict[str, Any]]:
    """Read the journal so far; its last line may be half written."""
    lines = [line for one in out.glob("*.jsonl") for line in one.read_bytes().split(b"\n")[:-1]]
    return [json.loads(line) for line in lines]


if __name__ == "__main__":
    sys.exit(main())
