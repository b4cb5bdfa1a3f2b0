"""What tests of strays share: looking, removing, working trees, holders, strangers."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from orchestrator.cleaning import clean
from orchestrator.records import Instance
from orchestrator.removals import Wish, removals
from orchestrator.survey import survey
from tests.yard import SERVER

ROOT = Path(__file__).parents[1]
NOW = Wish(older_than_s=0.0)
UNSHARE = shutil.which("unshare") or "unshare"
GIT = shutil.which("git") or "git"
HOLDER = """
import subprocess, sys
from pathlib import Path
from orchestrator.holding import hold_for_use
from orchestrator.records import Instance
from orchestrator.system import machine
state, worktree, name, leaves = sys.argv[1:]
lock = hold_for_use(
    machine(Path(state)), Instance(worktree=Path(worktree), name=name), "run-of-the-holder"
)
child = None
if leaves == "yes":
    child = subprocess.Popen(["sleep", "60"], pass_fds=(lock.descriptor,))
print(child.pid if child else 0, flush=True)
sys.stdin.read()
"""


def seen(yard):
    return survey(yard.machine, near=str(yard.root))


def only(yard, verdict):
    found = [one for one in seen(yard) if one.verdict is verdict and is_of(yard, one)]
    assert len(found) == 1, [(one.verdict, one.reason) for one in seen(yard)]
    return found[0]


def is_of(yard, stray):
    return stray.record_path is not None and stray.record_path.startswith(str(yard.root))


def cleaned(yard, wish=NOW):
    return clean(yard.machine, removals(seen(yard), wish), is_ended=lambda: False)


def git(folder, *words):
    subprocess.run(
        [GIT, "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *words],
        check=True,
        capture_output=True,
    )


def grow(yard, folder):
    """Put a gateway's files into a folder and start one there."""
    yard.worktree = folder
    yard.write("dist/server.py", SERVER)
    instance = Instance(worktree=folder, name="default")
    return yard.start_script(request=replace(yard.request, instance=instance))


@contextmanager
def running(*words, **more):
    with subprocess.Popen(
        list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **more
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def holder(yard, *, leaves_child=False):
    words = (str(yard.machine.state.root), str(yard.worktree), "default")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    leaves = "yes" if leaves_child else "no"
    with running(sys.executable, "-c", HOLDER, *words, leaves, env=environment) as process:
        yield process, int(process.stdout.readline())
