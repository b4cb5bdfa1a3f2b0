"""The process that ends a forgotten gateway, on a small fake machine."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from orchestrator import records
from orchestrator.errors import NotStarted, StateUnusable
from orchestrator.lifecycle import Started, StartRequest
from orchestrator.minding import mind, minder_of, with_lease
from orchestrator.ports import Build, ProcessInfo, Traffic
from orchestrator.records import Adopter, GatewayRecord, Instance, Lease
from orchestrator.vitals import end_lines, vitals, vitals_facts, vitals_lines
from tests.fakes_orchestrator import MARK, US, FakeMachine, FakeState, identity, process

TREE = Path("/work/tree")
INSTANCE = Instance(worktree=TREE, name="default")
NOTHING = Traffic(established=0, seen=frozenset())


def record(**changes) -> GatewayRecord:
    usual = GatewayRecord(
        id=INSTANCE.id,
        worktree=str(TREE),
        name="default",
        run_id=MARK,
        identity=identity(),
        members=(identity(),),
        host="127.0.0.1",
        port=20_001,
        health_path="/health",
        log="/state/x.log",
        entry="/work/tree/dist/serve.js",
        entry_mode="shim",
        build=Build(),
        adopter=Adopter(pid=1, name="init"),
        fingerprint={"command": "one"},
        started_at="2026-01-02T00:00:00.000+00:00",
        started_ns=0,
        ready_after_ms=5.0,
        grace_s=1.0,
    )
    return msgspec.structs.replace(usual, **changes)


def a_machine(**limits) -> FakeMachine:
    """A machine with a gateway up that we ourselves mind."""
    made = FakeMachine()
    made.table.processes[4242] = process(marker=MARK)
    lease = Lease(since_ns=made.clock.now_ns(), **limits) if limits else None
    keep(made, record(lease=lease, minder=identity(US, 10)))
    return made


def keep(machine: FakeMachine, one: GatewayRecord) -> None:
    machine.state.write(records.record_name(one.id), records.encode(one))


def on_record(machine: FakeMachine) -> GatewayRecord | None:
    data = machine.state.read(records.record_name(INSTANCE.id))
    found = None if data is None else records.decode(data)
    assert found is None or isinstance(found, GatewayRecord)
    return found


def ending(machine: FakeMachine) -> records.Ending:
    found = records.decode_ending(machine.state.read(records.ending_name(INSTANCE.id)) or b"")
    assert found is not None
    return found


def test_a_time_to_live_ends_the_gateway_and_says_why():
    machine = a_machine(ttl_s=60.0)
    begun = machine.clock.at_ns
    mind(machine.ports, INSTANCE.id)
    assert (machine.clock.at_ns - begun) / 1e9 == pytest.approx(60, abs=1)
    assert on_record(machine) is None
    assert ending(machine).because == "its time to live of 1m was over"
    assert ending(machine).was_asked


def test_an_idle_gateway_ends_and_a_used_one_goes_on():
    machine = a_machine(idle_stop_s=100.0)
    used = Traffic(established=1, seen=frozenset({"a"}))
    machine.traffic.readings = [NOTHING, *[used] * 40, NOTHING]
    begun = machine.clock.at_ns
    mind(machine.ports, INSTANCE.id)
    # Forty looks of five seconds each, and the idle time after that.
    assert (machine.clock.at_ns - begun) / 1e9 == pytest.approx(300, abs=10)
    assert ending(machine).because == "nobody had been connected for 1m 40s"


def test_a_minder_caps_the_log_that_nobody_else_watches():
    machine = a_machine(ttl_s=100.0)
    mind(machine.ports, INSTANCE.id)
    assert set(machine.log.guarded) == {Path("/state/x.log")}


def test_a_full_disk_keeps_no_gateway_up():
    machine = a_machine(ttl_s=100.0)
    used = Traffic(established=1, seen=frozenset({"a"}))
    machine.traffic.readings = [used]
    state = FullAfterFirst()
    state.files = machine.state.files
    mind(replace(machine.ports, state=state), INSTANCE.id)
    assert machine.table.processes[4242].state == "zombie"
    assert state.refused > 0


class FullAfterFirst(FakeState):
    """A state folder that takes the first note of use only."""

    refused = 0

    def write(self, name, data):  # type: ignore[explicit-override]
        if name == records.usage_name(INSTANCE.id) and name in self.files:
            self.refused += 1
            raise StateUnusable(name, "No space left on device")
        super().write(name, data)


def test_a_connection_that_came_and_went_between_two_looks_is_use():
    machine = a_machine(idle_stop_s=100.0)
    closed = [Traffic(established=0, seen=frozenset({f"c{n}"})) for n in range(40)]
    machine.traffic.readings = [*closed, Traffic(established=0, seen=frozenset({"c39"}))]
    begun = machine.clock.at_ns
    mind(machine.ports, INSTANCE.id)
    assert (machine.clock.at_ns - begun) / 1e9 == pytest.approx(295, abs=10)


class Patience(Exception):
    """The test has seen enough."""


class CountingState(FakeState):
    """A state folder that a test breaks off after so many locks."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.asked: list[str] = []

    def lock(self, name, note):  # type: ignore[explicit-override]
        self.asked.append(name)
        if len(self.asked) > self.most:
            raise Patience
        return super().lock(name, note)


