"""Starting on a fake machine: every way it can go, and that nothing is left behind."""

import signal
from pathlib import Path

import msgspec
import pytest

from orchestrator import records
from orchestrator.entry import read_command
from orchestrator.errors import (
    AnotherIsUp,
    DiedBeforeReady,
    EntryMissing,
    ExecFailed,
    IdentityUnknown,
    NeverReady,
    NoFreePort,
    NotDetached,
    NotStarted,
    PortTaken,
    StartUnderWay,
)
from orchestrator.lifecycle import Launch, StartRequest, find
from orchestrator.ports import Build, HealthAnswer, Listener
from orchestrator.records import GatewayRecord, Instance
from orchestrator.starting import answers, start
from tests.fakes_orchestrator import MARK, FakeMachine, FakeProbe, process

TREE = Path("/home/me/shop")
INSTANCE = Instance(worktree=TREE, name="default")
REFUSED = HealthAnswer(status=None, fault="connection refused")


def request(**changes):
    usual = {
        "instance": INSTANCE,
        "run_id": MARK,
        "fingerprint": {"command": "one", "folder": "f"},
        "ready_timeout_s": 3.0,
    }
    return StartRequest(**{**usual, **changes})


def launch(command="node dist/serve.js", **changes):
    def at(port):
        usual = {
            "program": read_command(command.split(), TREE),
            "folder": TREE,
            "environment": {"PATH": "/usr/bin", "PORT": str(port), "NODE_CHANNEL_FD": "9"},
        }
        return Launch(**{**usual, **changes})

    return at


def nothing_left(fake):
    living = [one.pid for one in fake.table.processes.values() if one.state != "zombie"]
    assert living == [500]
    assert records.record_name(INSTANCE.id) not in fake.state.files
    assert fake.shims.placed == {}
    assert fake.state.locks == {}


def test_a_start_ends_with_a_record_and_proof():
    fake = FakeMachine()
    started = start(fake.ports, request(), launch())
    assert [event.name for event in started.events] == ["spawned", "adopted", "proven", "ready"]
    assert started.record == find(fake.ports, INSTANCE)
    assert started.record.port < fake.sockets.floor
    assert started.record.ready_after_ms is not None
    assert [one.pid for one in started.record.members] == [4242]
    assert list(fake.shims.placed) == [Path(f"/state/{INSTANCE.id}.cjs")]
    assert fake.state.locks == {}


def test_the_environment_carries_the_marker_and_no_channel_of_ours():
    fake = FakeMachine()
    start(fake.ports, request(), launch())
    environment = fake.spawner.orders[0].environment
    assert environment["GWB_RUN"] == MARK
    assert "NODE_CHANNEL_FD" not in environment


@pytest.mark.parametrize(
    ("path", "expected"), [("/usr/bin", "/usr/bin:/usr/bin"), (None, "/usr/bin")]
)
def test_a_python_gets_its_own_folder_first_in_the_path(path, expected):
    fake = FakeMachine()
    environment = {} if path is None else {"PATH": path}
    start(fake.ports, request(), launch("python3 app.py", environment=environment))
    assert fake.spawner.orders[0].environment["PATH"] == expected


def test_a_console_script_is_run_by_its_interpreter_behind_a_shim():
    fake = FakeMachine()
    fake.facts.shebangs["/usr/bin/litellm"] = ("/venv/bin/python3",)
    started = start(fake.ports, request(), launch("litellm --config x"))
    assert fake.spawner.orders[0].argv == ("python3", f"/state/{INSTANCE.id}.py")
    assert started.record.entry_mode == "shim"


@pytest.mark.parametrize("shebang", [(), ("/bin/sh",)])
def test_a_native_program_and_a_shell_script_run_as_they_are(shebang):
    fake = FakeMachine()
    fake.facts.shebangs["/usr/bin/envoy"] = shebang
    start(fake.ports, request(), launch("envoy -c x"))
    assert fake.spawner.orders[0].argv == ("envoy", "-c", "x")


