"""The larger profiles against the simulator: every case goes out, is judged and reported."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.cases import CASES, PROFILES
from bench.cases.problems.javascript import PROGRAM, printed
from bench.journal import read_journal
from tests.bench_process import Bench
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

QUICK = "sim-ttft5-n4"
OVERLAPPING = "sim-ttft500-itl2-n10"
"""Each waits for longer than a busy machine takes to send the others."""


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url)
    yield made
    made.end_all()


def most_in_flight(trials):
    changes = sorted(
        change
        for trial in trials
        for change in ((trial.started_offset_ms, 1), (trial.finished_offset_ms, -1))
    )
    in_flight, most = 0, 0
    for _, change in changes:
        in_flight += change
        most = max(most, in_flight)
    return most


@pytest.mark.parametrize("level", [8, 16])
def test_a_load_is_held_and_its_warmups_end_before_it_begins(bench, level):
    case_id = f"concurrency_{level}"
    runs = str(2 * level)
    code, _, said = bench.finish(bench.start_run(OVERLAPPING, "--case", case_id, "--runs", runs))
    assert code == 0, said
    trials = read_journal(bench.journal).trials
    warmups = [trial for trial in trials if trial.warmup]
    measured = [trial for trial in trials if not trial.warmup]
    assert (len(warmups), len(measured)) == (level, 2 * level)
    assert most_in_flight(warmups) == most_in_flight(measured) == level
    assert max(t.finished_offset_ms for t in warmups) <= min(t.started_offset_ms for t in measured)
    # Connections are opened before the block, so that no request waits for one.
    assert {trial.response.connection for trial in trials} == {"warm"}
    document = json.loads(bench.journal.with_suffix(".json").read_bytes())
    (curve,) = document["summary"]["load"]
    (point,) = curve["points"]
    assert (point["concurrency"], point["attempted"]) == (level, 2 * level)
    assert level / 2 < point["meanInFlight"] <= level


@pytest.mark.parametrize("profile", ["standard", "load"])
def test_a_profile_runs_to_its_reports(bench, profile):
    code, told, said = bench.finish(
        bench.start_run(QUICK, "--profile", profile, "--runs", "1", "--warmup", "0")
    )
    assert code == 0, said
    ledger = read_journal(bench.journal)
    assert [trial.case_id for trial in ledger.trials] == list(PROFILES[profile].case_ids)
    assert all(trial.response.error is None for trial in ledger.trials)
    judged = [t.case_id for t in ledger.trials if t.evaluation is not None]
    assert judged == [t.case_id for t in ledger.trials if CASES[t.case_id].info.kind == "quality"]
    # Filler answers nothing, and no judge fails over it.
    assert not any(t.evaluation.passed for t in ledger.trials if t.evaluation is not None)
    assert not any("raised" in (t.evaluation.detail or "") for t in ledger.trials if t.evaluation)
    pages = [Path(path) for path in told["files"]]
    markdown = next(path for path in pages if path.name.endswith("Z.md")).read_text()
    assert ("## Under load" in markdown) == (profile == "load")
    assert all(f"| {case_id} |" in markdown for case_id in PROFILES[profile].case_ids)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node here to run the program")
def test_node_prints_what_the_solver_says():
    done = subprocess.run(["node", "-e", PROGRAM], capture_output=True, text=True, check=True)  # noqa: S607 - whichever Node is there
    assert done.stdout.strip() == printed()
