"""What is around a gateway, by the real command: build, prepare, teardown, its simulator, rivals."""

import os
import re
import shutil
import signal
import textwrap
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.patience import until
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration
STARTS = 20

DESCRIBED = """
[gateway]
entry = "gateway_entry.py"
upstream = "simulated"
build = ["sh -c 'echo built >> history'"]
prepare = ["sh -c 'echo prepared >> history'"]
teardown = ["sh -c 'echo torn down >> history'"]
[[gateway.generate]]
name = "settings"
text = "{upstream_url}"
"""


@pytest.fixture
def command(tmp_path_factory):
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    write_small_gateway(tree)
    line = CommandLine(home, tree)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def describe(command, text=DESCRIBED):
    (command.cwd / "gateway-bench.toml").write_text(textwrap.dedent(text))
    assert command("trust").code == 0


def history(command):
    path = command.cwd / "history"
    return path.read_text().splitlines() if path.exists() else []


def test_of_twenty_starts_one_starts_and_the_others_say_who_has_it(command):
    describe(command)
    begun = [command.begin("start", "--json") for _ in range(STARTS)]
    ended = [(one.pid, command.end(one)) for one in begun]
    told = [(pid, one.told) for pid, one in ended]
    fresh = [(pid, one) for pid, one in told if one["reason"] == "started"]
    assert len(fresh) == 1
    # Whoever comes after it has the turn for a moment, too, and finds that it is up.
    had_it = {pid for pid, one in told if one["reason"] in ("started", "was_up")}
    for pid, one in told:
        if pid not in had_it:
            assert one["reason"] == "start_under_way"
            who = re.search(r"is being started or stopped by PID (\d+) since", one["headline"])
            assert who is not None, one["headline"]
            assert int(who[1]) in had_it
            assert one["retryable"]
    # The losers neither built, nor took the winner's simulator and files away.
    assert history(command) == ["built", "prepared"]
    names = {one["name"]: one for one in command.records()}
    assert set(names) == {"default", "default-upstream"}
    (generated,) = command.state.glob("*.d/settings")
    assert generated.read_text() == f"http://127.0.0.1:{names['default-upstream']['port']}"
    assert command("status").code == 0

    stops = [command.begin("stop", "--json") for _ in range(4)]
    reasons = {command.end(one).told["reason"] for one in stops}
    assert reasons <= {"stopped", "was_down", "start_under_way"}
    assert history(command) == ["built", "prepared", "torn down"]
    assert command.records() == []
    assert list(command.state.glob("*.d")) == []


def test_a_simulator_that_ended_comes_back_on_the_port_that_its_gateway_knows(command):
    describe(command)
    assert command("start").code == 0
    before = {one["name"]: one for one in command.records()}
    assert command("stop", str(before["default-upstream"]["identity"]["pid"])).code == 2
    simulator = before["default-upstream"]
    # As somebody else's clean-up would.
    end(simulator["identity"]["pid"])
    again = command("start", "--json")
    assert again.told["reason"] == "was_up"
    after = {one["name"]: one for one in command.records()}
    assert after["default"] == before["default"]
    assert after["default-upstream"]["port"] == simulator["port"]
    assert after["default-upstream"]["identity"] != simulator["identity"]
    assert history(command) == ["built", "prepared"]
    assert command("stop").code == 0
    assert command.records() == []


def end(pid):
    os.kill(pid, signal.SIGKILL)
    until(lambda: state_of(pid) in (None, "Z"))


def state_of(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def test_a_prepare_that_fails_is_told_and_undone(command):
    describe(command, DESCRIBED.replace("echo prepared >> history", "echo half >> history; exit 3"))
    done = command("start", "--json")
    assert (done.code, done.told["reason"]) == (3, "command_failed")
    assert (
        "`prepare` command `sh -c 'echo half >> history; exit 3'` exited with status 3"
        in (done.told["headline"])
    )
    assert history(command) == ["built", "half", "torn down"]
    assert command.records() == []


def test_a_teardown_that_fails_is_told_and_the_gateway_is_down(command):
    describe(command, DESCRIBED.replace("echo torn down >> history", "echo locked; exit 1"))
    assert command("start").code == 0
    done = command("stop", "--json")
    assert (done.code, done.told["reason"]) == (3, "command_failed")
    assert "`teardown` command" in done.told["headline"]
    assert command.records() == []


def test_a_teardown_that_nobody_agreed_to_is_not_run_and_that_is_said(command):
    describe(command)
    assert command("start").code == 0
    changed = DESCRIBED.replace("echo torn down >> history", "rm -rf precious")
    (command.cwd / "gateway-bench.toml").write_text(changed)
    done = command("stop")
    assert done.code == 0
    assert "warning: its teardown was not run: " in done.err
    assert history(command) == ["built", "prepared"]
    assert command.records() == []


def test_a_clean_up_runs_the_teardown_as_a_stop_does(command):
    describe(command)
    assert command("start").code == 0
    done = command("clean", "--yes", "--mine", "--older-than", "0s")
    assert done.code == 0, done.err
    assert history(command) == ["built", "prepared", "torn down"]
    assert command("clean", "--yes", "--older-than", "0s").code == 0  # its simulator
    assert command.records() == []


def test_a_clean_up_runs_nothing_that_nobody_agreed_to_and_removes_the_gateway(command):
    describe(command)
    assert command("start").code == 0
    (command.cwd / "gateway-bench.toml").unlink()
    shutil.rmtree(command.cwd / ".git")
    done = command("clean", "--yes", "--older-than", "0s")
    assert done.code == 0, done.err
    assert "warning: its teardown was not run: " in done.err
    assert history(command) == ["built", "prepared"]
    assert command("clean", "--yes", "--older-than", "0s").code == 0
    assert command.records() == []


def test_a_gateway_that_a_command_keeps_is_up_afterwards_and_can_be_stopped(command):
    describe(command)
    done = command("exec", "--keep", "--", "true")
    assert done.code == 0, done.err
    (pid,) = [one["identity"]["pid"] for one in command.records() if "upstream" not in one["name"]]
    assert f"the gateway is left up: `gateway-bench stop {pid}` stops it" in done.err
    assert history(command) == ["built", "prepared"]
    assert command("stop", str(pid)).code == 0
    assert history(command) == ["built", "prepared", "torn down"]
    assert command.records() == []
