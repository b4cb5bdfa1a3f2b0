"""Load sent by several real processes: shares, one beginning, losses, money, secrets."""

import os
import resource
import signal
import sys
import threading
import time
from collections import Counter

import pytest

from bench.document import build_document
from bench.errors import JournalUnreadable, LoadProcessLost
from bench.journal import read_journal
from bench.model.load import Stage
from bench.model.target import Prices
from bench.prepare.unfinished import find_unfinished
from bench.shards import is_shard
from tests.led_run import LedRun
from tests.paid_endpoint import paid_endpoint
from tests.patience import PATIENCE_S
from tests.simulator_process import TOKEN, running_simulator

pytestmark = pytest.mark.integration

QUICK = "sim-ttft5-itl1-n4"
DEAR = "sim-ttft5-itl0-n400"
"""Its long answers have a price that a few hundred of them reach a limit with."""


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator")) as made:
        yield made


@pytest.fixture
def led(simulator, tmp_path):
    return LedRun(folder=tmp_path, url=simulator.base_url, model=QUICK)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_two_processes_send_every_request_of_a_stage_once(led, simulator):
    begun_ns = time.perf_counter_ns()
    outcome = led.run(Stage(number=1, concurrency=3, requests=21, warmups=3))
    assert (outcome.exit_code, outcome.reason) == (0, "done")
    ledger = led.ledger
    (entry,) = ledger.stages.entries
    assert (entry.columns.count(), entry.columns.warmups, entry.lost) == (21, 3, 0)
    assert len(set(entry.columns.numbers)) == 21
    assert len(simulator.wait_for_records(24, since_ns=begun_ns)) == 24
    done = entry.done
    assert done is not None
    assert (done.reason, done.sent) == ("requests", 21)
    assert [sender.sent for sender in done.senders] == [11, 10]
    assert all(sender.lost is None for sender in done.senders)
    assert done.client.requests == 21
    assert ledger.broken_shards == {}
    assert ledger.possibly_billed == ()
    assert not any(alive(pid) for pid in led.pids.values())


def test_an_open_loop_keeps_one_schedule_between_them(led):
    led.run(Stage(number=1, rate_per_second=100.0, arrival="constant", requests=20))
    (entry,) = led.ledger.stages.entries
    due = sorted(entry.columns.due_ms)
    assert [round(at - due[0]) for at in due] == [10 * n for n in range(20)]
    assert all(s >= d for s, d in zip(entry.columns.started_ms, entry.columns.due_ms, strict=True))
    assert entry.done is not None
    assert entry.done.scheduled == 20


class KillsOne:
    """Kills the second load process while each of four connections waits for its third answer."""

    def __init__(self, led):
        self.led = led
        self.asked: Counter[int] = Counter()
        self.waiting = 0
        self.lock, self.is_done = threading.Lock(), threading.Event()

    def __call__(self, _body):
        with self.lock:
            connection = threading.get_ident()
            self.asked[connection] += 1
            if self.asked[connection] <= 2 or self.is_done.is_set():
                return
            self.waiting += 1
            if self.waiting == 4:
                os.kill(self.led.pids[2], signal.SIGKILL)
                self.is_done.set()
        self.is_done.wait(PATIENCE_S)


def test_a_killed_process_ends_its_stage_and_resume_repeats_it_without_counting_twice(tmp_path):
    with paid_endpoint() as endpoint:
        led = LedRun(folder=tmp_path, url=f"{endpoint.url}/v1", model="m")
        led.settings = {"stream": False}
        endpoint.hold = KillsOne(led)
        _kill_and_resume(led)


def _kill_and_resume(led):
    stages = [Stage(number=n, concurrency=4, requests=24) for n in (1, 2)]
    outcome = led.run(*stages)
    assert (outcome.exit_code, outcome.reason) == (5, "worker_lost")
    ledger = led.ledger
    assert ledger.broken_shards == {2: "it was killed by SIGKILL"}
    first, second = ledger.stages.entries
    assert first.done is not None
    assert second.done is not None
    assert first.done.reason == "worker_lost"
    assert not first.is_finished
    # The next stage goes on with who is left, and is whole.
    assert (second.done.reason, second.columns.count()) == ("requests", 24)
    assert [sender.number for sender in second.done.senders] == [1]
    assert second.done.detail == "sent by 1 of 2 load processes, the rest was lost before"
    assert first.lost == len(ledger.possibly_billed) == 2
    recorded = first.columns.count()
    assert recorded == len(set(first.columns.numbers))

    outcome = led.resume()
    assert (outcome.exit_code, outcome.reason) == (0, "done")
    ledger = led.ledger
    counts = {entry.stage.number: entry.columns.count() for entry in ledger.stages.entries}
    assert counts == {1: 24, 2: 24}
    assert [shard.number for shard in ledger.shards] == [1, 2, 3, 4]
    attempts = Counter(ledger.stages.attempts.values())
    assert attempts == {2: 1, 1: 1}
    # What the lost attempt sent is paid, and in no figure.
    assert sum(charge.requests for charge in ledger.charges) == 48 + recorded + first.lost


