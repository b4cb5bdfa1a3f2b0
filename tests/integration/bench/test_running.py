import io
import json
import os
import signal
import socket
import threading
import time
from dataclasses import replace

import pytest

from bench.app import RunRequest, Session, run_plan
from bench.cases import CASES
from bench.clock import SystemClock
from bench.errors import Interrupted, JournalUnwritable
from bench.journal import read_journal
from bench.model.run_config import RunConfig
from bench.model.target import Target
from bench.progress import Progress
from tests.asking import endpoint as endpoint_at
from tests.bench_process import KEY, Bench
from tests.cut_journal import cut_before_last_trial
from tests.paid_endpoint import paid_endpoint
from tests.patience import PATIENCE_S
from tests.simulator_process import running_simulator
from tests.small_disk import enlarge, small_disk

pytestmark = pytest.mark.integration

CASE = ("--case", "fixed_output_stream", "--warmup", "0")
QUICK = "sim-ttft20-itl1-tokens20"
SLOW = "sim-ttft150-itl10-tokens20"
HANGING = "sim-ttft30000"


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def bench(simulator, tmp_path):
    made = Bench(folder=tmp_path, url=simulator.url)
    yield made
    made.end_all()


def test_a_run_leaves_six_files_and_a_second_copy(bench):
    code, told, said = bench.finish(bench.start_run(QUICK, *CASE, "--runs", "3"))
    assert code == 0, said
    suffixes = [".json", ".md", ".html", "-timings.md", "-timings.csv", ".jsonl"]
    stem = str(bench.journal).removesuffix(".jsonl")
    assert told["files"] == [stem + suffix for suffix in suffixes]
    assert (told["planned"], told["done"], told["failed"]) == (3, 3, 0)
    ledger = read_journal(bench.journal)
    assert ledger.footer is not None
    assert (ledger.footer.reason, ledger.footer.exit_code) == ("done", 0)
    assert [t.outcome for t in ledger.trials] == ["completed"] * 3
    (kept,) = (bench.folder / "data/gateway-bench/runs").glob("*/*.jsonl")
    assert kept.samefile(bench.journal)
    assert kept.with_suffix(".json").exists()


def test_a_key_that_is_refused_ends_after_one_request_and_keeps_the_journal(bench, simulator):
    bench.token = "wrong"  # noqa: S105 - no secret
    begun_ns = time.perf_counter_ns()
    code, told, said = bench.finish(bench.start_run(QUICK, *CASE, "--runs", "3"))
    assert (code, told["reason"]) == (2, "key_rejected")
    assert "refused the key in `LOCAL_TEST_KEY` with HTTP 401" in said
    ledger = read_journal(bench.journal)
    assert ledger.footer is not None
    assert ledger.footer.reason == "key_rejected"
    assert len(ledger.trials) == 1
    chats = [
        r for r in simulator.records(since_ns=begun_ns) if "chat" in str(r.get("path", "chat"))
    ]
    assert len(ledger.missing) == 3
    assert len(chats) <= 2


def test_one_interrupt_finishes_what_is_in_flight(bench, endpoint):
    heard = threading.Event()
    endpoint.hold = lambda _: heard.wait(PATIENCE_S)
    bench.url = endpoint.url
    process = bench.start_run("m", *CASE, "--runs", "3", "--no-stream")
    bench.wait_for('"type":"started"')
    process.send_signal(signal.SIGINT)
    bench.hear(process, "in flight is being finished, nothing further is sent; a second Ctrl-C")
    heard.set()
    code, told, _ = bench.finish(process)
    assert (code, told["reason"]) == (130, "interrupted")
    ledger = read_journal(bench.journal)
    assert [trial.outcome for trial in ledger.trials] == ["completed"]
    assert ledger.possibly_billed == ()
    assert ledger.footer is not None
    assert ledger.footer.exit_code == 130
    assert {n.reason for n in ledger.footer.not_run} == {"interrupted"}


def test_two_interrupts_cancel_what_is_in_flight(bench):
    process = bench.start_run(HANGING, *CASE, "--runs", "2")
    bench.wait_for('"type":"started"')
    process.send_signal(signal.SIGINT)
    # Two at once would be one: the first has to be heard before the second comes.
    bench.hear(process, "a second Ctrl-C")
    process.send_signal(signal.SIGINT)
    code, told, _ = bench.finish(process)
    assert code == 130
    (trial,) = read_journal(bench.journal).trials
    assert (trial.outcome, trial.invalidated) == ("cancelled", "cancelled")
    assert len(told["files"]) == 6


