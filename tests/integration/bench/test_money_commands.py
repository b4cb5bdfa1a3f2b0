"""`show`, `spend` and the limit per day as people call them: real processes, loopback only."""

import csv
import io
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.bench_process import Bench
from tests.here import Here
from tests.paid_endpoint import ANSWER, PaidEndpoint, paid_endpoint

pytestmark = pytest.mark.integration

QUICK = ("--case", "tool_selection_exact", "--runs", "1", "--no-stream", "--quiet")
PRICED = ("--assume-price", "10/100")
A_TEST_S = 60.0


@pytest.fixture(autouse=True)
def _on_one_day() -> None:
    """What a run spends is of the day (UTC) on which it began: no test here goes on past midnight."""
    now = datetime.now(tz=UTC)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    left_s = (midnight - now).total_seconds()
    if left_s < A_TEST_S:
        time.sleep(left_s)


@pytest.fixture
def paid() -> Iterator[PaidEndpoint]:
    with paid_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def bench(tmp_path: Path, paid: PaidEndpoint) -> Iterator[Bench]:
    home = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "COLUMNS": "100"}
    made = Bench(folder=tmp_path, url=paid.url, environ=home)
    yield made
    made.end_all()


def limit_per_day(bench: Bench, usd: float) -> None:
    folder = bench.folder / "config" / "gateway-bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(f"max-cost-per-day = {usd}\n")


def run_once(bench: Bench, *words: str) -> tuple[int, dict[str, Any], str]:
    return bench.finish(bench.start_run("m", *QUICK, *PRICED, "--again", *words))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(monkeypatch, capsys)


def test_a_run_is_shown_whole_by_trial_and_as_a_bill_and_nothing_is_written(bench, here):
    code, told, err = run_once(bench)
    assert code == 0, err
    assert "prices: assumed" in err
    before = {path: path.stat().st_mtime_ns for path in bench.folder.rglob("*") if path.is_file()}
    card = here.text(bench, "show", "latest")
    assert "Can it be trusted?" in card
    assert "$0.000230 at assumed prices" in card
    assert "assume-price = 10/100  (flag)" in card
    trial_id = "m|tool_selection_exact|r1"
    (row,) = csv.DictReader(io.StringIO(here.text(bench, "show", str(bench.journal), "--billing")))
    assert (row["runId"], row["trialId"]) == (told["runId"], trial_id)
    assert (row["generationId"], row["promptTokens"], row["costSource"]) == ("1", "3", "assumed")
    assert float(row["costUsd"]) == pytest.approx(3 * 10e-6 + 2 * 100e-6)
    shown = here.told(bench, "show", "latest")
    assert (shown["exitCode"], shown["runId"]) == (0, told["runId"])
    assert shown["detail"]["trust"] == "sound"
    one = here.told(bench, "show", "latest", "--trial", "r1")
    assert one["detail"]["trial"]["response"]["generationId"] == "1"
    _, failed, said = here(bench, "show", "latest", "--failed")
    assert failed.startswith(f"{trial_id}  ")
    assert "1 trial failed, wrong or set aside" in said
    slow = here.told(bench, "show", "latest", "--slowest", "3")
    assert [entry["id"] for entry in slow["detail"]["trials"]] == [trial_id]
    after = {path: path.stat().st_mtime_ns for path in bench.folder.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("show", "nobody"), "no run `nobody`", id="no run"),
        pytest.param(("show", "x", "--failed", "--billing"), "exclude each other", id="two views"),
        pytest.param(("show", "x", "--slowest", "0"), "not in the range", id="no trials"),
        pytest.param(("spend", "--since", "soon"), "`--since soon`: a time such as", id="no time"),
        pytest.param(("spend", "--since", "9999999w"), "a time such as", id="before time"),
    ],
)
def test_what_can_t_be_is_said_in_one_sentence(bench, here, words, message):
    code, out, err = here(bench, *words, "--json")
    assert code == 2
    assert message in err
    assert json.loads(out)["status"] == "failed"
    assert "Traceback" not in err


def test_spending_is_summed_up_over_all_worktrees_of_a_repository(bench, here):
    git(bench.folder, "init", "-q", "main")
    git(bench.folder / "main", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q",
        "--allow-empty", "-m", "x")  # fmt: skip
    git(bench.folder / "main", "worktree", "add", "-q", "../other")
    main = worktree(bench, "main")
    for place in (main, worktree(bench, "other"), bench):
        assert run_once(place)[0] == 0
    told = here.told(main, "spend")
    assert f" in 2 paid runs in `{main.folder}` since " in told["headline"]
    assert told["spentUsd"] == pytest.approx(2 * 0.00023)
    (day,) = told["detail"]["days"]
    assert (day["requests"], day["unknownRequests"]) == (2, 0)
    assert [(row["model"], row["requests"]) for row in told["detail"]["models"]] == [("m", 2)]
    assert told["detail"]["bySource"] == {"assumed": pytest.approx(0.00046)}
    assert len(told["detail"]["runs"]) == 2
    text = here.text(main, "spend", "--since", "1d", "--everywhere")
    assert "in 3 paid runs anywhere since " in text
    assert "$0.000690 at assumed prices" in text


