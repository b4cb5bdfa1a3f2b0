"""What a program waits for besides itself: the making and clearing away of its sandbox.

Usage: ``python benchmarks/sandbox.py [--reps 40]``. Per interpreter the wall
time of one ``Sandbox.run`` of an empty program, less the bare interpreter's own start outside,
taken in turn so that both see the same machine. Target: under 150 ms median on two cores.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
from time import perf_counter_ns

from bench.sandbox import Program, Sandbox
from bench.sandbox.interpreters import interpreter, options
from bench.sandbox.program import Language

MB = 512


def bare_ms(language: Language) -> float | None:
    """Start the interpreter outside, as the sandbox does inside."""
    found = interpreter(language)
    if found is None:
        return None
    begin = perf_counter_ns()
    subprocess.run([found.executable, *options(language, MB), os.devnull], check=True)
    return (perf_counter_ns() - begin) / 1e6


async def walled_ms(sandbox: Sandbox, language: Language) -> float:
    """Run an empty program behind the walls."""
    program = Program(language=language, argv=("main.js",), files={"main.js": b""})
    begin = perf_counter_ns()
    outcome = await sandbox.run(program)
    taken = (perf_counter_ns() - begin) / 1e6
    if outcome.end != "exited":
        message = f"{language}: {outcome.end}: {outcome.stderr.decode()}"
        raise SystemExit(message)
    return taken


async def measure(language: Language, reps: int, sandbox: Sandbox) -> str:
    """Return one line of the table."""
    inside, outside = [], []
    for _ in range(reps):
        bare = bare_ms(language)
        if bare is None:
            return f"| {language} | not installed | | | |"
        outside.append(bare)
        inside.append(await walled_ms(sandbox, language))
    added = [one - other for one, other in zip(inside, outside, strict=True)]
    worst = statistics.quantiles(inside, n=100, method="inclusive")[98]
    return (
        f"| {language} | {statistics.median(outside):.0f} | {statistics.median(inside):.0f} "
        f"| {worst:.0f} | {statistics.median(added):.0f} |"
    )


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--reps", type=int, default=40)
    reps = parser.parse_args().reps
    begin = perf_counter_ns()
    sandbox = Sandbox()
    print(f"level {sandbox.protections.level}, walls {sandbox.protections.walls}, "
          f"found in {(perf_counter_ns() - begin) / 1e6:.0f} ms, "
          f"load {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    print("| ms | bare median | in the sandbox median | p99 | added median |")
    print("|---|---|---|---|---|")
    languages: tuple[Language, ...] = ("python", "javascript")
    for language in languages:
        print(await measure(language, reps, sandbox), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
