"""Ten kills at random moments: nothing is lost, nothing is asked or counted twice.

``benchmarks/hundred_kills.py`` does the same a hundred times; its result is in docs/journal.md.
"""

import random

import pytest

from tests.bench_process import Bench
from tests.kill_rounds import Tally, one_round
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

KILLS = 10
SEED = 20


def test_ten_kills_at_random_moments_lose_nothing_and_repeat_nothing(tmp_path):
    chance, tally = random.Random(SEED), Tally()
    with running_simulator(tmp_path) as simulator:
        while tally.kills < KILLS:
            folder = tmp_path / f"run{tally.runs}"
            folder.mkdir()
            bench = Bench(folder=folder, url=simulator.url, is_covered=False)
            try:
                left = min(4, KILLS - tally.kills)
                one_round(bench, simulator, chance=chance, most_kills=left, tally=tally)
            finally:
                bench.end_all()
    assert tally.trials == 18 * tally.runs
