"""Stopping on a fake machine: by identity only, completely, and never a stranger."""

import signal
from dataclasses import replace

import msgspec
import pytest

from orchestrator import records
from orchestrator.errors import (
    IdentityUnknown,
    NotStopped,
    PidReused,
    RecordUnreadable,
    StartUnderWay,
    StateUnusable,
)
from orchestrator.events import Exit
from orchestrator.lifecycle import exit_of, find, find_all, hold_verified, standing
from orchestrator.ports import Listener
from orchestrator.starting import start
from orchestrator.stopping import stop
from tests.fakes_orchestrator import MARK, US, FakeHeld, FakeMachine, identity, process
from tests.unit.orchestrator.test_starting import INSTANCE, change_record, launch, request

NAME = records.record_name(INSTANCE.id)


def up():
    fake = FakeMachine()
    return fake, start(fake.ports, request(), launch())


def test_sigterm_goes_to_the_leader_only_and_everything_is_put_away():
    fake, started = up()
    done = stop(fake.ports, INSTANCE, held=started.held)
    assert fake.holder.sent == [(4242, signal.SIGTERM, False)]
    assert (done.was_down, done.was_killed) == (False, False)
    assert done.ending is not None
    assert done.ending.was_asked
    assert done.ending.exit == Exit(signal=15, source="pidfd")
    assert [event.name for event in done.ending.events] == ["term_sent", "gone", "port_free"]
    assert list(fake.state.files) == [records.ending_name(INSTANCE.id)]
    assert fake.shims.placed == {}
    assert fake.state.locks == {}


def test_stopping_what_is_down_is_a_success_with_the_last_ending():
    fake, _ = up()
    first = stop(fake.ports, INSTANCE)
    again = stop(fake.ports, INSTANCE)
    assert again.was_down
    assert again.ending == first.ending


def test_on_a_full_disk_the_record_goes_first_and_makes_room_for_the_ending():
    fake, _ = up()
    fake.state.room = len(fake.state.files)
    done = stop(fake.ports, INSTANCE)
    assert fake.holder.sent == [(4242, signal.SIGTERM, False)]
    assert done.ending is not None
    assert list(fake.state.files) == [records.ending_name(INSTANCE.id)]
    assert fake.shims.placed == {}


def test_an_ending_that_can_never_be_written_is_an_error_and_the_gateway_is_gone_all_the_same():
    fake, _ = up()
    fake.state.room = 0
    with pytest.raises(StateUnusable, match="No space left"):
        stop(fake.ports, INSTANCE)
    assert fake.holder.sent == [(4242, signal.SIGTERM, False)]
    assert fake.state.files == {}
    assert stop(fake.ports, INSTANCE).was_down


def test_stopping_what_never_was_is_a_success_without_ending():
    assert stop(FakeMachine().ports, INSTANCE).ending is None


def test_what_ignores_sigterm_is_killed_with_its_group_after_the_grace():
    fake, _ = up()
    fake.holder.deadly[4242] = frozenset({signal.SIGKILL})
    before = fake.clock.at_ns
    done = stop(fake.ports, INSTANCE, grace_s=3.0)
    assert done.was_killed
    assert fake.holder.sent[:2] == [(4242, signal.SIGTERM, False), (4242, signal.SIGKILL, True)]
    assert fake.clock.at_ns - before >= 3_000_000_000


def test_a_second_ctrl_c_means_now():
    fake, started = up()
    assert isinstance(started.held, FakeHeld)
    started.held.deadly = frozenset({signal.SIGKILL})
    started.held.interrupts = 1
    done = stop(fake.ports, INSTANCE, held=started.held)
    assert done.was_killed
    assert NAME not in fake.state.files


def test_a_member_whose_pid_was_reused_meanwhile_is_left_alone():
    fake, _ = up()
    fake.table.processes[12] = process(12, marker=MARK)

    def hold(pid):
        if pid == 12:
            fake.table.processes[12] = process(12, ticks=9999, argv=("vi",))
        return real(pid)

    real = fake.holder.hold
    fake.holder.hold = hold
    stop(fake.ports, INSTANCE)
    assert {pid for pid, _, _ in fake.holder.sent} == {4242}


def test_a_suspended_gateway_gets_its_sigterm_delivered():
    fake, _ = up()
    fake.table.processes[4242] = replace(fake.table.processes[4242], state="stopped")
    stop(fake.ports, INSTANCE)
    assert [number for _, number, _ in fake.holder.sent] == [signal.SIGTERM, signal.SIGCONT]


def test_what_survives_sigkill_keeps_its_record():
    fake, _ = up()
    fake.holder.deadly[4242] = frozenset()
    with pytest.raises(NotStopped, match="PID 4242 survived SIGKILL"):
        stop(fake.ports, INSTANCE)
    assert NAME in fake.state.files
    assert fake.state.locks == {}


