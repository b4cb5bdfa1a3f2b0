"""Two gateways at once: commits, configurations, what ends a comparison, what is left behind."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.decided import is_decided
from tests.delaying_gateway import DelayingGateway
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

MODEL = "sim-ttft5-itl1-n8"
FEW = ("--pairs", "8", "--noise-pairs", "0", "--cold-pairs", "0", "--max-tokens", "8")
SLOW_MODEL = "sim-ttft150-itl1-n4"
LONG = ("--pairs", "16", "--noise-pairs", "0", "--cold-pairs", "0", "--max-tokens", "4")


class Scene:
    """A trusted repository whose second commit is 40 ms slower, and the command in it."""

    def __init__(self, root):
        self.tree = DelayingGateway(root / "tree", delay_ms="0")
        self.slow = self.tree.commit("40")
        self.command = CommandLine(root / "home", self.tree.folder)
        assert self.command("trust", ".").code == 0

    def ab(self, *words, **environ):
        return self.command("ab", MODEL, *words, "--json", **environ)

    def records(self, kind):
        (found,) = self.command.out.glob("*.jsonl")
        lines = [json.loads(line) for line in found.read_bytes().splitlines()]
        return [one for one in lines if one["type"] == kind]

    def measured(self):
        """Wait until both sides have been asked."""

        def asked():
            journals = list(self.command.out.glob("*.jsonl"))
            text = journals[0].read_text() if journals else ""
            return all(f'"trialId":"{SLOW_MODEL}@{side}|' in text for side in "ab")

        wait_for(asked)

    def pid(self, letter):
        (found,) = [one for one in self.command.records() if one["name"].endswith(f"-{letter}")]
        return found["identity"]["pid"]

    def is_clean(self):
        assert self.command.records() == []
        assert self.command.leftovers() == []
        assert self.tree.worktrees() == [str(self.tree.folder)]
        assert [one.name for one in self.command.state.glob("*.d")] == []


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path.resolve())
    yield made
    made.is_clean()


def wait_for(what):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def test_two_commits_are_built_verified_compared_and_removed(scene):
    done = scene.ab("--a-ref", "HEAD~1", "--b-ref", "main", *FEW, "--fail-on", "ttft=+20%")
    told = done.told
    sides = told["detail"]["sides"]
    assert [sides[one]["commit"] for one in ("base", "changed")] == [scene.tree.first, scene.slow]
    assert told["detail"]["isSame"] is False
    (gate,) = told["detail"]["gates"]
    assert gate["gate"] == "ttft=+20%"
    if is_decided(gate):
        assert (done.code, told["status"], gate["verdict"]) == (6, "gate_failed", "failed")
        assert gate["value"] > 0.2
    gateways = told["detail"]["gateway"]
    assert all(gateways[letter]["stopped"] for letter in "ab")
    assert not (scene.tree.folder / "dist").exists(), "the working tree was built in"
    ends = {one["side"]: one["exit"] for one in scene.records("gateway")}
    assert set(ends) == {"base", "changed"}
    assert all(ends.values())
    assert {one["side"] for one in scene.records("sample")} == {"base", "changed"}
    # Only what the first commit means now is kept: its name may move.
    (header,) = scene.records("header")
    assert header["launch"]["flags"]["a"]["ref"] == scene.tree.first
    shown = scene.command("render", "latest")
    assert shown.code == 0
    assert "ttft=+20%" in shown.err


def test_a_variable_of_one_side_wins_over_an_exported_one_and_the_folder_is_built_once(scene):
    words = ("--b-env", "DELAY_MS=40", *FEW, "--fail-on", "ttft=+20%", "--bisect")
    done = scene.ab(*words, DELAY_MS="0")
    (gate,) = done.told["detail"]["gates"]
    assert done.code == (1 if is_decided(gate) else 125), done.err
    assert done.told["detail"]["isSame"] is False
    assert done.err.count("build: python3 build.py") == 1


def test_the_same_gateway_twice_is_announced_as_a_a_and_good_for_bisect(scene):
    done = scene.ab("--a-ref", "main", *FEW, "--fail-on", "total=+100ms", "--bisect")
    (gate,) = done.told["detail"]["gates"]
    assert done.code == (0 if is_decided(gate) else 125), done.err
    assert "A/A, both sides are the same" in done.told["headline"]
    assert done.told["detail"]["isSame"] is True
    assert "A/A" in done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(("--a-ref", "nowhere"), 2, "`--a-ref` names no commit: `nowhere`", id="ref"),
        pytest.param(("--port", "4001"), 2, "two gateways can't have one port", id="port"),
        pytest.param(("--b-env", "API_KEY=x"), 2, "looks like a secret", id="secret"),
        pytest.param(("--b-env", "=x"), 2, "is no `NAME=VALUE`", id="variable"),
        pytest.param(("--seed", "x"), 2, "`--seed` is `x`", id="setting"),
        pytest.param(("--slo", "ttft=1s"), 2, "`--slo` is of a run of one", id="objective"),
        pytest.param(("-c", "8", "-n", "2"), 2, "less than the 8 requests", id="block"),
        pytest.param(("--fail-on", "ttft.p99=1s"), 2, "a sign is needed", id="gate"),
        pytest.param(("--case", "smoke,knapsack"), 2, "`smoke`", id="case"),
        pytest.param(("--body", "gone.json"), 2, "can't be read", id="body"),
        pytest.param(("--bisect",), 125, "needs a gate that decides", id="bisect"),
        pytest.param(("--b-config", "gone.toml"), 2, "can't be read", id="config"),
        pytest.param(("--b-preset", "lite"), 2, "did you mean `litellm`", id="preset"),
    ],
)
def test_what_can_not_be_is_said_before_anything_starts(scene, words, code, said):
    done = scene.ab(*words)
    assert done.code == code
    assert said in done.told["headline"]
    assert not scene.command.out.exists()


def test_a_commit_that_can_not_be_built_leaves_nothing_and_is_skipped_by_bisect(scene):
    broken = scene.tree.commit("broken")
    done = scene.ab("--b-ref", broken, "--a-ref", "HEAD~1", *FEW)
    assert (done.code, done.told["reason"]) == (3, "command_failed")
    assert "this commit can't be built" in done.told["headline"]
    scene.is_clean()
    skipped = scene.ab("--b-ref", broken, *FEW, "--fail-on", "ttft=+5%", "--bisect")
    assert (skipped.code, skipped.told["detail"]["class"]) == (125, 3)


def test_the_description_of_a_commit_wants_the_same_trust_as_that_of_the_folder(scene):
    toml = scene.tree.folder / "gateway-bench.toml"
    text = toml.read_text()
    toml.write_text(text.replace('["python3", "build.py"]', '["python3", "-B", "build.py"]'))
    strange = scene.tree.commit("6")
    done = scene.ab("--a-ref", "HEAD~1", "--b-ref", strange, *FEW)
    assert done.code == 7
    assert "python3 -B build.py" in done.told["headline"]


def test_a_killed_side_is_named_and_the_rest_is_asked_by_resume(scene):
    job = scene.command.begin("ab", SLOW_MODEL, "--a-ref", "HEAD~1", *LONG, "--json")
    scene.measured()
    os.kill(scene.pid("b"), signal.SIGKILL)
    done = scene.command.end(job)
    assert (done.code, done.told["status"]) == (4, "incomplete"), done.err
    (incident,) = [one for one in scene.records("incident") if one["class"] == "gateway_killed"]
    assert incident["summary"].startswith("Side b: ")
    assert incident["detail"]["side"] == "b"
    assert all(done.gateway[letter]["stopped"] for letter in "ab")
    scene.is_clean()
    resumed = scene.command("resume", "latest", "--json")
    assert (resumed.code, resumed.told["done"]) == (0, resumed.told["planned"]), resumed.err
    assert resumed.told["runId"] == done.told["runId"]


def test_ctrl_c_stops_both_and_keeps_what_was_measured(scene):
    job = scene.command.begin("ab", SLOW_MODEL, "--b-ref", "HEAD~1", *LONG, "--json")
    scene.measured()
    job.send_signal(signal.SIGINT)
    done = scene.command.end(job)
    assert (done.code, done.told["status"]) == (130, "stopped")
    assert 0 < done.told["done"] < done.told["planned"]
    assert all(done.gateway[letter]["stopped"] for letter in "ab")


def test_a_killed_measuring_process_gets_its_end_written_for_both(scene):
    job = scene.command.begin("ab", SLOW_MODEL, "--preset", "demo", *LONG, "--json")
    scene.measured()
    os.kill(child_of(job), signal.SIGKILL)
    done = scene.command.end(job)
    assert (done.code, done.told["reason"]) == (5, "client_killed")
    assert {one["side"] for one in scene.records("gateway")[-2:]} == {"base", "changed"}
    assert scene.records("footer")[-1]["reason"] == "killed"


def child_of(job):
    """PID of the measuring process of a job."""
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()

    def is_bench(pid):
        return b"\0-m\0bench\0" in Path(f"/proc/{pid}/cmdline").read_bytes()

    return next(int(pid) for pid in children if is_bench(pid))