def small_run(folder, url):
    """Return a run of one case whose journal is `cut.jsonl` in ``folder``."""
    request = RunRequest(
        config=RunConfig(model_ids=("m",), url=url, is_paid=False),
        targets=(Target(id="t", model="m", model_id="m", display_name="t"),),
        cases=(CASES["fixed_output_stream"],),
        output_folder=folder,
        stem="cut",
        run_id="cut-run",
    )
    session = Session(
        endpoint=endpoint_at(f"{url}/chat/completions"),
        progress=Progress(io.StringIO(), "quiet", width=80, clock=SystemClock()),
    )
    return request, session


def test_a_stranger_s_file_in_the_journal_s_place_is_left_alone_and_the_run_is_reported(tmp_path):
    def swap(_):
        (tmp_path / "cut.jsonl").unlink()
        (tmp_path / "cut.jsonl").write_text("a stranger's")

    with paid_endpoint() as there:
        there.hold = swap
        outcome = run_plan(*small_run(tmp_path, f"{there.url}/v1"))
    journal = tmp_path / "cut-put-back.jsonl"
    assert (tmp_path / "cut.jsonl").read_text() == "a stranger's"
    assert (outcome.journal, outcome.done) == (journal, outcome.planned)
    assert journal.with_suffix(".md") in outcome.files
    assert f"it was put back as `{journal}`, nothing is lost" in outcome.notes[0]


