"""Runs that begin at once, end, or are killed, and one limit per day for all of them."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from bench.archive import keep
from bench.day_account import DayAccount
from bench.errors import Refused, UsageFault
from bench.journal import Journal
from bench.model.blocks import PlannedTrial
from bench.model.header import Header
from bench.model.run_config import RunConfig
from bench.model.steps import Started, TrialDone
from bench.model.trial import Response, Trial
from tests.run_stage import ENVIRONMENT, block, target

pytestmark = pytest.mark.integration

NOON = datetime.now(tz=UTC).replace(hour=12, minute=0, second=0, microsecond=0)

HOLDER = """
import sys
from datetime import datetime
from pathlib import Path
from bench.day_account import DayAccount
folder, now, limit, run, wanted = sys.argv[1:]
account = DayAccount(folder=Path(folder) / "days", archive=Path(folder) / "runs",
                     now=datetime.fromisoformat(now), limit_usd=float(limit))
with account.claimed(run, wanted_usd=float(wanted)) as claim:
    print(claim.granted_usd, flush=True)
    sys.stdin.read()
"""


def account(tmp_path, limit=1.0, now=NOON):
    return DayAccount(folder=tmp_path / "days", archive=tmp_path / "runs", now=now, limit_usd=limit)


def holder(tmp_path, run, wanted):
    words = [str(tmp_path), NOON.isoformat(), "1.0", run, str(wanted)]
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def granted(process):
    assert process.stdout is not None
    return float(process.stdout.readline())


def kept_run(tmp_path, run_id, *costs, started=NOON, is_paid=True, lost=None):
    """Write a journal and keep it; the last cost is of a request that was lost, if it is asked."""
    config = RunConfig(model_ids=("a",), url="http://127.0.0.1:1/v1", is_paid=is_paid)
    header = Header(
        run_id=run_id,
        started_at=started.isoformat().replace("+00:00", "Z"),
        stem=run_id,
        config=config,
        targets=(target(),),
        cases=(),
        plan=(block(runs=len(costs) + 1),),
        plan_hash="p",
        environment=ENVIRONMENT,
    )
    path = tmp_path / f"{run_id}.jsonl"
    journal = Journal.create(path, header)
    for number, cost in enumerate(costs, start=1):
        journal.write(TrialDone(trial=_trial(number, cost)))
    if lost is not None:
        journal.write(Started(trial_id=f"a|c|r{len(costs) + 1}", offset_ms=9.0, reserve_usd=lost))
    journal.close()
    assert keep([path], tmp_path / "runs" / run_id) == ()
    return path


def _trial(number, cost):
    planned = PlannedTrial(id=f"a|c|r{number}", target_id="a", case_id="c", run=number, seed=number)
    return Trial(
        id=planned.id,
        target_id="a",
        case_id="c",
        run=number,
        seed=number,
        started_offset_ms=float(number),
        finished_offset_ms=float(number) + 0.5,
        outcome="completed",
        response=Response(),
        estimated_cost_usd=cost,
        cost_source="gateway",
    )


def test_a_run_takes_what_it_wants_and_gives_back_what_it_did_not_spend(tmp_path):
    day = account(tmp_path)
    with day.claimed("one", wanted_usd=0.4) as claim:
        assert claim.granted_usd == 0.4
        assert day.use().claimed_usd == pytest.approx(0.4)
        claim.settle(0.1)
    assert day.use().spent_usd == pytest.approx(0.1)
    with day.claimed("two", wanted_usd=None) as claim:
        assert claim.granted_usd == pytest.approx(0.9)


def test_what_the_journals_of_the_day_tell_counts_lost_answers_too(tmp_path):
    kept_run(tmp_path, "today", 0.2, 0.1, lost=0.25)
    kept_run(tmp_path, "free", 0.4, is_paid=False)
    kept_run(tmp_path, "yesterday", 0.4, started=NOON - timedelta(days=1))
    use = account(tmp_path).use()
    assert use.spent_usd == pytest.approx(0.55)
    assert (use.claimed_usd, use.claims) == (0.0, 0)


def test_a_journal_tells_more_truly_than_the_claim_of_its_run(tmp_path):
    day = account(tmp_path)
    with day.claimed("run", wanted_usd=0.9):
        pass  # it never said what it spent
    assert day.use().spent_usd == pytest.approx(0.9)
    kept_run(tmp_path, "run", 0.2)
    assert day.use().spent_usd == pytest.approx(0.2)


def test_a_run_that_goes_on_keeps_what_it_spent_before(tmp_path):
    kept_run(tmp_path, "run", 0.2)
    day = account(tmp_path)
    with day.claimed("run", wanted_usd=0.3):
        assert day.use().taken_usd == pytest.approx(0.5)


def test_a_day_that_is_used_up_refuses_and_says_why(tmp_path):
    kept_run(tmp_path, "run", 0.6)
    day = account(tmp_path)
    with day.claimed("other", wanted_usd=None), pytest.raises(Refused) as caught:
        day.claimed("third", wanted_usd=0.1).__enter__()
    assert caught.value.message == (
        "`max-cost-per-day = 1` is used up: $0.6000 were spent today (UTC), and a run that is going "
        "on may take $0.4000"
    )
    assert caught.value.exit_code == 7
    with pytest.raises(Refused, match=r"\$1.0000 were spent today \(UTC\)$"):
        day.claimed("third", wanted_usd=0.1).__enter__()


def test_another_day_begins_anew_and_old_claims_are_forgotten(tmp_path):
    kept_run(tmp_path, "run", 1.0)
    with account(tmp_path, now=NOON - timedelta(days=3)).claimed("old", wanted_usd=1.0):
        pass
    tomorrow = account(tmp_path, now=NOON + timedelta(days=1))
    with tomorrow.claimed("new", wanted_usd=1.0) as claim:
        assert claim.granted_usd == 1.0
    days = sorted(path.name for path in (tmp_path / "days").iterdir())
    assert days == [f"{NOON + timedelta(days=1):%Y-%m-%d}", "lock"]


def test_what_is_no_claim_and_no_journal_counts_nothing(tmp_path):
    kept_run(tmp_path, "run", 0.5)
    (tmp_path / "runs" / "run" / "run.jsonl").write_text("no journal\n")
    with account(tmp_path).claimed("one", wanted_usd=0.1):
        pass
    (tmp_path / "days" / f"{NOON:%Y-%m-%d}" / "x.claim.json").write_text("{")
    assert account(tmp_path).use().taken_usd == pytest.approx(0.1)


def test_a_claim_of_a_killed_process_is_no_longer_held(tmp_path):
    process = holder(tmp_path, "killed", 0.7)
    assert granted(process) == 0.7
    assert account(tmp_path).use().claims == 1
    process.kill()
    process.communicate()
    use = account(tmp_path).use()
    assert (use.claims, use.spent_usd) == (0, pytest.approx(0.7))
    kept_run(tmp_path, "killed", 0.1)
    assert account(tmp_path).use().spent_usd == pytest.approx(0.1)


def test_runs_that_begin_at_once_never_share_a_cent(tmp_path):
    processes = [holder(tmp_path, f"run-{number}", 0.3) for number in range(5)]
    try:
        with ThreadPoolExecutor(len(processes)) as pool:
            lines = list(pool.map(_first_line, processes))
        grants = [float(line) for line in lines if line]
        assert sum(grants) == pytest.approx(1.0)
        assert len(grants) == 4  # three whole ones, the rest, and one that was refused
    finally:
        ends = [process.communicate()[1] for process in processes]
    assert sum("is used up" in end for end in ends) == 1


def _first_line(process):
    assert process.stdout is not None
    return process.stdout.readline()


def test_a_folder_that_takes_no_claim_is_named(tmp_path):
    (tmp_path / "days").write_text("a file")
    with pytest.raises(UsageFault, match="can't be kept"):
        account(tmp_path).claimed("one", wanted_usd=0.1).__enter__()


def test_the_claim_says_for_whom_and_how_much(tmp_path):
    with account(tmp_path).claimed("one", wanted_usd=0.1) as claim:
        said = json.loads(claim.path.read_text())
    assert said == {"runId": "one", "beforeUsd": 0.0, "grantedUsd": 0.1, "spentUsd": None}
