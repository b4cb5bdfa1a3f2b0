"""What a program waits for besides itself: the making and clearing away of its sandbox.

Usage: ``python benchmarks/sandbox.py [--reps 40]``. Per interpreter an empty program: the wall time
of one ``Sandbox.run``, the program's own share (first instruction to last), and the rest, which is
the sandbox's. Target: a rest under 150 ms in the median on two cores.
"""

import argparse
import asyncio
import os
import statistics
from collections.abc import Sequence
from time import perf_counter_ns

from bench.sandbox import Program, Sandbox
from bench.sandbox.program import Language


async def run_ms(sandbox: Sandbox, language: Language) -> tuple[float, float] | None:
    """Run an empty program; return the whole and the program's own time, ``None`` without it."""
    program = Program(language=language, argv=("main.js",), files={"main.js": b""})
    begin = perf_counter_ns()
    outcome = await sandbox.run(program)
    whole = (perf_counter_ns() - begin) / 1e6
    return None if outcome.end != "exited" else (whole, outcome.duration_ns / 1e6)


def cells(values: Sequence[float]) -> str:
    """Return median and p99."""
    worst = statistics.quantiles(values, n=100, method="inclusive")[98]
    return f"{statistics.median(values):.0f} | {worst:.0f}"


async def measure(language: Language, reps: int, sandbox: Sandbox) -> str:
    """Return one line of the table."""
    found = [await run_ms(sandbox, language) for _ in range(reps)]
    times = [one for one in found if one is not None]
    if len(times) < reps:
        return f"| {language} | not run | | | |"
    own = [program for _, program in times]
    rest = [whole - program for whole, program in times]
    return f"| {language} | {cells(rest)} | {cells(own)} |"


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--reps", type=int, default=40)
    reps = parser.parse_args().reps
    begin = perf_counter_ns()
    sandbox = Sandbox()
    probed_ms = (perf_counter_ns() - begin) / 1e6
    found = sandbox.protections
    print(f"Level {found.level}, walls {found.walls}, found in {probed_ms:.0f} ms; "
          f"load {os.getloadavg()[0]:.1f}.\n")  # fmt: skip
    print("| ms | sandbox median | p99 | program median | p99 |\n" + "|---" * 5 + "|")
    languages: tuple[Language, ...] = ("python", "javascript")
    for language in languages:
        print(await measure(language, reps, sandbox), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