def test_members_that_outlive_their_leader_are_swept_by_identity():
    fake, _ = up()
    fake.table.processes[11] = process(11, parent=4242, session=4242)
    fake.table.processes[12] = process(12, marker=MARK)
    fake.holder.deadly[12] = frozenset({signal.SIGKILL})
    done = stop(fake.ports, INSTANCE)
    assert done.ending is not None
    assert [event.detail for event in done.ending.events if event.name == "swept"] == [
        {"pids": [11, 12]}
    ]
    assert (11, signal.SIGTERM, False) in fake.holder.sent
    assert (12, signal.SIGKILL, False) in fake.holder.sent
    assert [pid for pid, one in fake.table.processes.items() if one.state == "alive"] == [US]


def test_a_swept_member_that_survives_is_named():
    fake, _ = up()
    fake.table.processes[12] = process(12, marker=MARK)
    fake.holder.deadly[12] = frozenset()
    with pytest.raises(NotStopped, match="PID 12 survived"):
        stop(fake.ports, INSTANCE)


def test_neither_we_nor_our_ancestors_nor_other_users_are_swept():
    fake, _ = up()
    fake.table.processes[US] = process(US, 10, parent=400, marker=MARK)
    fake.table.processes[400] = process(400, marker=MARK)
    fake.table.processes[13] = process(13, user=0, marker=MARK)
    stop(fake.ports, INSTANCE)
    assert {pid for pid, _, _ in fake.holder.sent} == {4242}


def test_a_dead_gateway_is_a_success_with_its_status_and_its_escapees_are_swept():
    fake, started = up()
    fake.table.processes[4242] = replace(fake.table.processes[4242], state="zombie")
    fake.table.processes[12] = process(12, marker=MARK)
    assert isinstance(started.held, FakeHeld)
    started.held.end = Exit(code=1, source="zombie")
    done = stop(fake.ports, INSTANCE, held=started.held)
    assert done.was_down
    assert done.ending is not None
    assert not done.ending.was_asked
    assert done.ending.exit.code == 1
    assert {pid for pid, _, _ in fake.holder.sent} == {12}


def test_a_reused_pid_is_refused_and_nothing_is_signalled():
    fake, _ = up()
    fake.table.processes[4242] = process(4242, ticks=2000)
    with pytest.raises(PidReused, match="tick 2000, our gateway at tick 1000"):
        stop(fake.ports, INSTANCE)
    assert fake.holder.sent == []
    assert NAME not in fake.state.files


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("boot_id", "boot-b", "another boot or machine"),
        ("pid_namespace", "ns-2", "another PID namespace"),
    ],
)
def test_a_record_from_elsewhere_is_left_alone(field, value, why):
    fake, started = up()
    change_record(fake, machine="machine-b")
    elsewhere = msgspec.structs.replace(started.record.identity, **{field: value})
    change_record(fake, identity=elsewhere)
    with pytest.raises(IdentityUnknown, match=why):
        stop(fake.ports, INSTANCE)
    assert fake.holder.sent == []
    assert NAME in fake.state.files


def after_a_restart():
    """A machine whose record, port and PID are of before: the one stays, the others are given away."""
    fake, started = up()
    elsewhere = msgspec.structs.replace(started.record.identity, boot_id="boot-0")
    change_record(fake, identity=elsewhere)
    fake.table.processes[4242] = process(4242, ticks=3, argv=("vi",))
    # Its holder is another user's, and not to be seen.
    port = Listener(host="::", port=started.record.port, pids=frozenset())
    fake.sockets.listening = [port]
    return fake


def test_what_ended_with_the_machine_is_put_away_and_its_pid_and_port_are_not_asked():
    fake = after_a_restart()
    done = stop(fake.ports, INSTANCE)
    assert done.was_down
    assert done.ending is not None
    assert (done.ending.because, done.ending.was_asked) == ("the machine was restarted", False)
    assert done.ending.exit == Exit()
    assert fake.holder.sent == []
    assert list(fake.state.files) == [records.ending_name(INSTANCE.id)]
    assert fake.shims.placed == {}


def test_after_a_restart_a_start_begins_anew():
    fake = after_a_restart()
    again = start(fake.ports, request(), launch())
    assert not again.was_up
    assert again.record.identity.boot_id == "boot-a"
    assert again.record.machine == "machine-a"
    assert fake.holder.sent == []