def test_a_gateway_that_somebody_holds_is_not_ended():
    machine = a_machine(ttl_s=5.0)
    state = CountingState(20)
    state.files = machine.state.files
    machine.state = state
    state.share(records.use_name(INSTANCE.id), "run 1")
    with pytest.raises(Patience):
        mind(machine.ports, INSTANCE.id)
    assert set(state.asked) == {records.use_name(INSTANCE.id)}
    assert machine.holder.sent == []


def test_a_gateway_that_is_being_started_anew_is_not_ended():
    machine = a_machine(ttl_s=5.0)
    state = CountingState(20)
    state.files = machine.state.files
    machine.state = state
    state.locks[records.lock_name(INSTANCE.id)] = "PID 9"
    with pytest.raises(Patience):
        mind(machine.ports, INSTANCE.id)
    assert machine.holder.sent == []


def test_what_can_not_be_seen_counts_as_use():
    machine = a_machine(idle_stop_s=5.0, ttl_s=60.0)
    machine.traffic.readings = [None]
    begun = machine.clock.at_ns
    mind(machine.ports, INSTANCE.id)
    assert (machine.clock.at_ns - begun) / 1e9 == pytest.approx(60, abs=1)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"minder": identity(77, 5)}, id="another one minds it"),
        pytest.param({"lease": None}, id="its limits were taken away"),
        pytest.param({"identity": identity(4242, 9999)}, id="another gateway has the name"),
    ],
)
def test_a_minder_that_is_not_wanted_any_more_goes(changes):
    machine = a_machine(ttl_s=5.0)
    found = on_record(machine)
    assert found is not None
    keep(machine, msgspec.structs.replace(found, **changes))
    if "identity" in changes:
        machine.table.processes[4242] = process(ticks=9999, marker=MARK)
        keep(machine, msgspec.structs.replace(found, minder=None, **changes))
    mind(machine.ports, INSTANCE.id)
    assert machine.holder.sent == []


def test_there_is_nothing_to_mind_without_a_record_a_lease_or_a_process():
    machine = a_machine(ttl_s=5.0)
    mind(machine.ports, "00000000")
    del machine.table.processes[4242]
    mind(machine.ports, INSTANCE.id)
    mind(a_machine().ports, INSTANCE.id)
    assert machine.holder.sent == []


def test_one_that_can_not_be_stopped_is_tried_a_few_times_only():
    machine = a_machine(ttl_s=5.0)
    machine.holder.deadly[4242] = frozenset()
    mind(machine.ports, INSTANCE.id)
    assert on_record(machine) is not None
    assert [one for one in machine.holder.sent if one[1] == 15] == [(4242, 15, False)] * 5


def test_its_simulator_goes_with_it():
    machine = a_machine(ttl_s=5.0)
    simulator = Instance(worktree=TREE, name="default-upstream")
    machine.table.processes[4300] = process(4300, marker="run-of-the-simulator")
    one = record(
        id=simulator.id,
        name=simulator.name,
        run_id="run-of-the-simulator",
        identity=identity(4300),
        port=20_002,
        labels={"upstreamOf": "default"},
    )
    keep(machine, one)
    mind(machine.ports, INSTANCE.id)
    assert machine.state.read(records.record_name(simulator.id)) is None


class TalkingState(FakeState):
    """A state folder in which the minder says at once that it minds."""

    def __init__(self, *, says_so: bool = True) -> None:
        super().__init__()
        self.says_so = says_so

    def read(self, name):  # type: ignore[explicit-override]
        if name.endswith(".seen") and self.says_so:
            return records.encode(records.Usage(run_id=MARK, used_ns=1))
        return super().read(name)


def started(machine: FakeMachine) -> Started:
    held = machine.holder.hold(4242)
    assert held is not None
    found = on_record(machine)
    assert found is not None
    return Started(record=found, held=held)


def request(**limits) -> StartRequest:
    return StartRequest(instance=INSTANCE, run_id=MARK, fingerprint={"command": "one"}, **limits)


def lending(*, says_so: bool = True) -> FakeMachine:
    machine = FakeMachine(state=TalkingState(says_so=says_so))
    machine.table.processes[4242] = process(marker=MARK)
    machine.spawner.pids = iter((4299,))
    keep(machine, record())
    return machine


def test_without_limits_nobody_minds_it():
    machine = lending()
    assert with_lease(machine.ports, request(), started(machine)).record.lease is None
    assert machine.spawner.orders == []


