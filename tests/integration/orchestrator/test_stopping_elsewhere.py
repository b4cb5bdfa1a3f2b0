"""Stops where PID 1 reaps late or never, where PIDs are given away, and out of other namespaces."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orchestrator import records
from orchestrator.errors import IdentityUnknown, RecordUnreadable
from orchestrator.lifecycle import find, standing
from tests.patience import PATIENCE_S
from tests.pid_namespace import needs_namespace, run_inside

pytestmark = [pytest.mark.integration, needs_namespace()]
ROOT = Path(__file__).parents[3]


def inside(first: str, driver: str) -> dict[str, Any]:
    """Run a driver under a first process that reaps as told; return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return run_inside(first, {"driver": driver, "root": str(ROOT)}, environment)


# It waits for the driver alone: whatever is left to it stays a zombie for ever.
NEVER_REAPS = """
import subprocess, sys
done = subprocess.run([sys.executable, "-c", given["driver"]], stdout=subprocess.PIPE, check=True,
                      cwd=given["root"])
print(done.stdout.decode())
"""
REAPS = """
import os, subprocess, sys
driver = subprocess.Popen([sys.executable, "-c", given["driver"]], stdout=subprocess.PIPE,
                          cwd=given["root"])
while True:
    pid, status = os.wait()
    if pid == driver.pid:
        break
assert status == 0
print(driver.stdout.read().decode())
"""

STOP = """
import json
from pathlib import Path
from typing import Any
from tests.yard import Yard
yard = Yard()
try:
    started = yard.start_script()
    done = yard.stop(grace_s=30.0)
    pid = done.ending.identity.pid
    again = yard.stop()
    print(json.dumps({
        "state": Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0],
        "events": [one.name for one in done.ending.events],
        "signal": done.ending.exit.signal,
        "source": done.ending.exit.source,
        "killed": done.was_killed,
        "again": again.was_down,
    }))
finally:
    assert yard.close() == []
"""


def test_where_nobody_reaps_a_stop_neither_waits_nor_takes_the_zombie_for_alive():
    told = inside(NEVER_REAPS, STOP)
    # The order is the proof: it is a zombie still, long after the stop.
    assert told == {
        "state": "Z",
        "events": ["term_sent", "gone", "port_free"],
        "signal": signal.SIGTERM,
        "source": "zombie",
        "killed": False,
        "again": True,
    }


DEAD_START = """
import json, os, signal
from dataclasses import replace
from tests.yard import Yard
yard = Yard()
try:
    first = yard.start_script()
    os.kill(first.held.pid, signal.SIGKILL)
    assert first.held.ended(180)
    second = yard.start_script(request=replace(yard.request, run_id="second-run"))
    down = yard.stop()
    print(json.dumps({
        "wasUp": second.was_up,
        "another": second.held.pid != first.held.pid,
        "signal": down.ending.exit.signal,
    }))
finally:
    assert yard.close() == []
"""


def test_where_nobody_reaps_a_dead_gateway_is_started_anew():
    told = inside(NEVER_REAPS, DEAD_START)
    assert told == {"wasUp": False, "another": True, "signal": signal.SIGTERM}


REUSED = """
import json, os, signal, time
from pathlib import Path
from typing import Any
from orchestrator.errors import PidReused
from tests.pid_reuse import stranger_at, wait_gone
from tests.yard import Yard
yard = Yard()
try:
    started = yard.start_script()
    pid = started.held.pid
    os.kill(pid, signal.SIGKILL)
    assert started.held.ended(180)
    wait_gone(pid)
    stranger = stranger_at(pid)
    try:
        yard.stop()
    except PidReused as fault:
        said = fault.message
    # What is held from the start is the dead one, whoever has its number now.
    signalled = started.held.send(signal.SIGTERM) or started.held.send(signal.SIGKILL, group=True)
    again = yard.stop()
    print(json.dumps({
        "said": said.rpartition(": ")[2],
        "signalled": signalled,
        "records": list(yard.machine.state.names(".json")),
        "again": again.was_down,
        "stranger": stranger.poll(),
    }))
    stranger.kill()
finally:
    assert yard.close() == []
"""


@pytest.mark.skipif(
    not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK), reason="can't say which PID is next"
)
def test_a_pid_that_was_given_to_a_stranger_is_left_alone():
    assert inside(REAPS, REUSED) == {
        "said": "the PID was reused",
        "signalled": False,
        "records": [],
        "again": True,
        "stranger": None,
    }


ELSEWHERE = """
import os, sys
from pathlib import Path
from typing import Any
from dataclasses import replace
from orchestrator import system
from orchestrator.records import Instance
from tests.yard import Yard
yard = Yard()
given_root = Path(sys.argv[1])
yard.machine = system.machine(given_root / "st")
yard.instance = Instance(worktree=given_root / "shop-gateway", name="default")
yard.request = replace(yard.request, instance=yard.instance)
started = yard.start_script()
print(started.held.pid, flush=True)
sys.stdin.readline()
print(yard.stop().was_down, flush=True)
assert yard.close() == []
"""


def test_a_gateway_of_another_namespace_is_unknown_from_here_and_stays(yard):
    """A container that shares the state folder: the PID on record is somebody else's out here."""
    container = subprocess.Popen(
        [
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("/bin/sh", "-c", '"$0" -c "$1" "$2"; exit $?'),
            *(sys.executable, ELSEWHERE, str(yard.root)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert container.stdin is not None
    assert container.stdout is not None
    assert int(container.stdout.readline()) > 1
    record = find(yard.machine, yard.instance)
    assert record is not None
    assert standing(yard.machine, record.identity).why == "it was recorded in another PID namespace"
    with pytest.raises(IdentityUnknown, match="another PID namespace; nothing was signalled"):
        yard.stop()
    assert find(yard.machine, yard.instance) == record
    container.stdin.write("stop\n")
    container.stdin.flush()
    assert container.stdout.readline() == "False\n", "it was down in there"
    assert container.wait(PATIENCE_S) == 0
    container.stdin.close()
    container.stdout.close()


def test_a_record_of_a_newer_version_signals_nothing_and_stays(yard):
    started = yard.start_script()
    path = yard.root / "st" / records.record_name(yard.instance.id)
    whole = path.read_bytes()
    newer = msgspec.json.decode(whole) | {"schemaVersion": records.RECORD_VERSION + 1}
    path.write_bytes(json.dumps(newer).encode())
    with pytest.raises(RecordUnreadable, match="has format 2, this program knows format 1"):
        yard.stop()
    with pytest.raises(RecordUnreadable):
        yard.start_script()
    assert json.loads(path.read_bytes()) == newer
    assert not started.held.ended(0)
    path.write_bytes(whole)
    yard.stop()


def test_a_proc_of_another_namespace_is_refused_before_anything_is_looked_at(yard):
    """`unshare --pid` without `--mount-proc`: each PID in there is a stranger's in here."""
    done = subprocess.run(
        [*("unshare", "--pid", "--fork"), sys.executable, "-m", "orchestrator", "status"],
        cwd=yard.worktree,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(yard.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("error: `/proc` belongs to another PID namespace: we are PID 1, ")
