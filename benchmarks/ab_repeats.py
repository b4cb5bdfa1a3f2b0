"""How often `ab` is right: equal builds told apart, 2 ms per request found; the whole command each time.

A small gateway whose delay is a variable stands before the simulator. Each repeat starts both sides,
measures, and stops them. Targets: of 20 A/A repeats at most 3 flag anything (of three figures); +2 ms
is found in at least 18 of 20.

    python benchmarks/ab_repeats.py [--repeats 20] [--pairs 60] [--concurrency 1]
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command_line import CommandLine
from tests.delaying_gateway import DelayingGateway

MODEL = "sim-ttft20-itl2-n16"
ADDED_MS = 2.0
MOST_FALSE, FEWEST_FOUND, OF = 3, 18, 20
SHOWN = frozenset({"higher", "lower"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """What one run of the command said."""

    differences: dict[str, dict[str, Any]]
    """By figure."""

    @property
    def flagged(self) -> list[str]:
        """Return the figures that it calls different."""
        return [name for name, one in self.differences.items() if one["verdict"] in SHOWN]


def one_repeat(command: CommandLine, options: argparse.Namespace, *, added_ms: float) -> Repeat:
    """Run the command once, each time with another seed."""
    words = ["ab", MODEL, "--json", "--quiet", "--max-tokens", "16", "--seed", str(options.seed)]
    words += ["--pairs", str(options.pairs), "--noise-pairs", "0", "--cold-pairs", "0"]
    words += ["-c", str(options.concurrency)]
    words += ["--a-env", "DELAY_MS=0", "--b-env", f"DELAY_MS={added_ms:g}"]
    done = command(*words)
    if done.code != 0:
        message = f"the command ended with {done.code}: {done.err}"
        raise RuntimeError(message)
    told = json.loads(done.out)["detail"]["differences"]
    return Repeat(differences={one["metric"]: one for one in told})


def main() -> int:
    """Repeat, print each figure and the two counts; 0 when both targets are met."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--repeats", type=int, default=OF)
    reader.add_argument("--pairs", type=int, default=60)
    reader.add_argument("--concurrency", type=int, default=1)
    options = reader.parse_args()
    counts = {"aa": 0, "ab": 0}
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; {MODEL}")
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        root = Path(folder).resolve()
        gateway = DelayingGateway(root / "tree")
        command = CommandLine(root / "home", gateway.folder)
        command("trust", ".")
        for number in range(options.repeats):
            options.seed = number + 1
            same = one_repeat(command, options, added_ms=0.0)
            other = one_repeat(command, options, added_ms=ADDED_MS)
            counts["aa"] += bool(same.flagged)
            counts["ab"] += other.differences["ttft"]["verdict"] == "higher"
            _show(number + 1, same, other)
    print(f"A/A: {counts['aa']} of {options.repeats} flag anything (target: at most 3 of 20)")
    print(
        f"+{ADDED_MS:g} ms: {counts['ab']} of {options.repeats} found (target: at least 18 of 20)"
    )
    share = options.repeats / OF
    met = counts["aa"] <= MOST_FALSE * share and counts["ab"] >= FEWEST_FOUND * share
    return 0 if met else 1


def _show(number: int, same: Repeat, other: Repeat) -> None:
    one, two = same.differences["ttft"], other.differences["ttft"]
    print(
        f"{number:3}  A/A {one['difference']:+.2f} ms {_range(one)} {', '.join(same.flagged) or '-'}"
        f"   +{ADDED_MS:g} ms: {two['difference']:+.2f} ms {_range(two)} {two['verdict']}",
        flush=True,
    )


def _range(one: dict[str, Any]) -> str:
    low, high = one["interval"]
    return f"[{low:+.2f}, {high:+.2f}]"


if __name__ == "__main__":
    sys.exit(main())
