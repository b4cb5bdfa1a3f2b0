"""What owning a gateway costs: start to ready, stop, and the notice of a death, in milliseconds.

Usage: ``python -m benchmarks.lifecycle [--repeats 7] [--json]``. The gateway is one small C
program that listens within a millisecond, so that all of the start is ours. Prints medians with
all values and the load average; docs/performance.md holds the figures of record.
"""

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns

from orchestrator.lifecycle import Started
from tests.native_gateway import build_native_gateway
from tests.yard import Yard

GRACE_S = 0.5
SETTLE_S = 0.5
STUBBORN = "trap '' TERM; ./shop & wait $!; wait $!"
ROWS = {
    "alone": "the gateway alone: exec to listening",
    "start": "`start` in a program, settle time 0.5 s included",
    "start command": "`gateway-bench start`",
    "stop": "`stop` in a program",
    "stop command": "`gateway-bench stop`",
    "stop stubborn": "`stop` of what ignores SIGTERM, beyond its grace of 0.5 s",
    "notice": "death to notice in the watching thread",
}


def timed_ms(step: Callable[[], object]) -> float:
    """Return how long a step takes."""
    began_ns = perf_counter_ns()
    step()
    return (perf_counter_ns() - began_ns) / 1e6


def alone_ms(yard: Yard) -> float:
    """Start the gateway by hand and wait until it accepts."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began_ns = perf_counter_ns()
    process = subprocess.Popen([yard.worktree / "shop"], env={"PORT": str(port)})
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
            except ConnectionRefusedError:
                time.sleep(0.0002)
            else:
                return (perf_counter_ns() - began_ns) / 1e6
    finally:
        process.kill()
        process.wait()


def command_ms(yard: Yard, *words: str) -> float:
    """Run a command of ours to its end."""
    environment = {**os.environ, "XDG_STATE_HOME": str(yard.root / "home")}
    command = [sys.executable, "-m", "orchestrator", *words]
    root = Path(__file__).parent.parent
    return timed_ms(
        lambda: subprocess.run(
            command,
            cwd=yard.worktree,
            env={**environment, "PYTHONPATH": str(root)},
            check=True,
            capture_output=True,
        )
    )


def notice_ms(started: Started) -> float:
    """Kill a gateway and wait for its death as the watcher does."""
    os.kill(started.held.pid, signal.SIGKILL)
    return timed_ms(lambda: started.held.ended(60.0))


def round_ms(yard: Yard) -> dict[str, float]:
    """Measure each step once."""
    took = {"alone": alone_ms(yard)}
    took["start"] = timed_ms(lambda: yard.start("./shop"))
    took["stop"] = timed_ms(lambda: yard.stop(held=yard.held[-1].held))
    yard.start("/bin/sh", "-c", STUBBORN)
    took["stop stubborn"] = timed_ms(
        lambda: yard.stop(held=yard.held[-1].held, grace_s=GRACE_S)
    ) - (GRACE_S * 1e3)
    took["notice"] = notice_ms(yard.start("./shop"))
    yard.stop(held=yard.held[-1].held)
    described = ("--command", "./shop", "--health", "/")
    took["start command"] = command_ms(yard, "start", *described)
    took["stop command"] = command_ms(yard, "stop")
    return took


def told(rounds: list[Mapping[str, float]], loads: tuple[float, float]) -> str:
    """Return the table."""
    lines = [f"median of {len(rounds)}, load average {loads[0]:.1f}-{loads[1]:.1f}", ""]
    lines += ["| step | median ms | all |", "|---|---|---|"]
    for key, title in ROWS.items():
        values = sorted(one[key] for one in rounds)
        shown = " ".join(f"{value:.1f}" for value in values)
        lines.append(f"| {title} | {statistics.median(values):.1f} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    yard = Yard()
    yard.request = replace(yard.request, settle_s=SETTLE_S)
    build_native_gateway(yard.worktree / "shop")
    before = os.getloadavg()[0]
    try:
        rounds: list[Mapping[str, float]] = [round_ms(yard) for _ in range(asked.repeats)]
    finally:
        left = yard.close()
    loads = (before, os.getloadavg()[0])
    print(json.dumps(rounds) if asked.json else told(rounds, loads))
    if left:
        sys.exit(f"still running: {left}")


if __name__ == "__main__":
    main()