def test_a_journal_that_can_t_be_put_back_ends_the_run_as_unwritable(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()

    def swap(_):
        if folder.is_dir():
            (folder / "cut.jsonl").unlink()
            folder.rmdir()
            folder.write_text("in the way")

    with paid_endpoint() as there:
        there.hold = swap
        with pytest.raises(JournalUnwritable, match=r"cut\.jsonl` can't be written") as caught:
            run_plan(*small_run(folder, f"{there.url}/v1"))
    assert "name another output folder" in (caught.value.hint or "")


def test_a_journal_that_can_t_be_put_back_is_named_where_it_was_kept(tmp_path):
    folder, archive = tmp_path / "results", tmp_path / "kept"
    folder.mkdir()

    def swap(_):
        if folder.is_dir():
            (folder / "cut.jsonl").unlink()
            folder.rmdir()
            folder.write_text("in the way")

    with paid_endpoint() as there:
        there.hold = swap
        request, session = small_run(folder, f"{there.url}/v1")
        with pytest.raises(JournalUnwritable, match=r"can't be written") as caught:
            run_plan(request, replace(session, archive_folder=archive))
    kept = archive / "cut-run" / "cut.jsonl"
    assert f"is kept in `{kept}`: `gateway-bench resume {kept}`" in (caught.value.hint or "")
    assert all(trial.response.error is None for trial in read_journal(kept).trials)
    assert read_journal(kept).footer is not None


def test_one_interrupt_too_many_still_names_the_journal_and_how_to_go_on(tmp_path):
    """While reports are made no handler of the run's stands between Ctrl-C and Python's own."""

    def connect(_):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        run_plan(*small_run(tmp_path, "http://127.0.0.1:9/v1"), connect=connect)
    journal = tmp_path / "cut.jsonl"
    assert f"what was measured is in `{journal}`" in caught.value.message
    assert f"`gateway-bench resume {journal}` asks what is missing" in (caught.value.hint or "")
    assert (caught.value.exit_code, caught.value.run_id) == (130, "cut-run")
    assert read_journal(journal).missing


def test_a_termination_ends_like_one_interrupt_with_its_own_code(bench):
    process = bench.start_run(SLOW, *CASE, "--runs", "50")
    bench.wait_for('"type":"trial"')
    process.send_signal(signal.SIGTERM)
    code, _, _ = bench.finish(process)
    assert code == 143
    footer = read_journal(bench.journal).footer
    assert footer is not None
    assert (footer.reason, footer.exit_code) == ("interrupted", 143)


@pytest.fixture
def endpoint():
    with paid_endpoint() as served:
        yield served


def test_a_killed_run_is_rendered_and_resumed_without_asking_anything_twice(bench, endpoint):
    bench.url, bench.is_covered = endpoint.url, False
    killed = threading.Event()
    endpoint.hold = lambda _: len(endpoint.posts) < 3 or killed.wait(PATIENCE_S)
    process = bench.start_run("m", *CASE, "--runs", "6", "--no-stream")
    bench.wait_for('"type":"started"', 3)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    killed.set()
    bench.is_covered = True
    before = read_journal(bench.journal)
    had = {trial.id: trial for trial in before.trials}
    assert before.footer is None
    assert (len(had), len(before.possibly_billed)) == (2, 1)

    code, told, said = bench.do("render", str(bench.journal))
    assert code == 0, said
    assert (told["planned"], told["done"]) == (6, len(had))
    assert len(told["files"]) == 6

    code, told, said = bench.do("resume", str(bench.journal), "--api-key-env", KEY, "--yes")
    assert code == 0, said
    assert (told["planned"], told["done"]) == (6, 6)
    ledger = read_journal(bench.journal)
    assert {trial.id: trial for trial in ledger.trials if trial.id in had} == had
    assert ledger.superseded == ()
    assert len(ledger.resumed) == 1
    assert ledger.offset_ms >= before.offset_ms
    assert [start.trial_id for start in ledger.possibly_billed] == [
        start.trial_id for start in before.possibly_billed
    ]
    document = json.loads(bench.journal.with_suffix(".json").read_text())
    assert len(document["trials"]) == 6


@pytest.mark.parametrize(
    ("field", "said_of_it"),
    [
        ("textHash", "the text of case `fixed_output_stream` has changed"),
        ("id", "there is no case `other` any more"),
    ],
)
def test_a_case_that_changed_or_went_away_is_not_resumed(bench, field, said_of_it):
    bench.finish(bench.start_run(QUICK, *CASE, "--runs", "1"))
    lines = cut_before_last_trial(bench.journal).read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    header["cases"][0][field] = "other"
    bench.journal.write_bytes(b"".join([json.dumps(header).encode() + b"\n", *lines[1:]]))
    code, _, said = bench.do("resume", str(bench.journal), "--api-key-env", KEY)
    assert code == 2
    assert said_of_it in said


def test_reports_of_another_version_are_left_alone(bench):
    bench.finish(bench.start_run(QUICK, *CASE, "--runs", "1"))
    result = bench.journal.with_suffix(".json")
    document = json.loads(result.read_text())
    document["generator"]["version"] = "0.0.0-other"
    result.write_text(json.dumps(document))
    code, _, said = bench.do("render", str(bench.journal))
    assert code == 2
    assert "were made by version 0.0.0-other" in said
    assert json.loads(result.read_text())["generator"]["version"] == "0.0.0-other"
    code, told, _ = bench.do("render", str(bench.journal), "--output", str(bench.folder / "new"))
    assert code == 0
    assert len(told["files"]) == 6


# ---- with a job ---------------------------------------------------------------------------------


class Job:
    """The job's end of the line, played by the test."""

    def __init__(self, book):
        ours, self.theirs = socket.socketpair()
        self.file = ours.makefile("rwb")
        ours.close()
        self.book = book

    def say(self, **message):
        self.file.write(json.dumps(message).encode() + b"\n")
        self.file.flush()

    def hello(self):
        gateway = {"build": {"commit": "abc"}, "identity": {"pid": 1}, "events": []}
        self.say(
            type="hello",
            runId="run-of-the-job",
            launch={"preset": "demo"},
            gateway=gateway,
            simulatedUpstream=True,
            freeBecause="the upstream is the simulator",
            answerBook=str(self.book),
            graceMs=1000,
        )

    def hear(self):
        return json.loads(self.file.readline())

    def close(self):
        self.file.close()
        self.theirs.close()


@pytest.fixture
def job(simulator):
    made = Job(simulator.book_path)
    yield made
    made.close()


def test_a_job_is_told_where_the_journal_is_and_its_gateways_end_is_kept(bench, job):
    job.hello()
    words = ("--case", "seeded_grounded_unknown", "--warmup", "0", "--runs", "2")
    process = bench.start_run("sim-ttft20", *words, link=job.theirs.fileno())
    assert job.hear() == {"type": "journal", "path": str(bench.journal)}
    job.say(type="sample", atNs=1, values={"cpu": 0.5})
    assert job.hear() == {"type": "measured", "reason": "done"}
    job.say(type="outcome", gateway={"exit": {"status": 0}, "build": {"commit": "abc"}})
    code, told, said = bench.finish(process)
    assert code == 0, said
    ledger = read_journal(bench.journal)
    assert told["runId"] == ledger.header.run_id == "run-of-the-job"
    assert ledger.header.simulated
    assert ledger.header.launch == {"preset": "demo"}
    assert ledger.gateway is not None
    assert ledger.gateway.exit == {"status": 0}
    assert [s.values for s in ledger.samples] == [{"cpu": 0.5}]
    # The scenario's provider is always right where the answer book tells it what right is.
    assert [t.evaluation.passed for t in ledger.trials if t.evaluation] == [True, True]


def test_a_gateway_that_dies_ends_the_run_at_once(bench, job):
    job.hello()
    process = bench.start_run(HANGING, *CASE, "--runs", "3", link=job.theirs.fileno())
    assert job.hear()["type"] == "journal"
    bench.wait_for('"type":"started"')
    at_ns = time.perf_counter_ns()
    job.say(**{"type": "incident", "class": "gateway_killed", "atNs": at_ns, "summary": "SIGKILL"})
    assert job.hear() == {"type": "measured", "reason": "gateway"}
    job.say(type="outcome", gateway={"exit": {"signal": 9}})
    code, told, _ = bench.finish(process)
    assert (code, told["reason"]) == (4, "gateway")
    ledger = read_journal(bench.journal)
    (trial,) = ledger.trials
    assert (trial.outcome, trial.invalidated) == ("cancelled", "gateway_killed")
    (incident,) = ledger.incidents
    assert incident.at_ns == at_ns
    assert incident.noticed_ns is not None
    assert incident.noticed_ns > at_ns
    assert incident.touched_trials == (trial.id,)
    assert len(ledger.missing) == 3


def test_a_failed_answer_makes_the_run_ask_the_job(bench, job):
    job.hello()
    process = bench.start_run("sim-status503", *CASE, "--runs", "1", link=job.theirs.fileno())
    assert job.hear()["type"] == "journal"
    asked = job.hear()
    assert (asked["type"], asked["code"]) == ("ask", "http_503")
    assert isinstance(asked["localPort"], int)
    job.say(type="answer", id=asked["id"], incident=None)
    assert job.hear() == {"type": "measured", "reason": "no_success"}
    job.say(type="outcome", gateway={})
    code, _, _ = bench.finish(process)
    assert code == 5
    assert read_journal(bench.journal).trials[0].invalidated is None


def test_a_job_that_dies_does_not_take_the_run_along(bench, job, endpoint):
    has_died = threading.Event()
    endpoint.hold = lambda _: has_died.wait(PATIENCE_S)
    bench.url = endpoint.url
    job.hello()
    words = (*CASE, "--runs", "3", "--no-stream")
    process = bench.start_run("m", *words, link=job.theirs.fileno())
    assert job.hear()["type"] == "journal"
    bench.wait_for('"type":"started"')
    job.close()
    has_died.set()
    code, _, said = bench.finish(process)
    assert code == 0, said
    ledger = read_journal(bench.journal)
    assert len(ledger.trials) == 3
    assert [i.incident_class for i in ledger.incidents] == ["watcher_lost"]


# ---- a full disk --------------------------------------------------------------------------------


def test_a_full_disk_ends_the_run_and_with_room_again_it_is_resumed(bench):
    with small_disk(bench.output, kilobytes=96):
        code, told, said = bench.finish(bench.start_run("sim-tokens200", *CASE, "--runs", "12"))
        assert (code, told["reason"]) == (5, "disk_full"), said
        assert f"`{bench.journal}` can't be written: no space left on device" in said
        assert "gateway-bench resume" in str(told["next"])
        assert "planned trials were measured: the disk was full" in " ".join(said.split())
        had = len(read_journal(bench.journal).trials)
        assert 0 < had < 12
        enlarge(bench.output, kilobytes=8192)
        code, told, said = bench.do("resume", str(bench.journal), "--api-key-env", KEY)
        assert code == 0, said
        assert (told["planned"], told["done"]) == (12, 12)
        assert read_journal(bench.journal).damaged_lines <= 1
        assert len(told["files"]) == 6


def test_a_disk_without_room_for_the_header_keeps_no_half_journal(bench):
    with small_disk(bench.output, kilobytes=4):
        code, told, said = bench.finish(bench.start_run("sim-tokens200", *CASE, "--runs", "99"))
        assert (code, told["reason"]) == (5, "journal_unwritable"), said
        assert "hint: nothing was asked: free some space" in said
        assert list(bench.output.iterdir()) == []
