"""What a restart of the machine leaves on record: begun anew, said, removed; never another's."""

import json
import sys

import msgspec
import pytest

from orchestrator import records
from orchestrator.errors import IdentityUnknown
from orchestrator.lifecycle import find
from orchestrator.system.machine_id import LINUX_FILES, linux_machine_id
from orchestrator.verdicts import Verdict
from tests.command_line import CommandLine
from tests.pid_namespace import needs_namespace, run_inside
from tests.stray_place import cleaned, only

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
BEFORE = "00000000-0000-4000-8000-000000000000"
ID, OTHER_ID = "0123456789abcdef" * 2, "fedcba9876543210" * 2
NEEDS_ID = pytest.mark.skipif(linux_machine_id() is None, reason="this machine has no machine id")

LOOKS = """
from pathlib import Path
from orchestrator import records, system
from orchestrator.lifecycle import standing_of
machine = system.machine(Path(given["state"]))
record = records.decode(machine.state.read(given["record"]))
now = standing_of(machine, record)
print(json.dumps({"state": now.state, "why": now.why, "machine": machine.machine_id}))
"""


def of_before(state, name, **changes):
    """Make a record one of the boot before, as a restart does."""
    path = state / name
    told = json.loads(path.read_bytes())
    told["identity"]["bootId"] = BEFORE
    path.write_text(json.dumps({**told, **changes}))


@pytest.fixture
def ended(yard):
    """The record of a gateway that ended without a word, of the boot before."""
    started = yard.start_script()
    left = (yard.machine.state.read(started.record.id + ".json"), started.record)
    yard.stop()
    yard.machine.state.write(started.record.id + ".json", left[0])
    of_before(yard.machine.state.root, started.record.id + ".json")
    return left[1]


def shared_home(yard):
    """Give the record to another machine that has the same folder."""
    name = records.record_name(yard.instance.id)
    of_before(yard.machine.state.root, name, machine="0" * 16)
    return yard.machine.state.read(name)


@pytest.mark.parametrize(
    ("files", "is_known"),
    [
        pytest.param({"a": f"{ID}\n"}, True, id="first"),
        pytest.param({"b": ID}, True, id="second"),
        pytest.param({"a": "uninitialized\n", "b": ID}, True, id="while a first boot goes on"),
        pytest.param({"a": ""}, False, id="empty, as in container images"),
        pytest.param({"a": "0" * 32}, False, id="nobody"),
        pytest.param({}, False, id="none"),
    ],
)
def test_a_linux_machine_is_known_by_its_id(tmp_path, files, is_known):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "other").write_text(OTHER_ID)
    paths = [tmp_path / "a", tmp_path / "b"]
    found = linux_machine_id(paths, "node-1")
    assert (found is not None) == is_known
    if found is not None:
        assert (len(found), ID in found) == (16, False)
        assert linux_machine_id(paths, "node-1") == found
        assert linux_machine_id([tmp_path / "other"], "node-1") != found


def test_copies_of_one_disk_are_told_apart_by_their_names(tmp_path):
    (tmp_path / "a").write_text(ID)
    one, other = (linux_machine_id([tmp_path / "a"], name) for name in ("node-1", "node-2"))
    assert one != other


@NEEDS_ID
def test_after_a_restart_a_start_begins_anew(yard, ended):
    assert ended.machine == yard.machine.machine_id
    assert (only(yard, Verdict.DEAD).reason) == "it ended with an earlier boot of this machine"
    again = yard.start_script()
    assert not again.was_up
    assert again.record.identity.boot_id != BEFORE
    assert yard.stop().was_down is False


@NEEDS_ID
def test_after_a_restart_a_stop_says_that_it_ended_with_the_machine(yard, ended):
    done = yard.stop()
    assert (done.was_down, done.ending.because) == (True, "the machine was restarted")
    assert find(yard.machine, yard.instance) is None
    assert yard.stop().ending == done.ending


@NEEDS_ID
def test_after_a_restart_a_clean_up_removes_the_record(yard, ended):
    [removed] = [one for one in cleaned(yard) if one.removal.stray.name == ended.name]
    assert (removed.is_done, removed.why) == (True, "its record is put away")
    assert find(yard.machine, yard.instance) is None


def test_a_record_of_another_machine_in_a_shared_home_is_never_touched(yard, ended):
    before = shared_home(yard)
    assert "another boot or machine" in only(yard, Verdict.FOREIGN).reason
    cleaned(yard)
    with pytest.raises(IdentityUnknown):
        yard.stop()
    with pytest.raises(IdentityUnknown):
        yard.start_script()
    name = records.record_name(yard.instance.id)
    assert yard.machine.state.read(name) == before
    yard.machine.state.remove(name)


@NEEDS_ID
def test_where_a_process_of_it_lives_another_boot_id_is_not_believed(yard):
    started = yard.start_script()
    name = records.record_name(yard.instance.id)
    true = yard.machine.state.read(name)
    of_before(yard.machine.state.root, name)
    assert "carries its marker" in only(yard, Verdict.FOREIGN).reason
    with pytest.raises(IdentityUnknown):
        yard.stop()
    assert not started.held.ended(0)
    yard.machine.state.write(name, true)
    yard.stop()


@NEEDS_ID
@needs_namespace()
def test_a_container_with_its_hosts_machine_id_can_t_tell(yard, ended):
    given = {
        "state": str(yard.machine.state.root),
        "record": records.record_name(yard.instance.id),
    }
    told = run_inside(LOOKS, given, {})
    assert told["machine"] == ended.machine
    assert told["state"] == "unknown"
    assert find(yard.machine, yard.instance) is not None
    yard.stop()


@NEEDS_ID
def test_people_are_told_and_may_go_on(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    command = CommandLine(tmp_path / "home", folder)
    first = command("start", "--preset", "demo", "--json")
    name = next(command.state.glob("*.json")).name
    left = (command.state / name).read_bytes()
    assert command("stop").code == 0
    (command.state / name).write_bytes(left)
    of_before(command.state, name)
    status = command("status")
    assert status.code == 3
    assert "it ended with an earlier boot of this machine" in status.out
    stopped = command("stop", "--json")
    assert (stopped.code, stopped.told["reason"]) == (0, "was_down")
    pid = first.gateway["pid"]
    headline = f"`default` (PID {pid}) was down already, because the machine was restarted"
    assert stopped.told["headline"] == headline
    assert "because the machine was restarted" in command("status").out
    assert command.records() == []
    assert msgspec.json.decode(left)["machine"] == linux_machine_id(LINUX_FILES)
