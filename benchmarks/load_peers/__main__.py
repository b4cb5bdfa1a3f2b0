"""Run load generators side by side against one C server and print what each costs and how wrong it is.

Usage, on Linux with ``cc``::

    python -m benchmarks.load_peers [--tool NAME]... [--reps 5] [--requests 2000] [--json FILE] [--docs]

Two scenes. *Zero*: no delay, 64 streams, 100 events an answer, each written alone: request rate,
processor time, memory, start. *Real*: TTFT 50 ms, 10 ms between 100 tokens: how much later than the
server's own first write each tool says the first token came, and how much of the ideal rate it reaches.
Tools take turns in each round, so that the machine's load hits all alike; figures are medians over
rounds. The first run installs the tools (1.5 GB) below ``.real/``. wrk and hey, which know nothing of
streams, are taken from the system and stand in the first scene only, by their rate. ``--docs`` writes what
was found into ``docs/performance.md``: for runs on a quiet machine.
"""

import argparse
import compileall
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.load_peers.install import install
from benchmarks.load_peers.mock import REAL, ZERO, Pace
from benchmarks.load_peers.stage import Finding, finding
from benchmarks.load_peers.tools import OURS, TOOLS, Tool
from benchmarks.marked import write_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"

Found = dict[str, list[Finding]]


def rounds(tools: Sequence[Tool], pace: Pace, streams: int, requests: int, reps: int) -> Found:
    """Let every tool run once in each round; one that fails is told and left out of that round."""
    found: Found = {}
    for _ in range(reps):
        for tool in tools:
            try:
                one = finding(pace, tool, streams=streams, requests=requests)
            except (RuntimeError, TimeoutError, OSError, ValueError) as fault:
                sys.stderr.write(f"left out: {fault}\n")
                continue
            found.setdefault(tool.name, []).append(one)
            told = f"{one.requests_per_s:.0f} requests/s, {one.cpu_us:.0f} us each"
            sys.stderr.write(f"{tool.name}, {streams} streams: {told}\n")
    return found


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def middle(found: Sequence[Finding], read: Callable[[Finding], float]) -> float:
    """Return the median over rounds."""
    return statistics.median(map(read, found))


def error_ms(found: Finding, share: float) -> float:
    """Return a percentile of the reported TTFT less the server's own median, in milliseconds."""
    ordered = sorted(found.ttft_ms)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] - found.server_ttft_ms


def speed_table(found: Found) -> str:
    """Return rates and costs, with what multiple of each tool's ours is."""
    ours = found.get(OURS.name)
    head = ["", "requests/s", "ours / its", "CPU us/request", "its / ours", "start s", "end s"]
    rows = []
    for name, own in found.items():
        rate, cpu = middle(own, lambda one: one.requests_per_s), middle(own, lambda one: one.cpu_us)
        faster = middle(ours, lambda one: one.requests_per_s) / rate if ours else None
        dearer = cpu / middle(ours, lambda one: one.cpu_us) if ours else None
        rows.append(
            [
                name,
                f"{rate:.0f}",
                "-" if faster is None else f"{faster:.1f}",
                f"{cpu:.0f}",
                "-" if dearer is None else f"{dearer:.1f}",
                f"{middle(own, lambda one: one.start_s):.2f}",
                f"{middle(own, lambda one: one.tail_s):.2f}",
                f"{middle(own, lambda one: one.peak_rss_mb):.0f}",
                f"{middle(own, lambda one: one.processes):.0f}",
                f"{middle(own, lambda one: one.connections):.0f}",
                str(len(own)),
            ]
        )
    return table([*head, "RSS MB", "processes", "connections", "n"], rows)


