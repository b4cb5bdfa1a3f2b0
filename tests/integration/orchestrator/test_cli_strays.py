"""`ps` and `clean` as people and programs type them."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.survey import survey
from orchestrator.system import machine
from orchestrator.verdicts import Verdict
from tests.command_line import CommandLine
from tests.patience import until

pytestmark = pytest.mark.integration


@pytest.fixture
def command(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    line = CommandLine(tmp_path / "home", folder)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def mine(command, told):
    return [one for one in told["detail"]["gateways"] if one.get("worktree") == str(command.cwd)]


def state_of(command):
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(command.state.iterdir())
    }


def test_a_dry_run_changes_nothing_and_yes_removes_what_is_idle(command):
    started = command("start", "--preset", "demo", "--json").gateway
    listed = command("ps", "--json")
    [row] = mine(command, listed.told)
    assert (row["verdict"], row["pid"], row["ports"]) == ("idle", started["pid"], [started["port"]])
    assert listed.told["reason"] == "listed"

    shown = command("ps")
    lines = shown.out.splitlines()
    assert lines[0].split() == [
        "PID",
        "VERDICT",
        "PORT",
        "AGE",
        "MEMORY",
        "BRANCH",
        "WORKTREE",
        "HELD",
        "BY",
    ]
    assert all(len(line) <= 100 for line in lines)
    assert any(line.startswith("  `default`: nobody has used it for") for line in lines)

    young = command("clean", "--mine", "--json")
    assert (young.code, mine(command, young.told)[0]["action"]) == (0, "keep")
    told = command("clean", "--mine")
    assert "left alone: 1, it is too young, or was in use too lately" in told.out.splitlines()
    before = state_of(command)
    dry = command("clean", "--mine", "--older-than", "0s")
    assert dry.code == 0
    assert "1 gateway would be removed; nothing was done" in dry.out
    assert dry.out.splitlines()[-1] == "`--yes` does it"
    assert state_of(command) == before
    assert command("status").code == 0

    done = command("clean", "--mine", "--older-than", "0s", "--yes", "--json")
    assert (done.code, done.told["reason"], done.told["headline"]) == (
        0,
        "cleaned",
        "1 gateway removed",
    )
    [gone] = [one for one in done.told["detail"]["gateways"] if one["action"] == "stop"]
    assert (gone["done"], gone["said"]) == (True, "stopped")
    assert f"`default` (PID {started['pid']})" in done.err
    assert command.records() == []


def test_another_worktrees_is_not_mine(command, tmp_path):
    command("start", "--preset", "demo")
    beside = tmp_path / "tree2"
    (beside / ".git").mkdir(parents=True)
    other = CommandLine(tmp_path / "home", beside)
    done = other("clean", "--mine", "--older-than", "0s", "--yes")
    assert (done.code, done.out) == (0, "0 gateways removed\n")
    there = other("clean", "--mine", "--gateway", str(command.cwd), "--older-than", "0s", "--json")
    assert mine(command, there.told)[0]["action"] == "stop"
    assert command("status").code == 0


def test_a_pair_has_to_be_whole_and_known(command):
    lone = command("clean", "--pid", "1")
    assert (lone.code, lone.out) == (2, "")
    assert "1 `--pid` and 0 `--start`: each PID needs its start" in lone.err
    odd = command("clean", "--older-than", "soon")
    assert odd.code == 2
    assert "`--older-than soon`: a duration such as" in odd.err
    unknown = command("clean", "--pid", str(os.getpid()), "--start", "1", "--yes")
    assert (unknown.code, unknown.out) == (3, "")
    assert f"PID {os.getpid()} was left alone: it is neither a gateway nor a suspect" in unknown.err


def test_a_gateway_that_a_run_uses_is_held_until_everybody_of_it_is_gone(command):
    """The measuring process outlives a killed job, and its gateway stays held for as long."""
    here = machine(command.state)
    job = command.begin("demo", "--runs", "60", "--json")

    def mine_now():
        return [
            one
            for one in survey(here, near=str(command.cwd))
            if one.record is not None and one.held_by is not None
        ]

    held = until(mine_now, so_far=job.poll)
    assert {one.verdict for one in held} == {Verdict.HELD}
    assert held[0].held_by.pid == job.pid
    until(lambda: list(command.out.glob("*.jsonl")))
    done = command("clean", "--older-than", "0s", "--yes", "--json")
    rows = [one for one in done.told["detail"]["gateways"] if one.get("runId") == held[0].run_id]
    assert [one["action"] for one in rows] == ["keep"]

    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    job.kill()
    job.wait()  # its pipes stay open for as long as the measuring process lives
    left = [one for one in survey(here, near="/") if one.run_id == held[0].run_id]
    assert [one.verdict for one in left] == [Verdict.HELD]
    assert left[0].held_by is not None
    assert left[0].record is not None
    assert left[0].held_by.text == f"run {held[0].run_id}"
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    job.communicate()
    assert not here.state.use_of(f"{left[0].record.id}.use").is_held
    after = command("clean", "--older-than", "0s", "--yes", "--json")
    rows = [one for one in after.told["detail"]["gateways"] if one.get("runId") == held[0].run_id]
    assert [(one["action"], one["done"]) for one in rows] == [("stop", True)]


def test_many_gateways_fit_into_the_object_with_a_count_of_the_rest(command):
    started = command("start", "--preset", "demo", "--json").gateway
    kept = next(command.state.glob("*.json"))
    record = json.loads(kept.read_bytes())
    for number in range(40):
        copy = {**record, "id": f"{number:08x}", "name": f"copy-{number}"}
        (command.state / f"{number:08x}.json").write_text(json.dumps(copy))
    told = command("ps", "--json").told
    assert told["truncated"] is False
    shown, left_off = len(told["detail"]["gateways"]), told["detail"]["leftOff"]
    assert left_off > 0
    assert shown + left_off == told["detail"]["total"] >= 41
    assert f"{left_off} of them did not fit in here" in told["headline"]
    for number in range(40):
        (command.state / f"{number:08x}.json").unlink()
    assert started["pid"]
