"""Real stops: by identity only, completely, and never a stranger."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from orchestrator import records
from orchestrator.errors import IdentityUnknown, PidReused, RecordUnreadable
from orchestrator.lifecycle import find
from tests.patience import PATIENCE_S, until
from tests.yard import GUARDED

pytestmark = pytest.mark.integration

STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + GUARDED
# The grandchild holds the port from a session of its own, with SIGTERM ignored.
ESCAPED = """
import os, signal, subprocess, sys, time
from server import serve
if len(sys.argv) == 1 and __name__ == "__main__":
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            serve()
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
"""


def is_free(port):
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
            trial.listen()
        except OSError:
            return False
    return True


def names(yard):
    return sorted(path.suffix for path in (yard.root / "st").iterdir())


def test_after_a_stop_the_port_is_free_and_nothing_is_left(yard):
    started = yard.start_script()
    done = yard.stop(held=started.held)
    assert (done.was_down, done.was_killed) == (False, False)
    assert done.ending.exit.signal == signal.SIGTERM
    assert is_free(started.record.port)
    assert yard.marked() == []
    assert names(yard) == [".end", ".lock", ".log"]
    assert yard.stop().was_down


def test_a_stop_does_not_wait_for_the_zombie_to_be_reaped(yard):
    started = yard.start_script()
    done = yard.stop(held=started.held, grace_s=PATIENCE_S)
    # The order is the proof: PID 1 may reap long after this.
    assert [event.name for event in done.ending.events] == ["term_sent", "gone", "port_free"]


def test_what_ignores_sigterm_is_killed_after_the_grace(yard):
    started = yard.start_script(STUBBORN)
    done = yard.stop(held=started.held, grace_s=0.3)
    assert done.was_killed
    assert done.ending.exit.signal == signal.SIGKILL
    assert is_free(started.record.port)


def test_a_grandchild_that_escaped_with_the_port_is_swept(yard):
    started = yard.start_script(ESCAPED)
    sessions = {one.session for one in yard.marked()}
    assert len(sessions) == 2
    done = yard.stop(held=started.held, grace_s=0.2)
    assert "swept" in [event.name for event in done.ending.events]
    assert yard.marked() == []
    assert is_free(started.record.port)


def test_children_that_outlive_a_dead_leader_are_swept(yard):
    started = yard.start_script(ESCAPED)
    started.held.send(signal.SIGKILL)
    assert started.held.ended(PATIENCE_S)
    done = yard.stop(held=started.held)
    assert done.was_down
    assert done.ending.exit.signal == signal.SIGKILL
    assert not done.ending.was_asked
    assert yard.marked() == []
    assert is_free(started.record.port)


def test_a_suspended_gateway_is_stopped(yard):
    started = yard.start_script()
    started.held.send(signal.SIGSTOP)
    done = yard.stop(held=started.held, grace_s=PATIENCE_S)
    assert done.ending.exit.signal == signal.SIGTERM
    assert not done.was_killed


def test_a_gateway_that_ended_by_itself_is_a_success_with_its_status(yard):
    dying = GUARDED.replace(
        "    serve()",
        "    import os, sys, threading, time, _thread\n"
        "    def end():\n"
        "        while not os.path.exists('go'):\n"
        "            time.sleep(0.02)\n"
        "        _thread.interrupt_main()\n"
        "    threading.Thread(target=end).start()\n"
        "    try:\n        serve()\n    except KeyboardInterrupt:\n        sys.exit(9)",
    )
    started = yard.start_script(dying)
    (yard.worktree / "go").touch()
    assert started.held.ended(PATIENCE_S)
    started.held.close()
    # Once it is reaped only the shim's own record can tell.
    until(lambda: not Path(f"/proc/{started.held.pid}").exists())
    done = yard.stop()
    assert done.was_down
    assert (done.ending.exit.code, done.ending.exit.source) == (9, "shim")


@pytest.fixture
def stranger():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate(b"\n", timeout=PATIENCE_S)
    assert process.returncode == 0, "the stranger was signalled"


def rewrite(yard, **changes):
    record = find(yard.machine, yard.instance)
    assert record is not None
    identity = msgspec.structs.replace(record.identity, **changes)
    path = yard.root / "st" / records.record_name(yard.instance.id)
    path.write_bytes(records.encode(msgspec.structs.replace(record, identity=identity)))
    return path


def test_a_strangers_process_is_never_signalled(yard, stranger):
    started = yard.start_script()
    rewrite(yard, pid=stranger.pid)
    with pytest.raises(PidReused, match=f"PID {stranger.pid} was started at tick"):
        yard.stop()
    assert not started.held.ended(0)
    started.held.send(signal.SIGTERM)
    assert started.held.ended(PATIENCE_S)


@pytest.mark.parametrize(
    "changes", [{"boot_id": "another"}, {"pid_namespace": "1"}], ids=["boot", "namespace"]
)
def test_a_record_from_elsewhere_signals_nothing_and_stays(yard, changes):
    started = yard.start_script()
    before = started.record.identity
    path = rewrite(yard, **changes)
    with pytest.raises(IdentityUnknown):
        yard.stop()
    assert path.exists()
    assert not started.held.ended(0)
    rewrite(yard, boot_id=before.boot_id, pid_namespace=before.pid_namespace)
    yard.stop()


def test_a_truncated_record_signals_nothing_and_stays(yard):
    started = yard.start_script()
    path = yard.root / "st" / records.record_name(yard.instance.id)
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    with pytest.raises(RecordUnreadable, match="truncated"):
        yard.stop()
    assert path.exists()
    assert not started.held.ended(0)
    path.write_bytes(whole)
    yard.stop()