def test_a_journal_that_can_t_be_read_is_named_and_left_out(bench, here):
    run_once(bench)
    (kept,) = (bench.folder / "data" / "gateway-bench" / "runs").glob("*/*.jsonl")
    kept.unlink()
    kept.write_text("nonsense\n")
    (kept.parent / ".from.json").unlink()
    code, out, err = here(bench, "spend", "--json")
    assert (code, json.loads(out)["detail"]["knownUsd"]) == (0, 0.0)
    assert f"warning: `{kept}` is left out" in err


def test_the_day_s_limit_ends_a_run_refuses_the_next_and_is_shown(bench, here, paid):
    limit_per_day(bench, 0.1)
    first = ("--runs", "8", "--max-tokens", "100")
    code, told, err = run_once(bench, *first)
    assert "this run may spend $0.1000 of $0.1 per day (UTC)" in err
    assert (code, told["done"]) == (0, 8)
    paid.status = 503  # nobody knows what these cost
    code, told, err = run_once(bench, *first)
    assert (code, told["reason"]) == (5, "max_cost")
    assert "the user's limit per day (`max-cost-per-day`) was reached" in " ".join(err.split())
    assert "once a new day (UTC) or a higher `max-cost-per-day` leaves room" in err
    assert "--max-cost" not in told["next"]
    asked = len(paid.posts)
    spend = here.text(bench, "spend")
    assert "limit $0.1000" in spend
    told = here.told(bench, "spend")
    assert told["detail"]["today"]["limitUsd"] == 0.1
    assert told["detail"]["today"]["claimedUsd"] == 0
    limit_per_day(bench, told["detail"]["knownUsd"])
    code, told, err = run_once(bench)
    assert (code, told["status"]) == (7, "refused")
    assert "is used up" in err
    assert len(paid.posts) == asked


def test_a_run_that_goes_on_is_within_the_day_s_limit_too(bench, paid):
    cut = run_once(bench, "--runs", "4", "--max-cost", "0.0001")
    assert cut[0] == 5
    limit_per_day(bench, 50)
    more = ("resume", "latest", "--max-cost", "1", "--yes", "--quiet")
    code, told, err = bench.do(*more)
    assert (code, told["done"]) == (0, 4), err
    assert "limit per day: this run may spend $" in err
    resumed = [line for line in bench.journal.read_bytes().splitlines() if b'"resumed"' in line]
    limits = json.loads(resumed[-1])["limits"]
    assert limits["maxCostUsd"] == 1
    assert 0 < limits["dayAllowanceUsd"] <= 1


def test_what_nobody_knows_is_counted_and_never_zero(bench, here):
    code, told, _ = bench.finish(bench.start_run("m", *QUICK, "--no-price-library"))
    assert (code, told["spentUsd"]) == (0, None)
    assert "at least $0.0000 in 1 paid run anywhere since" in here.text(bench, "spend")
    assert "and 1 request of unknown cost" in here.text(bench, "spend")
    assert here.told(bench, "spend")["spentUsd"] is None


def test_a_limit_per_day_needs_a_bound(bench, paid):
    limit_per_day(bench, 5)
    code, told, err = bench.finish(bench.start_run("m", *QUICK, "--no-price-library"))
    assert (code, told["status"]) == (7, "refused")
    assert "`max-cost-per-day = 5` can't be kept for m: no price is known" in err
    assert "gateway-bench[prices]" in err
    assert paid.posts == []


def test_a_broken_user_configuration_is_named_before_anything_is_asked(bench, paid):
    limit_per_day(bench, -1)
    code, _, err = run_once(bench)
    assert code == 2
    assert "`max-cost-per-day` is `-1`" in err
    assert paid.posts == []


def test_the_price_library_is_asked_where_nobody_lists_a_price(bench, here):
    code, _, err = bench.finish(bench.start_run("openai/gpt-4o-mini", *QUICK))
    assert code == 0, err
    assert "prices: openai/gpt-4o-mini from genai-prices " in err
    assert "; prices: genai-prices" in err
    (row,) = csv.DictReader(io.StringIO(here.text(bench, "show", "latest", "--billing")))
    assert row["costSource"] == "genai-prices"
    assert float(row["costUsd"]) == pytest.approx(3 * 0.15e-6 + 2 * 0.6e-6)
    assert here.text(bench, "spend").startswith("$0.00000165 in 1 paid run anywhere since")


def test_what_a_gateway_reports_counts_and_a_difference_is_told(bench, here, paid):
    paid.answer = {**ANSWER, "usage": {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}}
    _, told, _ = run_once(bench)
    assert told["spentUsd"] == 0.5
    card = " ".join(here.text(bench, "show", "latest").split())
    assert "the gateway reports $0.500000 for 1 trial whose tokens come to $0.000230" in card
    assert "$0.500 told by the gateway" in card


def git(folder: Path, *words: str) -> None:
    program = shutil.which("git")
    assert program is not None
    subprocess.run([program, *words], cwd=folder, check=True, capture_output=True)


def worktree(bench: Bench, name: str) -> Bench:
    """Return a folder whose results go where they go by default."""
    data = {"XDG_DATA_HOME": str(bench.folder / "data"), "BENCHMARK_OUTPUT_DIR": ""}
    return Bench(folder=bench.folder / name, url=bench.url, environ={**bench.environ, **data})