def test_starting_what_is_up_says_so_and_starts_nothing():
    fake = FakeMachine()
    first = start(fake.ports, request(), launch())
    again = start(fake.ports, request(), launch())
    assert again.was_up
    assert again.record == first.record
    assert again.events[0].detail == {"fault": None}
    assert len(fake.spawner.orders) == 1


def test_the_same_name_with_another_description_is_refused():
    fake = FakeMachine()
    start(fake.ports, request(), launch())
    another = {"command": "two", "folder": "f", "port": "p"}
    with pytest.raises(AnotherIsUp, match=r"PID 4242 .* another description: command, port"):
        start(fake.ports, request(fingerprint=another), launch())


def change_record(fake, **changes):
    record = find(fake.ports, INSTANCE)
    assert record is not None
    fake.state.files[records.record_name(INSTANCE.id)] = records.encode(
        msgspec.structs.replace(record, **changes)
    )


def test_a_dead_one_is_put_away_before_the_next():
    fake = FakeMachine()
    start(fake.ports, request(), launch())
    del fake.table.processes[4242]
    started = start(fake.ports, request(), launch())
    assert not started.was_up
    assert started.record.identity.pid == 4243


def test_a_reused_pid_is_not_signalled_and_its_record_is_forgotten():
    fake = FakeMachine()
    start(fake.ports, request(), launch())
    fake.table.processes[4242] = process(4242, ticks=9999, argv=("vi",))
    assert start(fake.ports, request(), launch()).record.identity.pid == 4243
    assert fake.holder.sent == []


def test_a_start_whose_starter_died_is_ended_and_done_again():
    fake = FakeMachine()
    start(fake.ports, request(), launch())
    change_record(fake, ready_after_ms=None)
    assert start(fake.ports, request(), launch()).record.identity.pid == 4243
    assert (4242, 15, False) in fake.holder.sent


def test_a_record_of_another_machine_stops_the_start():
    fake = FakeMachine()
    record = start(fake.ports, request(), launch()).record
    elsewhere = msgspec.structs.replace(record.identity, boot_id="boot-b")
    change_record(fake, identity=elsewhere, machine="machine-b")
    with pytest.raises(IdentityUnknown, match="another boot"):
        start(fake.ports, request(), launch())
    assert fake.holder.sent == []


def test_a_second_start_hears_who_has_the_first():
    fake = FakeMachine()
    fake.state.lock(records.lock_name(INSTANCE.id), "PID 77 since noon")
    with pytest.raises(StartUnderWay, match="PID 77 since noon"):
        start(fake.ports, request(), launch())


def test_would_die_with_us_is_an_error_before_anything_is_forked():
    fake = FakeMachine()
    fake.spawner.adopted_by = (400, "bash")
    with pytest.raises(NotDetached):
        start(fake.ports, request(), launch())
    assert fake.spawner.orders == []


@pytest.mark.parametrize(
    ("newborn", "error", "text"),
    [
        ({"parent": 500}, NotDetached, "PID 500"),
        ({"parent": 499}, NotDetached, "`unknown`"),
        ({"session": 500}, NotStarted, "session 500"),
        ({"has_terminal": True}, NotStarted, "terminal yes"),
    ],
)
def test_what_is_not_cut_loose_is_ended(newborn, error, text):
    fake = FakeMachine()
    fake.spawner.newborn = newborn
    with pytest.raises(error, match=text):
        start(fake.ports, request(), launch())
    nothing_left(fake)


def test_a_missing_entry_and_a_missing_program_are_named():
    fake = FakeMachine()
    fake.facts.missing = {f"{TREE}/dist/serve.js"}
    with pytest.raises(EntryMissing, match=f"no entry file at `{TREE}/dist/serve.js`"):
        start(fake.ports, request(), launch())
    fake.facts.missing = {"node"}
    with pytest.raises(EntryMissing, match="no program at `node`"):
        start(fake.ports, request(), launch())
    nothing_left(fake)


