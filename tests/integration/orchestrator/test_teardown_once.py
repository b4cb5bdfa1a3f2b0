"""A teardown is run once, whoever takes the gateway down first: its job, a stop, a clean-up."""

import os
import re
import signal
import textwrap
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.patience import until
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration

DESCRIBED = """
[gateway]
entry = "gateway_entry.py"
upstream = "own"
prepare = ["sh -c 'echo prepared >> history'"]
teardown = ["sh -c 'echo torn down >> history'"]
"""
WAITS = ("--", "sh", "-c", "echo up > up; exec sleep 1000")


@pytest.fixture
def command(tmp_path_factory):
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    write_small_gateway(tree)
    line = CommandLine(home, tree)
    describe(line)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def describe(command, text=DESCRIBED):
    (command.cwd / "gateway-bench.toml").write_text(textwrap.dedent(text))
    assert command("trust").code == 0


def history(command):
    return (command.cwd / "history").read_text().splitlines()


def begin_exec(command):
    """Begin a job whose gateway is up for as long as its command waits; return it and its record."""
    job = command.begin("exec", *WAITS)
    until((command.cwd / "up").exists)
    (record,) = command.records()
    return job, record


def test_a_stop_in_the_middle_of_a_job_runs_the_teardown_and_the_job_says_so(command):
    job, record = begin_exec(command)
    stopped = command("stop", str(record["identity"]["pid"]))
    assert stopped.code == 0, stopped.err
    done = command.end(job)
    assert history(command) == ["prepared", "torn down"]
    assert "note: its teardown was run by the command that stopped it" in done.err
    stop = r": `gateway-bench stop` \(PID \d+\) stopped it at \S+\."
    assert re.search(r"The gateway \(PID \d+\) was ended by SIGTERM" + stop, done.err)
    assert "nobody asked" not in done.err
    assert done.err.endswith("class: gateway_killed (4)\n")


def test_what_a_stop_may_not_run_is_run_by_the_job_that_it_was_agreed_to_for(command):
    job, record = begin_exec(command)
    changed = DESCRIBED.replace("echo torn down", "rm -rf precious; echo other")
    (command.cwd / "gateway-bench.toml").write_text(changed)
    stopped = command("stop", str(record["identity"]["pid"]))
    assert "warning: its teardown was not run: " in stopped.err
    done = command.end(job)
    assert history(command) == ["prepared", "torn down"]
    assert "was run by the command" not in done.err


def test_a_job_that_is_killed_leaves_the_teardown_to_one_of_two_clean_ups(command):
    job, _ = begin_exec(command)
    (guest,) = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    os.kill(job.pid, signal.SIGKILL)
    os.kill(int(guest), signal.SIGKILL)
    command.end(job)
    both = [command.begin("clean", "--yes", "--older-than", "0s") for _ in range(2)]
    said = [command.end(one) for one in both]
    assert [one.code for one in said] == [0, 0], said
    assert history(command) == ["prepared", "torn down"]
    assert command.records() == []


def test_a_stop_that_comes_too_late_does_not_run_it_again(command):
    # The first one is in the middle of the teardown when the second one has read the record.
    slow = DESCRIBED.replace("echo torn down >>", "echo torn down >> history; sleep 1; echo >>")
    describe(command, slow)
    assert command("start").code == 0
    stops = [command.begin("stop", "--json") for _ in range(4)]
    told = [command.end(one).told for one in stops]
    assert {one["reason"] for one in told} <= {"stopped", "was_down", "start_under_way"}
    assert sum(one["reason"] == "stopped" for one in told) == 1
    assert history(command).count("torn down") == 1


HANGS = DESCRIBED.replace(
    "echo prepared >> history", "echo prepared >> history; echo $$ > child; exec sleep 1000"
)


def test_what_a_start_prepared_that_was_killed_before_its_gateway_is_torn_down_by_a_clean_up(
    command,
):
    describe(command, HANGS)
    start, child = command.begin("exec", *WAITS), command.cwd / "child"
    until(lambda: child.exists() and child.read_text().endswith("\n"))
    busy = command("clean", "--yes", "--older-than", "0s")
    assert (busy.code, history(command)) == (0, ["prepared"]), "its start is alive"
    os.kill(start.pid, signal.SIGKILL)
    os.kill(int(child.read_text()), signal.SIGKILL)
    command.end(start)
    young = command("clean", "--yes")
    assert (young.code, history(command)) == (0, ["prepared"])
    dry = command("clean", "--older-than", "0s")
    assert ".prep`: its start was killed after it prepared; its teardown is run" in dry.out
    assert history(command) == ["prepared"]
    both = [command.begin("clean", "--yes", "--older-than", "0s") for _ in range(2)]
    said = [command.end(one) for one in both]
    assert [one.code for one in said] == [0, 0], said
    assert history(command) == ["prepared", "torn down"]
    assert not [one for one in command.state.iterdir() if one.suffix in {".prep", ".d"}]


def test_a_teardown_that_nobody_agreed_to_is_not_run_for_a_killed_start(command):
    describe(command, HANGS)
    start, child = command.begin("exec", *WAITS), command.cwd / "child"
    until(lambda: child.exists() and child.read_text().endswith("\n"))
    os.kill(start.pid, signal.SIGKILL)
    os.kill(int(child.read_text()), signal.SIGKILL)
    command.end(start)
    changed = HANGS.replace("echo torn down", "rm -rf precious; echo other")
    (command.cwd / "gateway-bench.toml").write_text(changed)
    done = command("clean", "--yes", "--older-than", "0s")
    assert "warning: its teardown was not run: " in done.err
    assert history(command) == ["prepared"]


def test_a_start_that_failed_or_came_up_leaves_no_note_of_what_it_prepared(command):
    describe(command, DESCRIBED.replace("gateway_entry.py", "broken.py"))
    (command.cwd / "broken.py").write_text("raise SystemExit(1)\n")
    assert command("start").code == 3
    assert history(command) == ["prepared", "torn down"]
    describe(command)
    assert command("start").code == 0
    assert list(command.state.glob("*.prep")) == []
