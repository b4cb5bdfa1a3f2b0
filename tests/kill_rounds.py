"""Runs that are killed with SIGKILL again and again, and gone on with until everything is measured.

What must hold is checked against two witnesses that share no code with the ledger: the lines of the
journal, counted here, and the simulator's own log of the requests it got.
"""

import json
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Any

from bench.document import build_document, encode_document
from bench.journal import read_journal
from bench.model.document import Document
from tests.bench_process import KEY, Bench
from tests.document_schema import check_document
from tests.patience import PATIENCE_S, until
from tests.simulator_process import Simulator

MODEL = "sim-ttft20-itl1-n10"
_RECORDS_BESIDE_TRIALS = 4
"""Header or resumed, vantage, footer, and one beyond: the kill then meets the reports."""
_FILES = 6
"""Of a finished run: half a report that a kill left behind would be one more."""
_LONGEST_PAUSE_S = 0.05
_LONGEST_START_S = 0.8
"""A kill within it meets the interpreter's start more often than not."""


@dataclass(kw_only=True)
class Tally:
    """What happened to the runs of a number of rounds."""

    runs: int = 0
    kills: int = 0
    before_journal: int = 0
    """Kills before there was anything to go on with."""
    after_footer: int = 0
    """Kills while the reports were written."""
    in_flight: int = 0
    """Kills that cut a request: one possibly billed start each."""
    trials: int = 0
    requests: int = 0
    """What the simulator got."""
    cut_lines: int = 0
    moments: list[int] = field(default_factory=list)
    """Records in the journal at each kill."""


def one_round(
    bench: Bench, simulator: Simulator, *, chance: random.Random, most_kills: int, tally: Tally
) -> None:
    """Begin a run, kill it up to ``most_kills`` times, finish it, and check what is left."""
    begun_ns = time.perf_counter_ns()
    process = _begin(bench)
    for _ in range(most_kills):
        if not _killed_at_random(bench, process, chance):
            break
        tally.kills += 1
        if _has_journal(bench):
            _check_killed(bench, tally)
            process = bench.start("resume", str(bench.journal), "--api-key-env", KEY, "--json")
        else:
            for empty in bench.output.glob("*.jsonl"):
                empty.unlink()  # killed between making it and writing to it
            tally.before_journal += 1
            tally.moments.append(0)
            process = _begin(bench)
    code, told, said = bench.finish(process)
    assert code == 0, said
    assert told["planned"] == told["done"], told
    tally.runs += 1
    _check_finished(bench, simulator, begun_ns, tally)


def _begin(bench: Bench) -> "Popen[str]":
    return bench.start_run(MODEL, "--profile", "smoke", "--no-budget", "--assume-price", "1/2")


def _lines(bench: Bench) -> list[bytes]:
    found = list(bench.output.glob("*.jsonl"))
    return found[0].read_bytes().splitlines() if found else []


def _has_journal(bench: Bench) -> bool:
    return bool(_lines(bench))


