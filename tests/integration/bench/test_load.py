"""Load against the simulator by the command itself: shapes, ends, and what a kill leaves."""

import json
import signal

import pytest

from bench.journal import read_journal
from bench.model.load import StageDone
from bench.stage_book import StageEntry
from tests.bench_process import Bench
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

QUICK = "sim-ttft5-itl1-n4"
LONG = "sim-ttft30-itl5-n20"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url)
    yield made
    made.end_all()


def stages_of(bench):
    return read_journal(bench.journal).stages.entries


def done_of(entry: StageEntry) -> StageDone:
    assert entry.done is not None
    return entry.done


def test_steps_are_run_counted_and_shown(bench):
    code, _, said = bench.finish(
        bench.start_run(QUICK, "-c", "1,3", "-n", "9", "--slo", "total=10s")
    )
    assert code == 0, said
    one, three = stages_of(bench)
    assert [(done_of(e).reason, e.columns.count()) for e in (one, three)] == [("requests", 9)] * 2
    assert done_of(three).client.stamps in {"kernel", "loop"}
    assert done_of(three).client.connections_opened == 0
    document = json.loads(bench.journal.with_suffix(".json").read_text())
    (series,) = document["summary"]["loadSeries"]
    assert [s["attainment"]["rate"] for s in series["stages"]] == [1.0, 1.0]
    assert document["vantage"]["address"] == "127.0.0.1"
    assert "Load stages" in bench.journal.with_suffix(".md").read_text()
    assert "3 at once: 9 requests" in said


def test_a_rate_is_kept_and_the_default_case_is_asked(bench):
    code, _, said = bench.finish(
        bench.start_run(QUICK, "--rate", "100/s", "--arrival", "constant", "-n", "20")
    )
    assert code == 0, said
    (entry,) = stages_of(bench)
    assert entry.begun.case_id == "fixed_output_stream"
    due = sorted(entry.columns.due_ms)
    assert [round(at - due[0]) for at in due] == [10 * n for n in range(20)]
    assert all(s >= d for s, d in zip(entry.columns.started_ms, entry.columns.due_ms, strict=True))


def test_a_recorded_trace_comes_with_its_sizes(bench, tmp_path):
    trace = tmp_path / "trace.jsonl"
    rows = [{"timestamp": 40 * n, "input_length": 10 + n, "output_length": 2} for n in range(3)]
    trace.write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, said = bench.finish(bench.start_run(QUICK, "--trace", str(trace)))
    assert code == 0, said
    (entry,) = stages_of(bench)
    assert done_of(entry).reason == "trace"
    sizes = {
        t.run: t.parameters["maxTokens"] for t in read_journal(bench.journal).trials if not t.warmup
    }
    assert sizes == {1: 2, 2: 2, 3: 2}


def test_right_answers_are_known_under_load_too(bench):
    code, _, said = bench.finish(
        bench.start_run(QUICK, "--case", "seeded_shortest_path", "-n", "4", "-c", "2")
    )
    assert code == 0, said
    trials = [t for t in read_journal(bench.journal).trials if not t.warmup]
    assert len({t.prompt_hash for t in trials}) == 4
    assert all(t.evaluation is not None for t in trials)


def test_an_interrupt_ends_the_stage_and_resume_repeats_it(bench):
    run = bench.start_run(LONG, "-c", "2", "-d", "60s")
    bench.wait_for('"type":"trial"', 4)
    run.send_signal(signal.SIGINT)
    code, _, said = bench.finish(run)
    assert code == 130, said
    (entry,) = stages_of(bench)
    assert (done_of(entry).reason, done_of(entry).detail) == ("stopped", "interrupted")
    assert [trial.id for trial in read_journal(bench.journal).missing] == [
        f"{LONG}|fixed_output_stream|s1r1"
    ]


def test_what_contradicts_itself_is_refused_before_anything_is_sent(bench):
    code, _, said = bench.finish(
        bench.start_run(QUICK, "--rate", "5/s", "--sweep", "1..4", "-n", "3")
    )
    assert code == 2
    assert "exclude each other" in said
