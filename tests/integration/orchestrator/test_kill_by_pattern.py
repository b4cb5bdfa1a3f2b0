"""A real `pkill -f` of somebody else, in a PID namespace of the test's own, hits nothing of ours."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

import bench
from tests.command_line import CommandLine
from tests.killable_gateway import SECRET, build_killable
from tests.patience import until
from tests.pid_namespace import needs_namespace, run_inside

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        shutil.which("node") is None and os.environ.get("CI") != "true",
        reason="needs Node 20 or newer; with CI=true its absence is a failure",
    ),
]

# Starts the job as its only child, kills by each pattern while trials come in, reaps what is left
# to it as PID 1, and tells what was hit.
RAID = """
import os, pathlib, shutil, subprocess, time

job = subprocess.Popen(given["words"], cwd=given["folder"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)

def trials():
    return sum(one.read_bytes().count(b'"type":"trial"')
               for one in pathlib.Path(given["out"]).glob("*.jsonl"))

hits, shown = {}, []
while job.poll() is None and trials() < 2:
    time.sleep(0.02)
# Somebody else's, whom the same kill does hit: it works here.
other = subprocess.Popen(["node dist/serve.js", "600"], executable=shutil.which("sleep"))
control = [subprocess.run(["pkill", "-f", "dist/serve.js"]).returncode, other.wait()]
for pattern in given["patterns"]:
    before = subprocess.run(["pgrep", "-af", pattern], capture_output=True, text=True).stdout
    killed = subprocess.run(["pkill", "-f", pattern]).returncode
    hits[pattern] = [killed, before]
for folder in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        shown.append((folder / "cmdline").read_bytes().replace(b"\\0", b" ").decode())
    except OSError:
        pass
during = trials()
out, err = job.communicate()
print(json.dumps({"code": job.returncode, "out": out, "err": err, "hits": hits,
                  "during": during, "shown": shown, "control": control}))
"""
RUNS = 40
"""Enough to go on for longer than all the kills take on a busy machine."""
PATTERNS = (
    *("dist/serve.js", "serve.js", "dist/serve", "serve", "dist", "gateway"),
    *("node dist", "node .*serve", "shop-gateway", "bench .*serve"),
)


@pytest.fixture
def tree():
    # Not pytest's folder: it holds the test's name.
    root = Path(tempfile.mkdtemp(prefix="y")).resolve()
    yield build_killable(root / "shop-gateway")
    shutil.rmtree(root)


@pytest.fixture
def command(tree):
    line = CommandLine(tree.parent / "home", tree, SECRET_KEY=SECRET)
    assert line("trust").code == 0
    yield line
    assert line.records() == []
    assert line.leftovers() == []


def environment_of_the_worktree(tree: Path) -> Path:
    """Make a virtual environment in the worktree, so that each path to our command names it."""
    folder = tree / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    ours, root = sysconfig.get_path("purelib"), Path(bench.__file__).parents[1]
    (packages / "ours.pth").write_text(f"{root}\nimport site; site.addsitedir({ours!r})\n")
    script = folder / "bin" / "gateway-bench"
    script.write_text(f"#!{folder}/bin/python\nfrom orchestrator.cli import main\nmain()\n")
    script.chmod(0o755)
    return script


@needs_namespace()
def test_a_kill_by_pattern_in_the_middle_of_a_run_hits_nothing_of_ours(tree, command):
    script = environment_of_the_worktree(tree)
    words = [str(script), "run", "sim-ttft50-itl10-n10", "--case", "fixed_output_stream"]
    words += ["--entry", "dist/serve.js", "--gateway", str(tree), "--runs", str(RUNS), "--no-key"]
    given = {"words": [*words, "--json"], "folder": str(tree), "out": str(command.out)}
    told = run_inside(RAID, {**given, "patterns": PATTERNS}, command.environ)
    assert told["hits"] == {pattern: [1, ""] for pattern in PATTERNS}, told["shown"]
    assert told["control"] == [0, -signal.SIGTERM]
    assert told["code"] == 0, told["err"]
    said = json.loads(told["out"])
    assert (said["done"], said["failed"], said["status"]) == (RUNS, 0, "done")
    assert 2 <= told["during"] < RUNS
    # gateway, simulator, job, measuring process: all four were there and showed nothing.
    ours = [one for one in told["shown"] if one.startswith(("python", "node "))]
    assert len([one for one in ours if " -m " in one]) == 2
    assert len([one for one in ours if str(command.state) in one]) == 2
    assert said["detail"]["gateway"]["exposure"] == []
    assert "would be hit" not in told["err"]


def shown_by(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


@pytest.mark.parametrize("words", [("start",), ("run", "m", "--no-key")], ids=["start", "run"])
def test_what_was_typed_is_out_of_sight_before_anything_is_started(command, words):
    job = command.begin(*words, "--entry", "dist/serve.js", "--health", "/gateway/none",
                        "--ready-timeout", "6s", "--json")  # fmt: skip

    def has_begun():
        assert job.poll() is None
        return command.records()

    until(has_begun, pause_s=0.005)
    assert shown_by(job.pid).split()[1:] == ["-m", "orchestrator"]
    done = command.end(job)
    assert (done.code, done.told["reason"]) == (3, "never_ready")
    assert "HTTP 404" in done.told["headline"] or "/gateway/none" in done.told["headline"]


def test_what_is_still_in_sight_of_a_pattern_of_ones_own_is_said(command):
    """A pattern that hits every Python can't be hidden from; it is named before anything is sent."""
    toml = command.cwd / "gateway-bench.toml"
    toml.write_text(toml.read_text().replace("[gateway]", "[gateway]\nkill_patterns = ['orchest']"))
    assert command("trust").code == 0
    done = command("run", "sim-ttft5-itl1-n8", "--case", "seeded_grounded_unknown", "--no-key")
    assert done.code == 0
    warnings = [line for line in done.err.splitlines() if line.startswith("warning: this command")]
    assert len(warnings) == 1
    assert warnings[0].endswith("would be hit by `pkill -f 'orchest'`")