def truth_table(scenes: dict[int, Found], pace: Pace) -> str:
    """Return errors of the TTFT and shares of the ideal rate, by streams."""
    rows = []
    for streams, found in scenes.items():
        ideal = 1000 * streams / pace.total_ms
        for name, own in found.items():
            p50 = middle(own, lambda one: error_ms(one, 0.5))
            p99 = middle(own, lambda one: error_ms(one, 0.99))
            share = middle(own, lambda one: one.requests_per_s) / ideal
            cpu = middle(own, lambda one: one.cpu_us)
            cells = [f"{p50:+.2f}", f"{p99:+.2f}", f"{100 * share:.1f} %", f"{cpu:.0f}"]
            rows.append([str(streams), name, *cells, str(len(own))])
    head = [
        "streams",
        "",
        "TTFT error p50 ms",
        "p99 ms",
        "of the ideal rate",
        "CPU us/request",
        "n",
    ]
    return table(head, rows)


def zero_text(found: Found, requests: int) -> str:
    """Return the zero scene in words and its table."""
    ceilings = [one.ceiling for own in found.values() for one in own]
    most = f"{statistics.median(ceilings):,.0f} requests/s" if ceilings else "unknown"
    told = f"Without delay, 64 streams, {requests:,} requests; the server's ceiling on one core: {most}."
    return f"{told}\n\n{speed_table(found)}"


def real_text(scenes: dict[int, Found]) -> str:
    """Return the real scene in words and its table."""
    told = f"TTFT {REAL.ttft_ms:g} ms, {REAL.tokens} tokens, {REAL.itl_ms:g} ms apart."
    return f"{told}\n\n{truth_table(scenes, REAL)}"


def machine_text(loads: Sequence[float], reps: int) -> str:
    """Return when and where it was, and how busy the machine was before, between and after."""
    told = ", ".join(f"{load:.1f}" for load in loads)
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    day = datetime.now(UTC).date().isoformat()
    return f"{day}, {system}, {os.cpu_count()} processors, medians of {reps}; load average {told}."


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Return what was typed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load_peers")
    names = [tool.name for tool in TOOLS]
    parser.add_argument("--tool", action="append", choices=names, help="several times; default all")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--requests", type=int, default=2000, help="of the zero scene")
    parser.add_argument("--streams", default="16,64,256", help="of the real scene; empty = none")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", action="store_true", help="write the tables into the page")
    return parser.parse_args(argv)


def asked_tools(names: Sequence[str] | None) -> list[Tool]:
    """Return the tools that are asked for and there, the others installed or told."""
    wanted = [tool for tool in TOOLS if not names or tool.name in names]
    if any(tool is not OURS and tool.system is None for tool in wanted):
        install()
    for tool in wanted:
        if not tool.is_there:
            sys.stderr.write(f"left out: {tool.name}: `{tool.system}` is not installed\n")
    return [tool for tool in wanted if tool.is_there]


def main(argv: Sequence[str]) -> int:
    """Install, run, print."""
    asked = arguments(argv)
    tools = asked_tools(asked.tool)
    compileall.compile_dir(ROOT / "bench", quiet=1)  # as pip does with every other tool
    loads = [os.getloadavg()[0]]
    speed = rounds(tools, ZERO, 64, asked.requests, asked.reps)
    loads.append(os.getloadavg()[0])
    scenes = {
        streams: rounds([t for t in tools if t.ttft_ms], REAL, streams, 6 * streams, asked.reps)
        for streams in map(int, filter(None, asked.streams.split(",")))
    }
    loads.append(os.getloadavg()[0])
    parts = [zero_text(speed, asked.requests), *([real_text(scenes)] if scenes else [])]
    text = "\n".join([*parts, machine_text(loads, asked.reps)])
    print(text)
    if asked.docs:
        write_table(PAGE, "benchmarks.load_peers", text)
    if asked.json is not None:
        kept = {"zero": speed, **{f"real-{n}": found for n, found in scenes.items()}}
        plain = {k: {t: [asdict(one) for one in o] for t, o in f.items()} for k, f in kept.items()}
        asked.json.write_text(json.dumps(plain))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
