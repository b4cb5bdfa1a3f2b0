"""What `resume` compares before it asks anything."""

import json
import re
import threading
import time

import pytest

from bench.journal import Journal, read_journal
from tests.bench_process import KEY, Bench
from tests.cut_journal import cut_before_last_trial
from tests.paid_endpoint import paid_endpoint
from tests.patience import PATIENCE_S
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

CASE = ("--case", "seeded_grounded_unknown", "--runs", "2")


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url)
    yield made
    made.end_all()


def cut(bench, *, model="demo-small", words=CASE, change=lambda header: None):
    """A run of which the last trial is missing, with another header."""
    code, _, said = bench.finish(bench.start_run(model, *words))
    assert code == 0, said
    journal = cut_before_last_trial(bench.journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    change(header)
    journal.write_bytes(b"".join([json.dumps(header).encode() + b"\n", *lines[1:]]))
    return journal


def resume(bench):
    return bench.do("resume", str(bench.journal), "--api-key-env", KEY)


def test_a_run_that_still_goes_on_is_refused_before_money_and_keys_are_spoken_of(bench):
    journal = cut(bench)
    before = journal.read_bytes()
    with Journal.open_for_append(journal):
        code, _told, said = bench.do("resume", str(journal))
    assert code == 5
    first, *_ = said.splitlines()
    assert first == (
        f"error: `{journal}` is being written by another process: the run is still going on"
    )
    assert not re.search("paid|key|--yes", said)
    assert journal.read_bytes() == before


def test_a_target_that_is_another_one_now_is_refused_before_anything_is_asked(bench, simulator):
    def change(header):
        header["targets"][0]["metadata"]["quantization"] = "fp8"

    journal = cut(bench, words=(*CASE, "--mapping", "sloppy"), change=change)
    before, begun_ns = journal.read_bytes(), time.perf_counter_ns()
    code, _, said = resume(bench)
    assert code == 2
    assert (
        "can't be resumed: quantization of target `sloppy/demo-small` was `fp8` and is now `int4`"
        in said
    )
    assert journal.read_bytes() == before
    paths = [record["path"] for record in simulator.records(since_ns=begun_ns)]
    assert not [path for path in paths if path.endswith("completions")]


def test_a_coding_task_that_is_through_is_no_hindrance_to_the_rest(bench):
    tasks = ("--case", "agentic_bugfix_small,seeded_grounded_unknown", "--runs", "1")
    code, told, said = bench.finish(
        bench.start_run("sim-sloppy", *tasks, "--allow-reduced-sandbox")
    )
    assert code == 0, said
    journal = bench.journal
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if b'"caseId":"seeded_grounded' not in line[:400]]
    header = json.loads(kept[0])
    assert len(header["cases"]) == 2
    journal.write_bytes(b"".join(line for line in kept if b'"type":"footer"' not in line[:20]))
    missing = {trial.case_id for trial in read_journal(journal).missing}
    assert missing == {"seeded_grounded_unknown"}
    code, told, said = resume(bench)
    assert code == 0, said
    assert told["done"] == told["planned"] == 2


def test_a_run_without_a_document_says_what_is_lost_and_where_everything_is(bench):
    words = ("--case", "fixed_output_stream", "--runs", "3", "--warmup", "0", "--no-stream")
    is_in_the_way = threading.Event()
    with paid_endpoint() as endpoint:
        endpoint.hold = lambda _: is_in_the_way.wait(PATIENCE_S)
        bench.url = endpoint.url
        process = bench.start_run("m", *words)
        bench.wait_for('"type":"started"')
        in_the_way = bench.journal.with_suffix(".json")
        in_the_way.mkdir()
        is_in_the_way.set()
        code, told, said = bench.finish(process)
    assert (code, told["reason"]) == (1, "report_failed")
    where = f"3 trials and what was paid are in the journal `{bench.journal}`"
    assert f"no result document was saved; nothing is lost: {where}" in said
    assert told["next"] == f"gateway-bench render {bench.journal}"
    assert "makes every file again, without one request" in said
    in_the_way.rmdir()
    code, told, _ = bench.do("render", str(bench.journal))
    assert (code, told["done"], len(told["files"])) == (0, 3, 6)
