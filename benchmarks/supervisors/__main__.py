"""Run the same faults with other supervisors and with ours, and measure them side by side.

Usage, as root on Linux (every experiment has a PID and a network namespace of its own)::

    python -m benchmarks.supervisors [--tool NAME]... [--scenario NAME]... [--reps 5] [--json FILE]

Prints two tables in Markdown: what each tool did, and medians of start overhead, death notice and
stop time with the load average beside them. ``docs/comparison.md`` holds a run of record.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.supervisors.install import install
from benchmarks.supervisors.namespace import run_isolated, why_not
from benchmarks.supervisors.scenarios import SCENARIOS
from benchmarks.supervisors.tools import TOOLS

_LONGEST_S = 240.0


def experiment(*words: str) -> dict[str, Any]:
    """Run one experiment; what went wrong with the experiment itself is its finding."""
    done = run_isolated(["benchmarks.supervisors.inside", *words], timeout_s=_LONGEST_S)
    if done.returncode != 0 or not done.stdout:
        last = done.stderr.strip().splitlines()[-1:] or ["nothing said"]
        return {"is_right": False, "words": f"the experiment broke: {last[0]}"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def faults(tools: Sequence[str], scenarios: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Run every scenario with every tool."""
    found: dict[str, dict[str, Any]] = {}
    for scenario in scenarios:
        found[scenario] = {}
        for tool in tools:
            found[scenario][tool] = experiment(tool, scenario)
            sys.stderr.write(f"{scenario}, {tool}: {found[scenario][tool]['words']}\n")
    return found


def timings(tools: Sequence[str], reps: int) -> dict[str, dict[str, list[float]]]:
    """Measure every tool, one after another in each round, so that load hits all alike."""
    found: dict[str, dict[str, list[float]]] = {}
    deaf: set[str] = set()
    for _ in range(reps):
        for tool in ("none", *tools):
            for name, value in experiment(tool, "timing").items():
                if isinstance(value, float):
                    found.setdefault(tool, {}).setdefault(name, []).append(value)
            if tool == "none" or tool in deaf:
                continue
            notice = experiment(tool, "dies-after-ready").get("notice_ms")
            if notice is None:
                deaf.add(tool)
            else:
                found.setdefault(tool, {}).setdefault("notice_ms", []).append(notice)
    return found


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def faults_table(found: dict[str, dict[str, Any]], tools: Sequence[str]) -> str:
    """Return what each tool did."""

    def cell(finding: dict[str, Any]) -> str:
        return f"{'yes' if finding['is_right'] else 'NO'}: {finding['words']}".replace("|", "/")

    rows = [[name, *(cell(found[name][tool]) for tool in tools)] for name in found]
    return table(["scenario", *tools], rows)


def timings_table(found: dict[str, dict[str, list[float]]], tools: Sequence[str]) -> str:
    """Return medians; the bare server is the first row."""

    def median(tool: str, name: str) -> str:
        values = found.get(tool, {}).get(name, [])
        return f"{statistics.median(values):.0f} ({len(values)})" if values else "none"

    names = ("start_ms", "notice_ms", "stop_ms")
    rows = [[tool, *(median(tool, name) for name in names)] for tool in ("none", *tools)]
    return table(["tool", "start to job, ms (n)", "death notice, ms (n)", "stop, ms (n)"], rows)


def main(argv: Sequence[str]) -> int:
    """Install, run, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.supervisors")
    parser.add_argument("--tool", action="append", choices=[one.name for one in TOOLS])
    parser.add_argument("--scenario", action="append", choices=list(SCENARIOS))
    parser.add_argument("--reps", type=int, default=5, help="0 = no timings")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(argv)
    reason = why_not()
    if reason is not None:
        sys.stderr.write(f"no namespace can be made here: {reason}\n")
        return 3
    install()
    tools = asked.tool or [one.name for one in TOOLS]
    before = os.getloadavg()[0]
    found = faults(tools, asked.scenario or list(SCENARIOS))
    middle = os.getloadavg()[0]
    times = timings(tools, asked.reps)
    after = os.getloadavg()[0]
    print(faults_table(found, tools))
    print(f"Load average {before:.1f} to {middle:.1f}.\n")
    if asked.reps:
        print(timings_table(times, tools))
        print(f"Load average {middle:.1f} to {after:.1f}.")
    if asked.json is not None:
        asked.json.write_text(json.dumps({"faults": found, "timings": times}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
