"""Does a run survive SIGKILL at any moment?

    python -m benchmarks.hundred_kills [KILLS] [SEED]

Runs of the smoke profile against the simulator are killed at random moments and gone on with by
`resume`, each up to four times, until there were so many kills (100 unless told otherwise). After
each kill and at each end the journal's own lines and the simulator's log of requests are held
against what is reported: ``tests/kill_rounds.py`` says what must hold, and the first thing that
does not ends this with its place. Prints a table of what happened.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

from tests.bench_process import Bench
from tests.kill_rounds import Tally, one_round
from tests.simulator_process import running_simulator

KILLS_OF_A_RUN = 4


def main() -> int:
    """Kill, go on, check, print; return 0."""
    words = [int(word) for word in sys.argv[1:3]]
    wanted, seed = words + [100, 1][len(words) :]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kills") as made:
        tally = rounds(Path(made), random.Random(seed), wanted)
    for name, value in table(tally):
        print(f"| {name} | {value} |")
    print(f"seed {seed}, {time.monotonic() - began:.0f} s")
    return 0


def rounds(folder: Path, chance: random.Random, wanted: int) -> Tally:
    """Let runs be killed until there were ``wanted`` kills."""
    tally = Tally()
    with running_simulator(folder) as simulator:
        while tally.kills < wanted:
            place = folder / f"run{tally.runs}"
            place.mkdir()
            bench = Bench(folder=place, url=simulator.url, is_covered=False)
            try:
                most = min(KILLS_OF_A_RUN, wanted - tally.kills)
                one_round(bench, simulator, chance=chance, most_kills=most, tally=tally)
            finally:
                bench.end_all()
    return tally


def table(tally: Tally) -> list[tuple[str, str]]:
    """Return what happened, in words and numbers."""
    places = sorted(tally.moments)
    return [
        ("runs, all finished in the end", str(tally.runs)),
        ("kills", str(tally.kills)),
        ("of them before there was a journal", str(tally.before_journal)),
        ("of them after the last record, while reports were written", str(tally.after_footer)),
        ("of them that cut a record", str(tally.cut_lines)),
        ("of them with a request in flight: shown as possibly billed", str(tally.in_flight)),
        ("records in the journal at a kill", f"{places[0]} to {places[-1]}"),
        ("planned trials, each recorded exactly once", str(tally.trials)),
        ("requests that the simulator got", str(tally.requests)),
    ]


if __name__ == "__main__":
    sys.exit(main())