def test_limits_start_a_minder_that_is_no_member_and_shows_nothing():
    machine = lending()
    made = with_lease(machine.ports, request(ttl_s=60.0), started(machine)).record
    (order,) = machine.spawner.orders
    assert order.argv[:3] == ("python3", "-I", "-S")
    assert "GWB_RUN" not in order.environment
    assert made.minder is not None
    assert made.minder.pid == 4299
    assert made.lease is not None
    assert str(machine.state.root / f"{records.minder_id(INSTANCE.id)}.py") in made.files
    assert on_record(machine) == made
    assert minder_of(machine.ports, made) == made.minder
    script = next(iter(machine.shims.placed.values()))
    assert "from orchestrator.cli.forgotten import mind" in script
    assert repr(INSTANCE.id) in script


def test_one_that_is_up_already_gets_new_limits_from_its_old_minder():
    machine = lending()
    first = with_lease(machine.ports, request(ttl_s=60.0), started(machine))
    again = with_lease(machine.ports, request(idle_stop_s=5.0), replace(first, was_up=True)).record
    assert len(machine.spawner.orders) == 1
    assert again.minder == first.record.minder
    assert again.lease is not None
    assert (again.lease.ttl_s, again.lease.idle_stop_s) == (None, 5.0)


def test_a_gateway_that_nobody_would_mind_is_not_left_up():
    machine = lending(says_so=False)
    with pytest.raises(NotStarted, match="said nothing for 30 s"):
        with_lease(machine.ports, request(ttl_s=60.0), started(machine))
    assert on_record(machine) is None


def test_a_minder_that_ends_at_once_is_told_with_its_log():
    machine = lending(says_so=False)
    machine.spawner.newborn = {"state": "zombie"}
    machine.log.lines = ("ImportError: no module",)
    with pytest.raises(NotStarted, match=r"ended; its log .*\n  \| ImportError: no module"):
        with_lease(machine.ports, request(ttl_s=60.0), started(machine))


def test_a_minder_that_a_pattern_would_hit_is_an_exposure():
    machine = lending()
    machine.spawner.newborn = {"argv": ("python3", "/my-gateway/x.py")}
    made = with_lease(machine.ports, request(ttl_s=60.0), started(machine)).record
    assert [(one.pid, one.pattern) for one in made.exposure] == [(4299, "gateway")]


def test_how_it_is_doing_is_told_with_what_is_left():
    machine = a_machine(ttl_s=7200.0, idle_stop_s=1800.0)
    found = on_record(machine)
    assert found is not None
    seen = machine.table.processes[4242]
    machine.table.processes[4242] = replace(seen, age_s=75.0)
    machine.table.processes[4243] = process(4243, parent=4242, session=4242)
    machine.traffic.readings = [Traffic(established=2, seen=frozenset({"a", "b"}))]
    now = vitals(machine.ports, found)
    assert vitals_lines(now, found) == (
        "now       1m 15s old, 128 MiB resident in 2 processes, 2 connections",
        "ends      in 1h 59m (--ttl) or after 30m without a connection (--idle-stop), by PID 500",
    )
    assert vitals_facts(now)["processes"] == 2


def test_a_lease_that_nobody_sees_to_is_said_and_what_is_hidden_is_not_zero():
    machine = a_machine(ttl_s=7200.0)
    found = on_record(machine)
    assert found is not None
    machine.traffic.readings = [None]
    del machine.table.processes[4242]
    gone = msgspec.structs.replace(found, minder=identity(77, 5))
    lines = vitals_lines(vitals(machine.ports, gone), gone)
    assert lines[0] == "now       memory not visible, connections not visible"
    assert lines[1].startswith("ends      not by itself: what should see to it is gone")


def test_without_a_lease_nothing_is_said_of_an_end():
    machine = a_machine()
    found = on_record(machine)
    assert found is not None
    assert end_lines(vitals(machine.ports, found), found) == ()
    assert isinstance(machine.table.look(4242), ProcessInfo)


def test_its_teardown_is_run_and_a_fault_of_it_keeps_nothing_up():
    machine = a_machine(ttl_s=5.0)
    torn: list[str] = []

    def tidy(one):
        torn.append(one.name)
        raise NotStarted("the teardown failed")

    mind(machine.ports, INSTANCE.id, tidy=tidy)
    assert torn == ["default"]
    assert on_record(machine) is None


def test_a_minder_has_the_callers_environment_only_where_a_teardown_needs_it(monkeypatch):
    monkeypatch.setenv("GWB_RUN", "x")
    monkeypatch.setenv("SHOP_DATABASE", "there")
    for label, has_it in (("other", False), (records.TEARDOWN, True)):
        machine = lending()
        keep(machine, record(labels={label: {}}))
        with_lease(machine.ports, request(ttl_s=60.0), started(machine))
        (order,) = machine.spawner.orders
        assert ("SHOP_DATABASE" in order.environment) is has_it
        assert "GWB_RUN" not in order.environment
