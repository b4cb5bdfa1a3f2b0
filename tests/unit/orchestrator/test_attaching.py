"""Attaching to a process that nobody started here, on a small fake machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator import records
from orchestrator.attaching import attach, candidate
from orchestrator.config import Sources, resolve
from orchestrator.errors import StartUnderWay
from orchestrator.faults import NotAttached
from orchestrator.locate import Located
from orchestrator.ports import HealthAnswer, Listener, ProcessDetail
from orchestrator.records import Instance
from orchestrator.wanted import Wanted
from tests.fakes_orchestrator import US, FakeMachine, FakeProbe, identity, process
from tests.unit.orchestrator.test_minding import INSTANCE, keep, record

THEIRS = 4242
OK = HealthAnswer(status=404, owners=frozenset({THEIRS}))


def a_machine(*, ports=(8080,), host="127.0.0.1", answer=OK) -> FakeMachine:
    machine = FakeMachine(probe=FakeProbe(answer))
    machine.table.processes[THEIRS] = process(
        THEIRS,
        session=77,
        group=77,
        parent=77,
        argv=("node", "/repo/dist/serve.js"),
        folder="/nowhere/repo",
        age_s=60.0,
    )
    machine.sockets.listening = [
        Listener(host=host, port=port, pids=frozenset({THEIRS})) for port in ports
    ]
    return machine


def wanted(**flags) -> Wanted:
    sources = Sources(
        flags={"upstream": "own", **flags}, environ={}, cwd=Path("/nowhere"), use_files=False
    )
    return Wanted(
        config=resolve(sources),
        located=Located(folder=Path("/nowhere"), words=(), entry=None),
        name="run-1",
        run_id="run-1-0123456789",
        caller={},
    )


def refusal(machine: FakeMachine, pid=THEIRS, **flags) -> str:
    with pytest.raises(NotAttached) as refused:
        attach(machine.ports, wanted(**flags), pid)
    assert machine.holder.sent == []
    return refused.value.message


def test_what_answers_on_its_own_connection_is_attached_to_and_never_written_down():
    machine = a_machine()
    up = attach(machine.ports, wanted(), THEIRS)
    assert up.url == "http://127.0.0.1:8080"
    record = up.started.record
    assert (record.entry_mode, record.log) == ("attached", "/dev/null")
    assert [one.pattern for one in record.exposure] == [r"dist/serve.js"]
    assert machine.state.names(".json") == ()
    assert not up.near.upstream.is_simulated


@pytest.mark.parametrize(
    ("changes", "pid", "why"),
    [
        pytest.param({}, 9, "no process has this PID", id="gone"),
        pytest.param({}, US, "this command runs under it", id="ourselves"),
        pytest.param({"state": "zombie"}, THEIRS, "it has ended", id="ended"),
    ],
)
def test_what_is_no_gateway_is_refused(changes, pid, why):
    machine = a_machine()
    seen = machine.table.processes[THEIRS]
    machine.table.processes[THEIRS] = replace(seen, **changes)
    assert refusal(machine, pid) == f"PID {pid} can't be attached to: {why}"


def test_a_hidden_process_is_refused():
    machine = a_machine()
    machine.table.hidden.add(THEIRS)
    assert "hidden from this user" in refusal(machine)


@pytest.mark.parametrize(
    ("namespace", "why"),
    [("ns-2", "it is in another PID namespace"), (None, "can't be seen")],
)
def test_another_pid_namespace_is_refused(namespace, why):
    machine = a_machine()
    machine.table.details[THEIRS] = ProcessDetail(namespace=namespace)
    assert why in refusal(machine)


@pytest.mark.parametrize(
    ("machine", "flags", "why"),
    [
        pytest.param(a_machine(ports=()), {}, "nothing of it listens on a port", id="none"),
        pytest.param(a_machine(host="::1"), {}, "nothing of it listens on a port", id="::1"),
        pytest.param(a_machine(ports=(1, 2)), {}, "listens on several ports: 1, 2", id="several"),
        pytest.param(
            a_machine(ports=(1, 2)), {"port": "3"}, "on port 3, but on 1, 2", id="another"
        ),
        pytest.param(
            a_machine(ports=()), {"port": "3"}, "but on nothing that reaches", id="nowhere"
        ),
    ],
)
def test_a_port_that_is_not_clearly_its_own_is_refused(machine, flags, why):
    assert why in refusal(machine, **flags)


def test_one_of_several_ports_may_be_named():
    up = attach(a_machine(ports=(8080, 9090)).ports, wanted(port="9090"), THEIRS)
    assert up.started.record.port == 9090


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        pytest.param(
            HealthAnswer(status=200, owners=frozenset({99})), "PID 99", id="another answers"
        ),
        pytest.param(
            HealthAnswer(status=None, fault="connection refused"), "refused", id="nobody answers"
        ),
    ],
)
def test_an_answer_that_is_not_its_own_is_refused(answer, why):
    assert why in refusal(a_machine(answer=answer))


def test_a_health_that_was_described_has_to_be_as_described():
    assert "404" in refusal(a_machine(), **{"health.path": "/live"})


class DyingProbe(FakeProbe):
    """The process ends while it is asked."""

    def __init__(self, machine: FakeMachine) -> None:
        super().__init__(HealthAnswer(status=None, fault="reset"))
        self.machine = machine

    def ask(self, question, near):  # type: ignore[explicit-override]
        self.machine.table.processes.pop(THEIRS, None)
        return super().ask(question, near)


def test_one_that_ends_while_it_is_asked_is_refused():
    machine = a_machine()
    machine.probe = DyingProbe(machine)
    assert "it ended just now" in refusal(machine)


def test_one_of_ours_on_record_is_held_and_brings_its_simulator():
    machine = FakeMachine()
    machine.table.processes[THEIRS] = process(marker="run-0123456789")
    keep(machine, record(labels={"upstream": "simulated"}))
    simulator = Instance(worktree=INSTANCE.worktree, name="default-upstream")
    keep(machine, record(id=simulator.id, name=simulator.name, identity=identity(9), port=20_002))
    up = attach(machine.ports, wanted(), THEIRS)
    assert up.near.upstream.url == "http://127.0.0.1:20002"
    assert machine.state.use_of(records.use_name(INSTANCE.id)).is_held
    keep(machine, record(labels={"upstream": "embedded"}))
    assert attach(machine.ports, wanted(), THEIRS).near.upstream.is_simulated


def test_a_simulator_that_is_gone_or_unreadable_is_not_guessed():
    machine = FakeMachine()
    machine.table.processes[THEIRS] = process(marker="run-0123456789")
    keep(machine, record(labels={"upstream": "simulated"}))
    assert not attach(machine.ports, wanted(), THEIRS).near.upstream.is_simulated
    simulator = Instance(worktree=INSTANCE.worktree, name="default-upstream")
    machine.state.write(records.record_name(simulator.id), b"{")
    assert not attach(machine.ports, wanted(), THEIRS).near.upstream.is_simulated


def test_one_that_is_being_removed_is_let_go_of():
    machine = FakeMachine()
    machine.table.processes[THEIRS] = process(marker="run-0123456789")
    keep(machine, record())
    machine.state.locks[records.use_name(INSTANCE.id)] = "a clean-up"
    with pytest.raises(StartUnderWay):
        attach(machine.ports, wanted(), THEIRS)


class VanishingHolder:
    """Holds nothing: the process ended between two looks."""

    def __init__(self, machine: FakeMachine) -> None:
        self.machine = machine

    def hold(self, pid):
        del self.machine.table.processes[pid]

    def memory_counter(self, pid):
        return lambda: None


def test_one_that_ends_before_it_is_held_is_refused():
    machine = a_machine()
    ports = replace(machine.ports, holder=VanishingHolder(machine))
    with pytest.raises(NotAttached, match="it ended just now"):
        candidate(ports, THEIRS)