def test_what_executes_already_when_ctrl_c_comes_is_ended_before_its_record_goes():
    fake = FakeMachine()
    fake.spawner.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        start(fake.ports, request(), launch())
    assert fake.table.processes[4242].state == "zombie"
    assert fake.holder.sent == [(4242, signal.SIGKILL, True), (4242, signal.SIGKILL, False)]
    assert fake.state.files == {}
    assert fake.shims.placed == {}


def test_a_refused_exec_is_one_error_and_leaves_nothing():
    fake = FakeMachine()
    fake.spawner.refusal = ExecFailed("execve", "/usr/bin/node", 13, "Permission denied")
    with pytest.raises(ExecFailed, match="EACCES"):
        start(fake.ports, request(), launch())
    nothing_left(fake)


def test_death_before_ready_gives_status_and_the_masked_end_of_the_log():
    fake = FakeMachine()
    fake.spawner.newborn = {"state": "zombie"}
    fake.log.lines = ("starting", "no key topsecretvalue", "Error: boom")
    with pytest.raises(DiedBeforeReady) as caught:
        start(fake.ports, request(), launch(secrets=("topsecretvalue",)))
    assert caught.value.tail == ("starting", "no key ***", "Error: boom")
    nothing_left(fake)


def test_never_healthy_says_what_it_heard_and_ends_it():
    fake = FakeMachine(
        probe=FakeProbe(REFUSED, HealthAnswer(status=500, body="db", owners=frozenset({4242})))
    )
    with pytest.raises(NeverReady, match="refused; HTTP 500 instead of 200: `db`"):
        start(fake.ports, request(), launch())
    nothing_left(fake)
    assert (4242, 15, False) in fake.holder.sent


def test_another_server_on_the_port_is_never_taken_for_ours():
    stranger = HealthAnswer(status=200, owners=frozenset({77}))
    fake = FakeMachine(probe=FakeProbe(stranger))
    with pytest.raises(NeverReady, match="another process than ours: PID 77"):
        start(fake.ports, request(), launch())
    nothing_left(fake)


def test_a_taken_port_that_was_asked_for_names_its_holder():
    fake = FakeMachine()
    fake.table.processes[77] = process(
        77, argv=("vi", "--token", "abcdef" * 30), folder="/home/me/other", age_s=60.0
    )
    fake.table.processes[78] = process(78, argv=("x" * 200,))
    fake.sockets.obstacles = {4001: "something listens"}
    fake.sockets.listening = [
        Listener(host="127.0.0.1", port=4001, pids=frozenset({77, 78, 79})),
        Listener(host="::1", port=4001, pids=frozenset()),
    ]
    with pytest.raises(PortTaken) as caught:
        start(fake.ports, request(port=4001, is_port_fixed=True), launch())
    first, second, third, fourth = caught.value.holders
    assert first.startswith("PID 77 `vi --token ***` in `/home/me/other` since 2026-01-01 23:59")
    assert second.endswith("…` (on 127.0.0.1)")
    assert third == "PID 79 (on 127.0.0.1)"
    assert fourth == "a process this user may not see (on ::1)"


def holding_4001(fake):
    """A gateway of ours on a port that another one asks for."""
    up = start(fake.ports, request(port=4001), launch()).record
    fake.sockets.obstacles = {4001: "something listens"}
    holder = Listener(host="127.0.0.1", port=4001, pids=frozenset({up.identity.pid}))
    fake.sockets.listening = [holder]
    return up


def refused_4001(fake):
    other = Instance(worktree=TREE, name="other")
    with pytest.raises(PortTaken) as caught:
        start(fake.ports, request(instance=other, port=4001, is_port_fixed=True), launch())
    return caught.value.hint


def test_a_taken_port_of_a_gateway_on_record_comes_with_the_command_that_stops_it():
    fake = FakeMachine()
    up = holding_4001(fake)
    assert refused_4001(fake).startswith(
        f"that is `default`, a gateway on record: `gateway-bench stop {up.identity.pid}`, or"
    )