def test_where_a_process_carries_its_marker_a_restart_is_not_believed():
    fake = after_a_restart()
    fake.table.processes[12] = process(12, marker=MARK)
    with pytest.raises(IdentityUnknown, match="yet PID 12 carries its marker"):
        stop(fake.ports, INSTANCE)
    with pytest.raises(IdentityUnknown):
        start(fake.ports, request(), launch())
    assert fake.holder.sent == []
    assert NAME in fake.state.files


def test_a_hidden_process_is_unknown_and_not_dead():
    fake, _ = up()
    fake.table.hidden = {4242}
    with pytest.raises(IdentityUnknown, match="hidden from this user"):
        stop(fake.ports, INSTANCE)
    assert NAME in fake.state.files


@pytest.mark.parametrize("data", [b"", b"{", b'{"schemaVersion": 9}'])
def test_an_unreadable_record_is_left_alone(data):
    fake, _ = up()
    fake.state.files[NAME] = data
    with pytest.raises(RecordUnreadable):
        stop(fake.ports, INSTANCE)
    assert fake.holder.sent == []
    assert fake.state.files[NAME] == data


def test_a_record_of_another_instance_under_our_file_name_is_refused():
    fake, _ = up()
    change_record(fake, worktree="/somewhere/else")
    with pytest.raises(RecordUnreadable, match="belongs to `default` of `/somewhere/else`"):
        stop(fake.ports, INSTANCE)


def test_a_stop_beside_a_start_hears_who_has_the_lock():
    fake, _ = up()
    fake.state.lock(records.lock_name(INSTANCE.id), "PID 77 since noon")
    with pytest.raises(StartUnderWay):
        stop(fake.ports, INSTANCE)


def test_a_port_that_nobody_visible_holds_is_not_called_free():
    fake, started = up()
    port = started.record.port
    fake.sockets.listening = [Listener(host="::", port=port, pids=frozenset())]
    with pytest.raises(NotStopped, match=f"port {port} is still held by a process out of sight"):
        stop(fake.ports, INSTANCE)


def test_a_stranger_who_took_the_port_meanwhile_is_no_fault_of_the_stop():
    fake, started = up()
    port = started.record.port
    fake.sockets.listening = [Listener(host="::", port=port, pids=frozenset({77}))]
    done = stop(fake.ports, INSTANCE)
    assert done.ending is not None
    assert done.ending.events[-1].name == "port_taken"


@pytest.mark.parametrize(
    ("shim", "system", "expected"),
    [
        (b'{"pid": 4242, "code": 3}', Exit(), (3, None, "shim", None)),
        (
            b'{"pid": 4242, "code": 1, "error": "key sk-abcdefghijkl"}',
            Exit(code=1, source="pidfd"),
            (1, None, "pidfd", "key sk-***"),
        ),
        (b'{"pid": 7, "code": 3}', Exit(), (None, None, "unknown", None)),
        (b"not json", Exit(signal=9, source="pidfd"), (None, 9, "pidfd", None)),
    ],
    ids=["shim tells when the system can't", "both", "another process's", "damaged"],
)
def test_the_shims_record_completes_what_the_system_tells(shim, system, expected):
    fake, started = up()
    fake.state.files[f"{INSTANCE.id}.exit"] = shim
    held = FakeHeld(fake.table, fake.clock, 4242, end=system)
    end = exit_of(fake.ports, held, started.record)
    assert (end.code, end.signal, end.source, end.error) == expected


def test_a_key_that_only_the_command_knows_is_taken_out_of_the_shims_record_first():
    fake, started = up()
    error = b'{"pid": 4242, "code": 1, "error": "key sk-abcdefghijkl/+rest"}'
    fake.state.files[f"{INSTANCE.id}.exit"] = error
    knows = replace(fake.ports, without_keys=lambda text: text.replace("sk-abcdefghijkl/+rest", ""))
    assert exit_of(knows, None, started.record).error == "key "


def test_nothing_is_given_out_to_be_signalled_but_the_same_living_process():
    fake = FakeMachine()
    fake.table.processes[7] = process(7, 70)
    held = hold_verified(fake.ports, identity(7, 70))
    assert held is not None
    assert hold_verified(fake.ports, identity(8, 80)) is None
    with pytest.raises(PidReused):
        hold_verified(fake.ports, identity(7, 71))
    fake.table.processes[7] = process(7, 70, state="zombie")
    assert hold_verified(fake.ports, identity(7, 70)) is None
    assert standing(fake.ports, identity(7, 70)).state == "gone"


def test_all_records_are_listed_and_unreadable_ones_as_such():
    fake, started = up()
    fake.state.files["ffffffff.json"] = b"{"
    found = find_all(fake.ports)
    assert started.record in found
    assert [type(one).__name__ for one in found].count("RecordUnreadable") == 1
    assert find(fake.ports, INSTANCE) == started.record
