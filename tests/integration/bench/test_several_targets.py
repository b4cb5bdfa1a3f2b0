"""The real command on an endpoint that refuses, and on two targets side by side."""

import json
import threading

import msgspec
import pytest

from bench.model.header import Header
from bench.plan import build_plan
from tests.bench_process import Bench
from tests.paid_endpoint import paid_endpoint
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration
QUALITY = ("seeded_grounded_known", "tool_selection_exact", "calibrated_probability")
PERFORMANCE = ("output_length_32", "fixed_output_stream")


@pytest.fixture
def endpoint():
    with paid_endpoint() as served:
        yield served


@pytest.fixture
def bench(tmp_path, endpoint):
    made = Bench(folder=tmp_path, url=endpoint.url)
    yield made
    made.end_all()


def run(bench, *words):
    """Run to the end; return the records, the document and the Markdown report."""
    address = ("--url", bench.url, "--api-key-env", "LOCAL_TEST_KEY", "--dialect", "plain", "--yes")
    code, told, said = bench.do("bench", *words, *address)
    assert code == 0, said
    records = [json.loads(line) for line in bench.journal.read_bytes().splitlines()]
    document = json.loads(bench.journal.with_suffix(".json").read_text())
    assert told["done"] == len([one for one in records if one["type"] == "trial"])
    return records, document, bench.journal.with_suffix(".md").read_text()


def test_what_was_refused_once_is_sent_again_and_stays_a_refusal_in_reliability(bench, endpoint):
    endpoint.refusals = 1
    words = ("m", "--case", QUALITY[0], "--runs", "3", "--retry-429", "2")
    records, document, report = run(bench, *words)
    assert len(endpoint.posts) == 4
    assert endpoint.posts[0][1] == endpoint.posts[1][1], "another request was sent"
    (refused,) = [one for one in records if one["type"] == "refused"]
    first = next(one for one in records if one["type"] == "trial")
    assert refused["trialId"] == first["trial"]["id"]
    assert (first["attempt"], first["trial"]["outcome"]) == (2, "completed")
    assert refused["refusal"]["error"]["status"] == 429
    assert first["trial"]["refusals"] == [refused["refusal"]]
    (target,) = document["summary"]["targets"]
    reliability = target["reliability"]
    assert reliability["retriedRequests"] == 1
    assert reliability["successRate"] == pytest.approx(2 / 3)
    assert [reliability["successAfterRetries"][name] for name in ("hits", "of")] == [3, 3]
    assert "Sent again" in report
    assert "HTTP 429" in report


def test_a_refusal_is_the_result_without_the_option(bench, endpoint):
    endpoint.refusals = 1
    records, document, _ = run(bench, "m", "--case", QUALITY[0], "--runs", "3")
    assert len(endpoint.posts) == 3
    assert "refused" not in {one["type"] for one in records}
    assert document["summary"]["targets"][0]["reliability"]["retriedRequests"] == 0


def test_a_target_that_stalls_does_not_starve_a_fast_one(bench, endpoint):
    """It stalls until the other one is through: with all places held, neither would go on."""
    runs, lock, through = 6, threading.Lock(), threading.Event()
    answered, in_vain = [], []

    def hold(body):
        if body["model"] == "stalls":
            if not through.wait(PATIENCE_S / 2):
                in_vain.append(body)
            return
        with lock:
            answered.append(body)
        if len(answered) == runs:
            through.set()

    endpoint.hold = hold
    models = ("--model", "stalls", "--model", "fast", "--parallel-groups", "2")
    run(bench, *models, "--case", QUALITY[0], "--runs", str(runs))
    assert in_vain == []
    assert len(endpoint.posts) == 2 * runs


def test_requests_follow_the_seeded_plan_in_which_targets_take_turns(bench):
    cases = ("--case", ",".join((*QUALITY, *PERFORMANCE)))
    models = ("--model", "a", "--model", "b", "--model", "c")
    records, _, _ = run(bench, *models, *cases, "--runs", "4", "--warmup", "0", "--seed", "11")
    header = msgspec.json.decode(bench.journal.read_bytes().splitlines()[0], type=Header)
    planned = [trial.id for block in header.plan for trial in block.trials]
    assert [one["trialId"] for one in records if one["type"] == "started"] == planned
    again = build_plan(header.targets, header.cases, seed=11, runs=4, warmup=0)
    assert again == header.plan
    assert build_plan(header.targets, header.cases, seed=12, runs=4, warmup=0) != header.plan
    for case in (*QUALITY, *PERFORMANCE):
        blocks = [block.target_id for block in header.plan if block.case_id == case]
        rounds = [blocks[start : start + 3] for start in range(0, len(blocks), 3)]
        assert sorted(rounds[0]) == ["a", "b", "c"]
        assert rounds == [rounds[0], rounds[0][::-1]] * 2
    alone = {block.case_id for block in header.plan if block.alone}
    assert alone == set(PERFORMANCE)
