"""Gates by the command itself: exit codes, what is written down, and what a resumed run says."""

import json

import pytest

from bench.journal import read_journal
from tests.bench_process import Bench
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

QUICK = "sim-n2"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url)
    yield made
    made.end_all()


def document_of(bench):
    return json.loads(bench.journal.with_suffix(".json").read_text())


def test_a_gate_that_fails_ends_with_6_and_stands_in_everything_that_is_written(bench):
    words = ("--case", "fixed_output_stream", "--runs", "4", "--max-tokens", "2")
    gates = ("--fail-on", "cost=0.000000001usd", "--fail-on", "ttft.p99=60s")
    code, said, talk = bench.finish(bench.start_run(QUICK, *words, *gates, "--json"))
    assert code == 6, talk
    assert (said["status"], said["reason"]) == ("gate_failed", "gate_failed")
    assert said["headline"].startswith("Gate failed: cost=0.000000001usd; gate undecided: ttft")
    assert [one["verdict"] for one in said["detail"]["gates"]] == ["failed", "undecided"]
    assert read_journal(bench.journal).header.config.gates == (
        "cost=0.000000001usd",
        "ttft.p99=60s",
    )
    assert [one["verdict"] for one in document_of(bench)["summary"]["gates"]] == [
        "failed",
        "undecided",
    ]
    html = bench.journal.with_suffix(".html")
    assert "Gate failed: cost" in html.read_text()
    html.unlink()
    code, _, talk = bench.do("render", str(bench.journal))
    assert code == 0, talk
    assert "Gate failed: cost" in html.read_text()
    code, said, _ = bench.do("resume", str(bench.journal), "--json")
    assert (code, said["reason"]) == (6, "gate_failed")


def test_an_undecided_gate_is_a_warning_and_with_strict_the_exit_code(bench):
    words = ("--case", "fixed_output_stream", "--runs", "1", "--fail-on", "success=99%")
    code, _, talk = bench.finish(bench.start_run(QUICK, *words))
    assert code == 0, talk
    assert "warning: undecided: `success=99%`" in talk
    code, said, talk = bench.finish(bench.start_run(QUICK, *words, "--strict", "--again", "--json"))
    assert (code, said["reason"]) == (8, "gate_undecided"), talk


def test_gates_that_mean_nothing_here_are_refused_before_anything_is_sent(bench):
    code, said, talk = bench.finish(
        bench.start_run(QUICK, "--fail-on", "tft.p50=1s", "--fail-on", "rate=2", "--json")
    )
    assert code == 2, said
    assert "did you mean `ttft`" in talk
    assert "a number with `/s`" in talk
    assert not list(bench.output.glob("*.jsonl"))
