"""The whole job on the embedded gateway: its ends, what it leaves, and what it goes on with."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.cut_journal import cut_before_last_trial
from tests.patience import until

pytestmark = pytest.mark.integration

SHORT = ("sim-ttft5-itl1-n8", "--case", "seeded_grounded_unknown,seeded_structured_extraction")
ENDLESS = ("sim-ttft100-itl20-n20", "--case", "fixed_output_stream", "--runs", "200")
"""Ends only because it is told to."""
LONG = ("sim-ttft100-itl20-n20", "--case", "fixed_output_stream", "--runs", "12")


@pytest.fixture
def command(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    line = CommandLine(tmp_path / "home", folder)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


def journal(command):
    (found,) = command.out.glob("*.jsonl")
    # The last line may be half written.
    return [json.loads(line) for line in found.read_bytes().split(b"\n")[:-1]]


def measured(command, count=2):
    """Wait until some trials are in the journal."""

    def enough():
        for found in command.out.glob("*.jsonl"):
            return found.read_bytes().count(b'"type":"trial"') >= count
        return False

    until(enough)


def bench_child(job):
    """PID of the measuring process of a job."""
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()

    def is_bench(pid):
        return b"\0-m\0bench\0" in Path(f"/proc/{pid}/cmdline").read_bytes()

    return next(int(pid) for pid in children if is_bench(pid))


def kill_in_flight(command, pid):
    """Kill a measuring process while a request of it is under way: between two none is."""

    def is_in_flight():
        os.kill(pid, signal.SIGSTOP)
        kinds = [one["type"] for one in journal(command)]
        if kinds.count("started") > kinds.count("trial"):
            return True
        os.kill(pid, signal.SIGCONT)
        return False

    until(is_in_flight)
    os.kill(pid, signal.SIGKILL)


def test_a_demo_ends_with_the_paths_of_its_reports_and_leaves_nothing(command):
    done = command("demo", *SHORT)
    assert done.code == 0
    paths = [Path(line) for line in done.out.splitlines()]
    assert {one.suffix for one in paths} == {".json", ".md", ".html", ".csv", ".jsonl"}
    assert all(one.is_absolute() and one.is_file() for one in paths)
    assert "SIMULATED" in done.err
    assert [one.suffix for one in command.state.iterdir() if one.suffix in {".py", ".d"}] == []


def test_the_object_of_a_demo_holds_bench_and_gateway(command):
    done = command("demo", *SHORT, "--json")
    told = done.told
    assert told["command"] == "demo"
    assert (told["status"], told["exitCode"], told["planned"]) == ("done", 0, told["done"])
    assert done.gateway["preset"] == "demo"
    assert done.gateway["stopped"] is True
    assert done.gateway["exit"]["code"] == 0
    records = journal(command)
    header, last = records[0], records[-1]
    assert header["runId"] == told["runId"]
    assert header["simulated"] is True
    assert header["launch"]["flags"] == {"preset": "demo"}
    assert last["type"] == "footer"
    gateway = [one for one in records if one["type"] == "gateway"][-1]
    assert gateway["exit"]["code"] == 0
    assert [one["name"] for one in gateway["events"]][-1] == "port_free"


def test_ctrl_c_once_finishes_what_is_in_flight_and_stops_the_gateway(command):
    job = command.begin("demo", *ENDLESS, "--json")
    measured(command)
    job.send_signal(signal.SIGINT)
    done = command.end(job)
    assert done.code == 130
    assert done.told["status"] == "stopped"
    assert 0 < done.told["done"] < done.told["planned"]
    assert done.gateway["stopped"] is True
    assert done.told["next"].startswith("gateway-bench resume ")
    assert journal(command)[-1]["reason"] == "interrupted"


def test_ctrl_c_before_anything_is_measured_says_so(command):
    job = command.begin("demo", *ENDLESS, "--json")
    until(lambda: list(command.state.glob("*.json")))
    job.send_signal(signal.SIGINT)
    done = command.end(job)
    assert done.code == 130
    assert done.told["status"] == "stopped"


def test_sigterm_ends_as_ctrl_c_does_with_143(command):
    job = command.begin("demo", *ENDLESS, "--json")
    measured(command)
    job.send_signal(signal.SIGTERM)
    done = command.end(job)
    assert (done.code, done.gateway["stopped"]) == (143, True)


def test_a_killed_gateway_is_an_incident_and_exit_4_and_the_rest_can_be_resumed(command):
    job = command.begin("demo", *LONG, "--json")
    measured(command)
    os.kill(command.records()[0]["identity"]["pid"], signal.SIGKILL)
    done = command.end(job)
    assert (done.code, done.told["status"]) == (4, "incomplete")
    kinds = [one["class"] for one in journal(command) if one["type"] == "incident"]
    assert kinds.count("gateway_killed") == 1
    assert done.gateway["exit"]["signal"] == signal.SIGKILL
    resumed = command("resume", done.told["files"][-1], "--json")
    assert (resumed.code, resumed.told["done"]) == (0, resumed.told["planned"])
    assert resumed.told["runId"] == done.told["runId"]


def test_a_killed_benchmark_gets_its_end_written_and_its_reports_made(command):
    job = command.begin("demo", *LONG, "--json")
    measured(command)
    kill_in_flight(command, bench_child(job))
    done = command.end(job)
    assert (done.code, done.told["reason"]) == (5, "client_killed")
    assert done.told["headline"].startswith("the measuring process was ended by SIGKILL; what it")
    assert len(done.told["files"]) == 6
    kinds = [one["type"] for one in journal(command)]
    assert kinds[-3:] == ["incident", "gateway", "footer"]
    assert journal(command)[-1]["reason"] == "killed"
    assert journal(command)[-3]["touchedTrials"] != []
    resumed = command("resume", "latest", "--json")
    assert (resumed.code, resumed.told["done"]) == (0, resumed.told["planned"])


def test_a_complete_run_starts_nothing_when_it_is_resumed(command):
    done = command("demo", *SHORT, "--json")
    made = Path(done.told["files"][-1])
    before = made.read_bytes()
    again = command("resume", "latest", "--json")
    assert (again.code, again.told["reason"]) == (0, "nothing_missing")
    assert again.told["files"] == done.told["files"]
    assert "gateway up" not in again.err
    assert made.read_bytes() == before


def test_a_kept_gateway_is_up_afterwards(command):
    done = command("demo", *SHORT, "--keep", "--json")
    assert (done.code, done.gateway["stopped"]) == (0, False)
    name = done.gateway["name"]
    assert command("status", name).code == 0
    assert command("stop", name).code == 0


def test_a_journal_from_elsewhere_is_not_started_before_somebody_agreed(command, tmp_path):
    done = command("demo", *SHORT, "--json")
    made = Path(done.told["files"][-1])
    elsewhere = cut_before_last_trial(made, tmp_path / "elsewhere.jsonl")
    refused = command("resume", str(elsewhere), "--json")
    assert (refused.code, refused.told["reason"]) == (7, "untrusted")
    assert refused.told["next"].endswith(f"`gateway-bench trust {elsewhere}`")
    assert command("trust", str(elsewhere)).code == 0
    assert command("resume", str(elsewhere)).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("run", "x", "--url", "http://h"), "`--url` is not for `run`", id="a URL"),
        pytest.param(("run", "--preset", "demo"), "no MODEL", id="no model"),
        pytest.param(("demo", "--preset", "litellm"), "its own gateway", id="a preset for demo"),
        pytest.param(("run", "x", "--prest", "demo"), "no such option", id="a mistyped option"),
    ],
)
def test_wrong_usage_is_exit_2_with_a_sentence(command, words, told):
    done = command(*words, "--json")
    assert done.code == 2
    assert told in done.told["headline"].lower() or told in done.told["headline"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("run", "demo-small", "--cases", "mine"), "mine/a.toml:2", id="a case"),
        pytest.param(("run", "demo-small", "--cases", "nowhere"), "no folder", id="no cases"),
        pytest.param(("run", "demo-small", "fast", "0"), "`--runs` is `0`", id="a setting"),
        pytest.param(("overhead", "demo-small", "--case", "nope"), "no case `nope`", id="overhead"),
        pytest.param(
            ("run", "demo-small", "--header-env", "x-team=NOBODY_SET_IT"),
            "another one with `--header-env`",
            id="a variable",
        ),
    ],
)
def test_what_cant_be_measured_is_told_before_a_gateway_is_started(command, words, told):
    (command.cwd / "mine").mkdir()
    (command.cwd / "mine" / "a.toml").write_text('prompt = "hi"\nprmpt = 3\n')
    done = command(*words, "--preset", "demo")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert "gateway up" not in done.err
