"""Whether `overhead` reads back what a proxy really adds.

Between the C mock and the client stands a proxy of known delay that logs how long each answer was
inside it. Usage::

    python -m benchmarks.overhead_truth [--concurrency 1,8,64] [--quick]

Prints a table in Markdown: what was set, what the proxy logged (median), what `overhead` measured
with its interval, and the difference of the two against the bound of 0.3 ms + 2 %. The proxy is
Python too: its own way through the kernel, which its log can't see, is part of the difference.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.load_peers.mock import Pace, running
from tests.truth_proxy_process import TruthProxy, running_proxy

BOUND_MS, BOUND_SHARE = 0.3, 0.02
PACES = {
    1: Pace(ttft_ms=30, itl_ms=8, tokens=24),
    8: Pace(ttft_ms=30, itl_ms=10, tokens=24),
    64: Pace(ttft_ms=50, itl_ms=40, tokens=16),
}
"""At 64 slower streams, so that mock, proxy and client leave two processors some rest."""
PAIRS = {1: ("40", "1"), 8: ("14", "32"), 64: ("10", "192")}
"""By concurrency: pairs, and requests of a block."""
FIGURES = {"ttft": "firstMs", "itl": "gapMs", "total": "totalMs"}
_ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One row of the matrix."""

    concurrency: int
    first_ms: float
    chunk_ms: float
    hold: str = "0"

    def options(self) -> tuple[str, ...]:
        """Return the proxy's options."""
        delays = ("--first-ms", str(self.first_ms), "--chunk-ms", str(self.chunk_ms))
        return (*delays, "--hold", self.hold)


def matrix(concurrencies: list[int], *, is_quick: bool) -> Iterator[Setting]:
    """Yield every setting: delays of the first byte, of each chunk, and buffers."""
    for concurrency in concurrencies:
        firsts = (0.0, 5.0) if is_quick else (0.0, 1.0, 5.0, 20.0)
        chunks = (1.0,) if is_quick else (1.0, 3.0)
        for first in firsts:
            yield Setting(concurrency=concurrency, first_ms=first, chunk_ms=0.0)
        for chunk in chunks:
            yield Setting(concurrency=concurrency, first_ms=0.0, chunk_ms=chunk)
        yield Setting(concurrency=concurrency, first_ms=1.0, chunk_ms=0.0, hold="2000")
        yield Setting(concurrency=concurrency, first_ms=1.0, chunk_ms=0.0, hold="all")


def measured(setting: Setting, gateway: str, upstream: str, folder: Path) -> dict[str, Any]:
    """Run `overhead` and return the summary of its document."""
    pairs, requests = PAIRS[setting.concurrency]
    words = ("overhead", "mock", "--url", gateway, "--baseline-url", upstream, "--no-key")
    load = ("-c", str(setting.concurrency), "-n", requests, "--pairs", pairs)
    rest = ("--cold-pairs", "0", "--noise-pairs", "6", "--dialect", "plain", "--no-archive")
    done = subprocess.run(
        [sys.executable, "-m", "bench", *words, *load, *rest, "--yes", "--again", "--json"],
        cwd=folder,
        env={**os.environ, "BENCHMARK_OUTPUT_DIR": str(folder), "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"overhead ended with {done.returncode}: {done.stderr}")
    files = json.loads(done.stdout)["files"]
    document = next(Path(one) for one in files if one.endswith(".json"))
    summary: dict[str, Any] = json.loads(document.read_text())["summary"]
    return summary


def row(setting: Setting, proxy: TruthProxy, summary: dict[str, Any]) -> tuple[str, int, int]:
    """Return the row of a setting, how many figures it has, and how many are within the bound."""
    level = summary["paired"]["levels"][0]
    cells, within, told = [], 0, 0
    for found in level["warm"]:
        truth, seen = proxy.inside(FIGURES[found["metric"]]), found["difference"]
        low, high = found["interval"]
        off = seen - truth
        is_within = abs(off) <= BOUND_MS + BOUND_SHARE * abs(truth)
        told, within = told + 1, within + is_within
        mark = "" if is_within else " !"
        cells.append(f"{truth:.2f} | {seen:.2f} [{low:.2f}, {high:.2f}] | {off:+.2f}{mark}")
    buffering = summary["overhead"]["buffering"]["verdict"]
    bound = "yes" if level["clientBound"] else "no"
    head = f"{setting.concurrency} | {setting.first_ms:g} | {setting.chunk_ms:g} | {setting.hold}"
    return f"| {head} | {' | '.join(cells)} | {buffering} | {bound} |", told, within


def main() -> None:
    """Run the matrix and print the table."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("--concurrency", default="1,8,64")
    reader.add_argument("--quick", action="store_true", help="fewer settings")
    typed = reader.parse_args()
    figures = " | ".join(f"{name} inside | measured | off" for name in FIGURES)
    columns = 4 + 3 * len(FIGURES) + 2
    out = sys.stdout.write
    out(f"| at once | first (ms) | chunk (ms) | hold | {figures} | buffering | client-bound |\n")
    out("|" + " ---: |" * columns + "\n")
    told = within = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for setting in matrix([int(n) for n in typed.concurrency.split(",")], is_quick=typed.quick):
            with (
                running(PACES[setting.concurrency]) as mock,
                running_proxy(folder, mock.url, *setting.options()) as proxy,
            ):
                line, figures_told, kept = row(
                    setting, proxy, measured(setting, proxy.url, mock.url, folder)
                )
            told, within = told + figures_told, within + kept
            out(line + "\n")
            sys.stdout.flush()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    out(f"\n{within} of {told} figures within {BOUND_MS} ms + {BOUND_SHARE:.0%}; load {load}\n")


if __name__ == "__main__":
    main()
