"""A PID that was printed and is given away before it is acted upon, inside a namespace of its own.

Run as ``unshare --pid --fork --mount-proc bash -c 'python pid_reuse.py; exit $?'``: PIDs are given
out by ``ns_last_pid``, which nobody but this namespace sees. Prints a line for each thing shown.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from orchestrator.cleaning import clean
from orchestrator.errors import PidReused
from orchestrator.removals import Pick, Wish, removals
from orchestrator.survey import survey
from orchestrator.verdicts import Verdict
from tests.patience import PATIENCE_S
from tests.yard import Yard

SLEEP = shutil.which("sleep") or "sleep"
NOW = Wish(older_than_s=0.0)


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def stranger_at(pid: int) -> "subprocess.Popen[bytes]":
    """Start a harmless process that gets exactly this PID."""
    for _ in range(200):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
        process = subprocess.Popen([SLEEP, "60"])
        if process.pid == pid:
            return process
        process.kill()
        process.wait()
    raise AssertionError(pid)


def wait_gone(pid: int) -> None:
    """Wait until PID 1 of this namespace has reaped it."""
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.02)


def suspect_reused(yard: Yard) -> None:
    script = yard.write("dist/serve.js", "import time\ntime.sleep(60)\n")
    suspect = subprocess.Popen([sys.executable, str(script)])
    while not any(one.pid == suspect.pid for one in survey(yard.machine, near="/")):
        pass
    shown = next(one for one in survey(yard.machine, near="/") if one.pid == suspect.pid)
    assert shown.verdict is Verdict.SUSPECT
    assert shown.identity is not None
    wish = Wish(older_than_s=0.0, picks=(Pick(pid=suspect.pid, start=shown.identity.start_ticks),))
    decided = removals(survey(yard.machine, near="/"), wish)
    suspect.kill()
    suspect.wait()
    stranger = stranger_at(suspect.pid)
    done = clean(yard.machine, decided, is_ended=lambda: False)
    assert [(one.is_done, one.why) for one in done] == [(False, "it is gone")]
    assert stranger.poll() is None
    say("decided before the reuse: left alone")
    stranger.kill()
    stranger.wait()

    again = subprocess.Popen([sys.executable, str(script)])
    fake = Pick(pid=again.pid, start=shown.identity.start_ticks)
    while not any(one.pid == again.pid for one in survey(yard.machine, near="/")):
        pass
    try:
        removals(survey(yard.machine, near="/"), Wish(older_than_s=0.0, picks=(fake,)))
    except PidReused as fault:
        say(f"printed before the reuse: {fault.message.rpartition(': ')[2]}")
    assert again.poll() is None
    again.kill()
    again.wait()


def gateway_reused(yard: Yard) -> None:
    started = yard.start_script()
    pid = started.held.pid
    decided = removals(survey(yard.machine, near="/"), NOW)
    os.kill(pid, signal.SIGKILL)
    assert started.held.ended(PATIENCE_S)
    wait_gone(pid)
    stranger = stranger_at(pid)
    shown = next(one for one in survey(yard.machine, near="/") if one.record is not None)
    assert (shown.verdict, shown.reason) == (Verdict.DEAD, "the PID belongs to another process")
    done = clean(yard.machine, decided, is_ended=lambda: False)
    assert [one.why for one in done] == ["its record is put away"]
    assert stranger.poll() is None
    assert yard.machine.state.names(".json") == ()
    say("gateway on record: its record is put away, the stranger lives")
    stranger.kill()
    stranger.wait()


def main() -> None:
    yard = Yard()
    try:
        suspect_reused(yard)
        gateway_reused(yard)
    finally:
        assert yard.close() == []


if __name__ == "__main__":
    main()
