"""Processes that only look like ours, and PIDs that became somebody else's."""

import os
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import NotForUs, PidReused
from orchestrator.holding import hold_for_use
from orchestrator.records import Instance
from orchestrator.removals import Pick, Wish, removals
from orchestrator.verdicts import Verdict
from tests.patience import PATIENCE_S, until
from tests.stray_place import (
    NOW,
    ROOT,
    UNSHARE,
    cleaned,
    is_of,
    running,
    seen,
)
from tests.yard import SERVER

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


@pytest.fixture
def yard(yard):
    yield yard
    yard.stop()


def test_a_suspect_is_ended_only_by_the_pid_and_start_it_was_shown_with(yard):
    script = yard.write("dist/serve.js", "import time\ntime.sleep(60)\n")
    with running(sys.executable, str(script), cwd=yard.worktree) as process:
        until(lambda: any(one.pid == process.pid for one in seen(yard)))
        suspect = next(one for one in seen(yard) if one.pid == process.pid)
        assert suspect.verdict is Verdict.SUSPECT
        assert suspect.reason == "runs `dist/serve.js`"
        assert suspect.worktree == str(yard.worktree)
        listed = [one for one in seen(yard) if one.pid == process.pid]
        assert [one.action for one in removals(listed, NOW)] == ["keep"]

        attached = Instance(worktree=yard.worktree, name=f"PID {process.pid}")
        lock = hold_for_use(yard.machine, attached, "run-that-attached")
        held = next(one for one in seen(yard) if one.pid == process.pid)
        assert held.verdict is Verdict.HELD
        assert held.reason == "runs `dist/serve.js`; attached to, and in use"
        lock.release()

        start = suspect.identity.start_ticks
        wrong = Pick(pid=process.pid, start=start + 1)
        with pytest.raises(PidReused):
            cleaned(yard, replace(NOW, picks=(wrong,)))
        assert process.poll() is None
        right = Pick(pid=process.pid, start=start)
        done = cleaned(yard, Wish(older_than_s=9e9, picks=(right,)))
        assert [one.is_done for one in done] == [True]
        assert process.wait() == -signal.SIGTERM


def test_who_took_the_port_of_a_dead_one_is_a_suspect_and_an_editor_of_an_entry_is_not(yard):
    started = yard.start_script()
    port = started.record.port
    os.kill(started.held.pid, signal.SIGKILL)
    assert started.held.ended(PATIENCE_S)
    server = yard.write("srv.py", f"{SERVER}serve({port})\n")
    with (
        running(sys.executable, str(server), cwd=yard.root) as stranger,
        running("bash", "-c", "exec -a 'vim dist/serve.js' sleep 60") as editor,
    ):
        until(lambda: yard.machine.sockets.listeners(port))
        until(lambda: Path(f"/proc/{editor.pid}/cmdline").read_bytes().startswith(b"vim "))
        by_pid = {one.pid: one for one in seen(yard)}
        assert editor.pid not in by_pid
        assert by_pid[stranger.pid].verdict is Verdict.SUSPECT
        assert by_pid[stranger.pid].reason == (
            f"listens on {port}, the port of `default`, which is on record"
        )
        assert [one.why for one in cleaned(yard)] == ["its record is put away"]
        assert stranger.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="starts a process of another user")
def test_another_users_is_shown_and_never_touched(yard):
    marked = {
        **os.environ,
        "GWB_RUN": yard.run_id + "-nobody",
        "GWB_RECORD": str(yard.machine.state.root / "00000000.json"),
    }
    with running("sleep", "60", user=65534, env=marked, cwd="/") as process:
        until(lambda: any(one.pid == process.pid for one in seen(yard)))
        found = [one for one in seen(yard) if one.pid == process.pid]
        assert [one.verdict for one in found] == [Verdict.OTHER_USER]
        assert all(one.action == "keep" for one in removals(found, NOW))
        pick = Pick(pid=process.pid, start=found[0].identity.start_ticks)
        with pytest.raises(NotForUs):
            cleaned(yard, replace(NOW, picks=(pick,)))
        assert process.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a PID namespace")
def test_what_runs_in_a_pid_namespace_of_its_own_is_never_touched(yard):
    script = yard.write("dist/serve.js", "import time\ntime.sleep(60)\n")
    words = (UNSHARE, "--pid", "--fork", "--kill-child", sys.executable, str(script))
    marked = {
        **os.environ,
        "GWB_RUN": yard.run_id,
        "GWB_RECORD": str(yard.machine.state.root / "00000000.json"),
    }
    with running(*words, env=marked) as process:

        def inside():
            return [one for one in yard.marked() if one.parent == process.pid]

        until(inside)
        if not inside():
            pytest.skip("no PID namespace can be made here")
        found = [one for one in seen(yard) if is_of(yard, one)]
        assert [one.verdict for one in found] == [Verdict.CONTAINER]
        assert cleaned(yard) == ()
        assert inside()
    until(lambda: not yard.marked())


@pytest.mark.skipif(os.geteuid() != 0, reason="gives out PIDs in a namespace of its own")
def test_a_pid_that_was_given_away_since_it_was_shown_is_never_signalled():
    inside = f"{shlex.quote(sys.executable)} -m tests.pid_reuse; exit $?"
    done = subprocess.run(
        [UNSHARE, "--pid", "--fork", "--mount-proc", "--kill-child", "bash", "-c", inside],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if "Operation not permitted" in done.stderr or "Read-only file system" in done.stderr:
        pytest.skip("no PID namespace with its own ns_last_pid can be made here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "decided before the reuse: left alone",
        "printed before the reuse: the PID was reused",
        "gateway on record: its record is put away, the stranger lives",
    ]
