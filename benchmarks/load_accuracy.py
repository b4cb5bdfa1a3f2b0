"""How true the command's own figures are under load, and how its cost grows with the load.

Usage, on Linux with ``cc``::

    python -m benchmarks.load_accuracy [--reps 5] [--scenes truth,streams,rates] [--most-streams 4000]

*truth*: TTFT 50 ms, 100 tokens 10 ms apart, by the whole command with scheduler, journal and display:
how much longer each TTFT is than what the server took from the arrival of that request, by its kernel's stamp, to its
first write, and, from the reading of the clock that
the server put into its last token, how wrong the stamp of that token is. *streams*: 1 to 4,000 streams
at 200 ms between tokens. *rates*: requests offered a second. A linear cost is the same in every row.
Figures are medians over repeats, in turn; the load average stands beside them.
"""

import argparse
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.model.load import StageDone
from bench.model.steps import TrialDone
from bench.model.trial import Trial
from bench.shards import RecordReader
from benchmarks.load_peers.__main__ import table
from benchmarks.load_peers.mock import REAL, Mock, Pace, running
from benchmarks.load_peers.stage import Cost, run
from benchmarks.load_peers.tools import OURS, Order

SLOW = Pace(ttft_ms=200, itl_ms=200, tokens=25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked of the command."""

    name: str
    pace: Pace
    words: tuple[str, ...]
    ideal_per_s: float
    """Requests a second if nothing took time."""
    streams: int = 1
    """In flight from the first request's beginning to the last one's, once all have begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What one run said, beside what the server knows."""

    ttft_error_ms: tuple[float, ...]
    stamp_error_us: tuple[float, ...]
    """Of the last token's arrival, which no server can say before it was sent."""
    share: float
    """Of the ideal rate, while all streams were busy."""
    cpu_us_per_event: float
    utilisation: float
    """Of the busiest second."""
    receive_lag_p99_ms: float | None
    load_average: float

    @classmethod
    def of(cls, load: Load, mock: Mock, cost: Cost, journal: Path) -> "Truth":
        """Return the truth about a run from its journal and the server's log."""
        with journal.open("rb") as file:
            records = list(RecordReader(iter(file)))
        trials = [one.trial for one in records if isinstance(one, TrialDone)]
        measured = [one for one in trials if not one.warmup and one.response.error is None]
        (done,) = [one for one in records if isinstance(one, StageDone)]
        told = {one.last_ns: one for one in mock.served}
        pairs = [
            (one, one.response.timing, told[int(one.response.system_fingerprint)])
            for one in measured
            if one.response.system_fingerprint
        ]
        return cls(
            ttft_error_ms=tuple(
                sorted(
                    t.first_content_ms - true.ttft_ms for _, t, true in pairs if t.first_content_ms
                )
            ),
            stamp_error_us=tuple(
                sorted(
                    ((one.sent_at_ns or 0) + t.last_token_ms * 1e6 - true.last_ns) / 1e3
                    for one, t, true in pairs
                    if t.last_token_ms
                )
            ),
            share=(steady_per_s(measured, load.streams) if load.streams else sent_per_s(measured))
            / load.ideal_per_s,
            cpu_us_per_event=1e6 * cost.cpu_s / mock.events,
            utilisation=done.client.utilisation_max or 0.0,
            receive_lag_p99_ms=done.client.receive_lag_p99_ms,
            load_average=os.getloadavg()[0],
        )


def measured(load: Load) -> Truth:
    """Run the command once under a load against a server of its own.

    Raises:
        RuntimeError: It ended with another status than 0.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with running(load.pace) as mock:
            order = Order(url=mock.url, streams=1, requests=1, folder=folder)
            words = [*OURS.words(order)]
            at = words.index("-c")
            words[at : at + 4] = load.words
            cost = run(words, folder, OURS.environment(order))
        if cost.status != 0:
            last = (folder / "out.txt").read_text(errors="replace").splitlines()[-3:]
            message = f"{load.name}: status {cost.status}: {last}"
            raise RuntimeError(message)
        (journal,) = folder.glob("out/*.jsonl")
        return Truth.of(load, mock, cost, journal)


def steady_per_s(trials: Sequence[Trial], streams: int) -> float:
    """Return the answers a second while all streams were busy: without the ramp and the last wave."""
    begun = sorted(one.started_offset_ms for one in trials)
    ended = [one.finished_offset_ms for one in trials]
    first, last = begun[min(streams, len(begun)) - 1], begun[-1]
    if last <= first:
        return math.nan
    return 1e3 * sum(first < at <= last for at in ended) / (last - first)


def sent_per_s(trials: Sequence[Trial]) -> float:
    """Return the requests sent a second."""
    begun = sorted(one.started_offset_ms for one in trials)
    return 1e3 * (len(begun) - 1) / (begun[-1] - begun[0])


def closed(streams: int, pace: Pace, *, waves: int, name: str = "", more: str = "") -> Load:
    """Return a closed loop of so many requests for each stream."""
    words = ("-c", str(streams), "-n", str(streams * waves), *more.split())
    return Load(
        name=name or str(streams),
        pace=pace,
        words=words,
        ideal_per_s=1e3 * streams / pace.total_ms,
        streams=streams,
    )


def rated(rate: int, seconds: int) -> Load:
    """Return an open loop at a constant rate."""
    words = ("--rate", f"{rate}/s", "--arrival", "constant", "-d", f"{seconds}s")
    short = Pace(ttft_ms=20, itl_ms=5, tokens=20)
    return Load(name=f"{rate}/s", pace=short, words=words, ideal_per_s=rate, streams=0)


def scene(name: str, most_streams: int) -> list[Load]:
    """Return the loads of one scene."""
    match name:
        case "truth":
            return [
                closed(16, REAL, waves=6, name="16"),
                closed(64, REAL, waves=6, name="64"),
                closed(256, REAL, waves=4, name="256 in lock-step", more="--lock-step"),
                closed(256, REAL, waves=6, name="256 ramped, warm"),
            ]
        case "streams":
            wanted = (1, 4, 16, 64, 256, 1000, 2000, 4000)
            return [closed(n, SLOW, waves=2) for n in wanted if n <= most_streams]
        case _:
            return [rated(rate, 5) for rate in (10, 20, 50, 100, 200, 400)]


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value of nearest rank."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row(load: Load, found: Sequence[Truth]) -> list[str]:
    """Return one row: medians over the repeats."""

    def middle(values: Sequence[float]) -> float:
        return statistics.median(values)

    ttft50 = middle([percentile(one.ttft_error_ms, 0.5) for one in found])
    ttft99 = middle([percentile(one.ttft_error_ms, 0.99) for one in found])
    stamps = [one.stamp_error_us for one in found if one.stamp_error_us]
    lags = [one.receive_lag_p99_ms for one in found if one.receive_lag_p99_ms is not None]
    loads = [one.load_average for one in found]
    return [
        load.name,
        f"{ttft50:+.2f}",
        f"{ttft99:+.2f}",
        f"{middle([percentile(each, 0.99) for each in stamps]):.0f}" if stamps else "-",
        f"{middle(lags):.2f}" if lags else "-",
        f"{100 * middle([one.share for one in found]):.1f} %",
        f"{middle([one.cpu_us_per_event for one in found]):.1f}",
        f"{100 * middle([one.utilisation for one in found]):.0f} %",
        f"{min(loads):.1f}-{max(loads):.1f}",
        str(len(found)),
    ]


HEAD = (
    "load",
    "TTFT error p50 ms",
    "p99 ms",
    "stamp error p99 us",
    "turn p99 ms",
    "of the ideal rate",
    "CPU us/event",
    "busiest second",
    "load average",
    "n",
)


def main(argv: Sequence[str]) -> int:
    """Measure in turn, print a table for each scene."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load_accuracy")
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--scenes", default="truth,streams,rates")
    parser.add_argument("--most-streams", type=int, default=4000)
    asked = parser.parse_args(argv)
    for name in asked.scenes.split(","):
        loads = scene(name, asked.most_streams)
        found: dict[str, list[Truth]] = {load.name: [] for load in loads}
        for _ in range(asked.reps):
            for load in loads:
                try:
                    found[load.name].append(measured(load))
                except (RuntimeError, TimeoutError) as fault:
                    sys.stderr.write(f"left out: {fault}\n")
        print(f"**{name}**\n")
        print(table(HEAD, [row(one, found[one.name]) for one in loads if found[one.name]]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
