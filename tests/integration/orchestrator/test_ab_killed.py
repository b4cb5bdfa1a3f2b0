"""A comparison that was killed: `clean` runs what was agreed and removes the trees, of any side."""

import os
import signal
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.delaying_gateway import DelayingGateway
from tests.patience import until

pytestmark = pytest.mark.integration

SLOW_MODEL = "sim-ttft150-itl1-n4"
LONG = ("--pairs", "200", "--noise-pairs", "0", "--cold-pairs", "0", "--max-tokens", "4")
CLEAN = ("clean", "--older-than", "0s")
TEARDOWN = """teardown = ["sh -c 'echo $SIDE $(basename $PWD) >> $HISTORY'"]
upstream ="""


class Scene:
    """A trusted repository whose description has a teardown, and a comparison in it."""

    def __init__(self, root):
        self.history = root / "history"
        self.tree = DelayingGateway(root / "tree")
        described = self.tree.folder / "gateway-bench.toml"
        described.write_text(described.read_text().replace("upstream =", TEARDOWN))
        self.tree.commit("1")
        self.command = CommandLine(root / "home", self.tree.folder, HISTORY=str(self.history))
        assert self.command("trust", ".").code == 0

    def begun(self, *words):
        """Begin a comparison, and return it once both sides are asked."""
        job = self.command.begin("ab", SLOW_MODEL, *words, *LONG)
        until(lambda: self.is_measured() or job.poll() is not None)
        assert job.poll() is None, self.command.end(job).err
        return job

    def killed(self, *words):
        """Kill a comparison and its measuring process once both sides are asked."""
        job = self.begun(*words)
        # Neither may see the other one die: it would end in order.
        job.send_signal(signal.SIGSTOP)
        children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        for pid in (*map(int, children), job.pid):
            os.kill(pid, signal.SIGKILL)
        self.command.end(job)
        assert len(self.command.records()) == 3  # both sides and the simulator
        assert self.torn_down() == []

    def is_measured(self):
        text = "".join(one.read_text() for one in self.command.out.glob("*.jsonl"))
        return all(f'"trialId":"{SLOW_MODEL}@{side}|' in text for side in "ab")

    def torn_down(self):
        return sorted(self.history.read_text().splitlines()) if self.history.exists() else []

    def nothing_left(self):
        assert self.command.records() == []
        assert self.command.leftovers() == []
        assert self.tree.worktrees() == [str(self.tree.folder)]
        assert [one.name for one in self.command.state.glob("*.d")] == []


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path.resolve())
    yield made
    for record in made.command.records():
        made.command("stop", str(record["identity"]["pid"]))
    assert made.command.leftovers() == []


def test_a_clean_up_after_it_tears_both_sides_down_and_removes_the_tree(scene):
    sides = ("--a-ref", "HEAD", "--a-env", "SIDE=one", "--b-env", "SIDE=two")
    # What is exported is no order for a side: two gateways can't have one port.
    scene.command.environ["GATEWAY_PORT"] = "24567"
    scene.killed(*sides)
    shown = scene.command(*CLEAN)
    assert "the working tree of a comparison that was killed" in shown.out
    assert len(scene.tree.worktrees()) == 2
    done = scene.command(*CLEAN, "--yes")
    assert done.code == 0, done.err
    assert "warning" not in done.err
    assert scene.torn_down() == ["one t", "two tree"]
    scene.nothing_left()


def test_a_tree_stays_as_long_as_a_gateway_of_it_is_kept(scene):
    scene.killed("--a-ref", "HEAD", "--a-env", "SIDE=one", "--b-env", "SIDE=two")
    records = {one["name"].rpartition("-")[2]: one for one in scene.command.records()}
    assert scene.command("stop", str(records["b"]["identity"]["pid"])).code == 0
    assert scene.torn_down() == ["two tree"]
    # A clean-up that is too early for all of it.
    assert scene.command("clean", "--older-than", "1h", "--yes").code == 0
    assert len(scene.tree.worktrees()) == 2
    assert scene.command(*CLEAN, "--yes").code == 0
    assert scene.torn_down() == ["one t", "two tree"]
    scene.nothing_left()


def test_nothing_of_a_comparison_that_is_alive_is_removed(scene):
    job = scene.begun("--a-ref", "HEAD", "--a-env", "SIDE=one", "--b-env", "SIDE=two")
    done = scene.command(*CLEAN, "--yes")
    assert (done.code, done.out) == (0, "0 gateways removed\n")
    job.send_signal(signal.SIGINT)
    assert scene.command.end(job).code == 130
    assert scene.torn_down() == ["one t", "two tree"]
    scene.nothing_left()
    assert list(scene.command.state.glob("*.use")) != []  # of what is told afterwards only
    assert all(one.with_suffix(".end").exists() for one in scene.command.state.glob("*.use"))


def test_a_side_described_by_a_file_that_is_gone_is_removed_and_that_is_said(scene):
    other = scene.history.parent / "other.toml"
    text = (scene.tree.folder / "gateway-bench.toml").read_text()
    other.write_text(text.replace('entry = "', 'dir = "tree"\nentry = "tree/'))
    refused = scene.command("ab", SLOW_MODEL, "--a-config", str(other))
    assert (refused.code, f"type `gateway-bench trust {other}`" in refused.err) == (7, True)
    assert scene.command("trust", str(other)).code == 0
    scene.killed("--a-config", str(other), "--a-env", "SIDE=one", "--b-env", "SIDE=two")
    other.unlink()
    done = scene.command(*CLEAN, "--yes")
    assert done.code == 0, done.err
    assert f"warning: its teardown was not run: `{other}` can't be read" in done.err
    assert scene.torn_down() == ["two tree"]
    scene.nothing_left()