def test_money_is_dealt_in_slices_and_never_passes_the_limit(led):
    # Each first slice, a quarter, holds two reserves: who begins late still has its own money.
    led.model = DEAR
    led.prices = Prices(input_usd=1e-6, output_usd=1e-5)
    led.settings = {"max_cost_usd": 0.05}
    outcome = led.run(*(Stage(number=n, concurrency=4, requests=400) for n in (1, 2)))
    assert (outcome.exit_code, outcome.reason) == (5, "max_cost")
    ledger = led.ledger
    (entry,) = ledger.stages.entries
    assert entry.done is not None
    assert entry.done.reason == "max_cost"
    assert 0 < ledger.known_spend_usd <= 0.05
    assert all(sender.sent for sender in entry.done.senders)


def test_a_process_that_cannot_write_is_told_and_nothing_is_sent(led, simulator):
    begun_ns = time.perf_counter_ns()
    led.shard(2).write_text("somebody else's\n")
    with pytest.raises(LoadProcessLost, match=r"load process 2 is gone: .*file exists"):
        led.run(Stage(number=1, concurrency=2, requests=4))
    assert simulator.records(since_ns=begun_ns) == []
    assert led.shard(2).read_text() == "somebody else's\n"


def test_a_part_of_a_run_is_no_run_and_holds_no_secret(led):
    led.run(Stage(number=1, concurrency=2, requests=4))
    for path in (led.journal, led.shard(1), led.shard(2)):
        assert TOKEN not in path.read_text()
    assert is_shard(led.shard(1))
    assert not is_shard(led.journal)
    with pytest.raises(JournalUnreadable, match="only what load process 1 of a run sent") as caught:
        read_journal(led.shard(1))
    assert caught.value.hint is not None
    assert str(led.journal) in caught.value.hint
    assert find_unfinished(led.folder, plan_hash=led.ledger.header.plan_hash, url="x") is None
    led.shard(2).unlink()
    with pytest.raises(JournalUnreadable, match=r"led\.2\.jsonl.*can't be read"):
        read_journal(led.journal)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process")
def test_a_limit_that_one_process_meets_ends_the_run_as_that_and_is_no_figure_of_the_target(led):
    limiting = led.when_it_wrote(2, 3, lambda pid: _limit_files(pid, 4))
    stages = [
        Stage(number=n, concurrency=2, requests=5_000, fresh_connections=True) for n in (1, 2)
    ]
    outcome = led.run(*stages)
    limiting.join()
    assert (outcome.exit_code, outcome.reason) == (5, "client_limit")
    ledger = led.ledger
    (entry,) = ledger.stages.entries  # the second one was not begun
    assert entry.done is not None
    assert (entry.done.reason, entry.done.detail) == ("stopped", "client_limit")
    assert entry.done.sent < 5_000
    document = build_document(ledger)
    assert document.trust[0].code == "client_limit"
    assert "open files" in document.trust[0].text
    (target,) = document.summary.targets
    assert target.reliability.errors_by_cause == {}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process")
def test_connections_that_one_process_may_not_have_are_told_of_the_whole_stage(tmp_path):
    def limit(_body):
        with turn:  # an answer of the first stage waits for it
            if len(endpoint.posts) >= 20 and not is_limited.is_set():
                _limit_files(led.pids[2], 64 + 5)
                is_limited.set()

    turn, is_limited = threading.Lock(), threading.Event()

    with paid_endpoint() as endpoint:
        led = LedRun(folder=tmp_path, url=f"{endpoint.url}/v1", model="m")
        led.settings = {"stream": False}
        endpoint.hold = limit
        outcome = led.run(
            Stage(number=1, concurrency=2, requests=40),
            Stage(number=2, concurrency=20, requests=60),
        )
    assert (outcome.exit_code, outcome.reason) == (0, "done")
    first, second = (entry.done for entry in led.ledger.stages.entries)
    assert first is not None
    assert second is not None
    assert (first.connections, first.detail) == (None, "")
    assert (second.connections, second.detail) == (15, "this machine limits connections to 15")
    document = build_document(led.ledger)
    told = [caveat.text for caveat in document.trust if caveat.code == "client_saturated"]
    assert len(told) == 1
    assert "limited connections to 15, fewer" in told[0]


def _limit_files(pid, most):
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, most))