def _killed_at_random(bench: Bench, process: "Popen[str]", chance: random.Random) -> bool:
    """Kill the process at a drawn moment of its work; say no if it had ended before.

    The moment is a number of records to be written and a pause after that, so that kills spread over
    the whole run on a slow machine as on a fast one.
    """
    had = _lines(bench)
    left = 2 * _missing(bench) if had else 2 * 17
    awaited = chance.randint(0, left + _RECORDS_BESIDE_TRIALS)
    pause = chance.uniform(0, _LONGEST_PAUSE_S if awaited else _LONGEST_START_S)
    deadline = time.monotonic() + PATIENCE_S
    while len(_lines(bench)) < len(had) + awaited and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def _missing(bench: Bench) -> int:
    return len(read_journal(bench.journal).missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What the lines of a journal say, read without our own readers."""

    plan: list[dict[str, Any]]
    ended: list[dict[str, Any]]
    """Trials as they were recorded."""
    lost: list[dict[str, Any]]
    """Started, and no end."""
    asked: list[list[str]]
    """Ids in the order in which they were asked, one list for each process."""


def _told(path: Path) -> _Told:
    header: dict[str, Any] = {}
    ended: list[dict[str, Any]] = []
    lost: list[dict[str, Any]] = []
    open_: dict[str, dict[str, Any]] = {}
    asked: list[list[str]] = [[]]
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue  # cut by a kill
        match record["type"]:
            case "header":
                header = record
            case "resumed":
                lost += open_.values()
                open_ = {}
                asked.append([])
            case "started":
                assert record["trialId"] not in open_
                open_[record["trialId"]] = record
                asked[-1].append(record["trialId"])
            case "trial":
                del open_[record["trial"]["id"]]
                ended.append(record["trial"])
            case _:
                pass
    lost += open_.values()
    plan = [trial for block in header["plan"] for trial in block["trials"]]
    return _Told(plan=plan, ended=ended, lost=lost, asked=asked)


def _check_killed(bench: Bench, tally: Tally) -> None:
    """Check what a run that was just killed says of itself."""
    told = _told(bench.journal)
    ledger = read_journal(bench.journal)
    document = build_document(ledger)
    check_document(encode_document(document))
    _check_money(document, told)
    planned = {trial["id"] for trial in told.plan}
    recorded = {trial["id"] for trial in told.ended}
    assert {trial.id for trial in ledger.missing} == planned - recorded
    assert [start.trial_id for start in document.possibly_billed] == [
        start["trialId"] for start in told.lost
    ]
    has_caveat = any(caveat.code == "possibly_billed" for caveat in document.trust)
    assert has_caveat == bool(told.lost)
    never_sent = planned - recorded - {start["trialId"] for start in told.lost}
    assert {entry.trial_id for entry in document.not_run} == never_sent
    measured = [trial for trial in told.ended if not trial["warmup"]]
    assert document.completeness.done == len(measured)
    tally.cut_lines += ledger.damaged_lines
    tally.after_footer += ledger.footer is not None
    tally.moments.append(ledger.damaged_lines + len(_lines(bench)))


def _check_money(document: Document, told: _Told) -> None:
    """Each recorded cost counts once, and the reserve of what was in flight at a kill."""
    paid = sum(trial["estimatedCostUsd"] for trial in told.ended)
    reserved = sum(start["reserveUsd"] for start in told.lost)
    assert abs(document.spend.known_usd - paid - reserved) < 1e-12
    assert abs(document.spend.reserved_usd - reserved) < 1e-12
    assert document.spend.unknown_requests == 0


def _check_finished(bench: Bench, simulator: Simulator, begun_ns: int, tally: Tally) -> None:
    """Check that everything was measured, once, in the order and with the seeds of the plan."""
    told, ledger = _told(bench.journal), read_journal(bench.journal)
    assert Counter(trial["id"] for trial in told.ended) == {trial["id"]: 1 for trial in told.plan}
    seeds = {trial["id"]: trial["seed"] for trial in told.plan}
    assert {trial["id"]: trial["seed"] for trial in told.ended} == seeds
    place = {trial["id"]: number for number, trial in enumerate(told.plan)}
    for part in told.asked:
        assert part == sorted(part, key=place.__getitem__)
    assert ledger.missing == ()
    assert ledger.superseded == ()
    result = bench.journal.with_suffix(".json").read_bytes()
    check_document(result)
    document = json.loads(result)
    assert document["completeness"]["isComplete"] is True
    assert [trial["id"] for trial in document["trials"]] == [trial["id"] for trial in told.plan]
    assert document["possiblyBilled"] == told.lost
    assert sum(path.is_file() for path in bench.output.iterdir()) == _FILES
    _check_money(build_document(ledger), told)
    got = _requests(simulator, begun_ns, told)
    tally.trials += len(told.ended)
    tally.in_flight += len(told.lost)
    tally.requests += got.total()


def _requests(simulator: Simulator, begun_ns: int, told: _Told) -> "Counter[str]":
    """Nothing was asked that no line announces, and nothing that was finished was asked again."""
    wanted = Counter(trial["promptHash"] for trial in told.ended)

    def got() -> "Counter[str]":
        log = simulator.records(since_ns=begun_ns)
        return Counter(one["prompt_hash"] for one in log if one["path"].endswith("completions"))

    # A record follows its answer's end, by which the command may have ended too.
    until(lambda: not wanted - got(), so_far=lambda: f"never asked: {wanted - got()}")
    found = got()
    again = sum((found - wanted).values())
    assert again <= len(told.lost), (again, len(told.lost))
    return found