def test_a_stranger_with_the_pid_of_a_gateway_on_record_is_not_taken_for_it():
    fake = FakeMachine()
    pid = holding_4001(fake).identity.pid
    fake.table.processes[pid] = process(pid, 999_999)
    assert refused_4001(fake).startswith("stop that one, or")


def test_a_taken_port_that_was_only_wished_for_is_left_to_its_holder():
    fake = FakeMachine()
    fake.sockets.obstacles = {4001: "something listens"}
    assert start(fake.ports, request(port=4001), launch()).record.port != 4001
    assert start_on(FakeMachine(), 4001) == 4001


def start_on(fake, port):
    return start(fake.ports, request(port=port), launch()).record.port


def test_a_port_that_another_start_of_ours_reserved_is_taken():
    fake = FakeMachine()
    fake.state.lock("4001.port", "a start of ours, PID 9")
    with pytest.raises(PortTaken, match="reserved by a start of ours, PID 9"):
        start(fake.ports, request(port=4001, is_port_fixed=True), launch())


def test_no_free_port_is_said_after_a_bounded_search():
    fake = FakeMachine()
    fake.sockets.is_everything_taken = True
    with pytest.raises(NoFreePort, match="none of 50 ports"):
        start(fake.ports, request(), launch())


def losing(fake):
    fake.spawner.newborn = {"state": "zombie"}
    fake.log.lines = ("Error: listen EADDRINUSE",)

    def at(port):
        fake.sockets.listening = [Listener(host="127.0.0.1", port=port, pids=frozenset({77}))]
        return launch()(port)

    return at


def test_a_lost_race_for_a_port_is_run_again_and_not_for_ever():
    fake = FakeMachine()
    with pytest.raises(DiedBeforeReady, match="EADDRINUSE"):
        start(fake.ports, request(), losing(fake))
    assert len(fake.spawner.orders) == 3
    nothing_left(fake)


def complaining():
    fake = FakeMachine()
    fake.spawner.newborn = {"state": "zombie"}
    fake.log.lines = ("OSError: [Errno 98] Address already in use",)
    return fake


def test_a_port_that_a_vanished_process_had_is_given_up_for_another():
    fake = complaining()
    with pytest.raises(DiedBeforeReady, match="Address already in use"):
        start(fake.ports, request(port=4001), launch())
    assert len(fake.spawner.orders) == 3
    nothing_left(fake)


def test_a_fixed_port_that_a_vanished_process_had_is_told_in_the_gateways_words():
    fake = complaining()
    with pytest.raises(DiedBeforeReady, match="Address already in use"):
        start(fake.ports, request(port=4001, is_port_fixed=True), launch())
    assert len(fake.spawner.orders) == 1


def test_a_lost_race_for_a_fixed_port_names_the_winner():
    fake = FakeMachine()
    with pytest.raises(PortTaken, match="PID 77"):
        start(fake.ports, request(port=4001, is_port_fixed=True), losing(fake))
    assert len(fake.spawner.orders) == 1


def test_exposure_and_an_old_build_are_on_record():
    fake = FakeMachine()
    fake.facts.made = Build(newer_source="src/app.ts")
    started = start(fake.ports, request(), launch(entry_mode="direct"))
    assert [one.pattern for one in started.record.exposure] == ["dist/serve.js"]
    assert started.record.warnings == ("the build is older than its source `src/app.ts`",)


def test_a_running_gateway_is_asked_once_and_must_answer_itself():
    fake = FakeMachine()
    record = start(fake.ports, request(), launch()).record
    assert isinstance(record, GatewayRecord)
    assert answers(fake.ports, record) is None
    fake.probe.answers = [HealthAnswer(status=404, owners=frozenset({4242}))]
    assert answers(fake.ports, record) is None
    fake.probe.answers = [HealthAnswer(status=200, owners=frozenset({77}))]
    assert "another process" in (answers(fake.ports, record) or "")
    fake.probe.answers = [REFUSED]
    assert answers(fake.ports, record) == "connection refused"
