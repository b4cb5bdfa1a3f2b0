"""The watcher on a fake machine: why a request failed, and how an end is classed."""

import threading
from dataclasses import replace

import msgspec
import pytest

from orchestrator import records
from orchestrator.events import Exit, as_trouble
from orchestrator.ports import Listener
from orchestrator.records import StopAsked
from orchestrator.starting import start
from orchestrator.stopping import forget
from orchestrator.watch import Watcher
from tests.fakes_orchestrator import FakeHeld, FakeMachine, identity
from tests.unit.orchestrator.test_starting import launch, request

KILLED = Exit(signal=9, source="zombie")


class Watched:
    """A started gateway with a watcher whose notices are kept."""

    def __init__(self):
        self.fake = FakeMachine()
        self.started = start(self.fake.ports, request(), launch())
        self.port = self.started.record.port
        self.listen("127.0.0.1", 4242)
        self.notices = []
        self.noticed = threading.Event()
        self.watcher = Watcher(self.fake.ports, self.started, self.notice)

    def notice(self, exited):
        self.notices.append(exited)
        self.noticed.set()

    def listen(self, host, *pids):
        self.fake.sockets.listening.append(
            Listener(host=host, port=self.port, pids=frozenset(pids))
        )

    def become(self, state):
        table = self.fake.table.processes
        table[4242] = replace(table[4242], state=state)

    def end_with(self, end):
        assert isinstance(self.started.held, FakeHeld)
        self.started.held.end = end
        self.become("zombie")


@pytest.fixture
def watched():
    made = Watched()
    yield made
    made.watcher.close()


def test_a_gateway_that_is_fine_explains_nothing(watched):
    assert watched.watcher.explain(None) is None
    assert watched.watcher.explain(50_000) is None
    assert watched.watcher.exited() is None


def test_a_death_is_called_back_once_with_class_and_status(watched):
    watched.end_with(Exit(signal=9, source="pidfd"))
    assert watched.noticed.wait(10)
    assert [one.incident_class for one in watched.notices] == ["gateway_killed"]
    assert "PID 4242" in watched.notices[0].summary
    assert "SIGKILL" in watched.notices[0].summary
    assert watched.watcher.exited() == watched.notices[0]
    trouble = watched.watcher.explain(None)
    assert trouble is not None
    assert trouble.incident_class == "gateway_killed"
    assert trouble.detail == {"code": None, "signal": 9, "source": "pidfd", "error": None}


ASKED = StopAsked(pid=77, at="2026-01-02T10:00:00+00:00")
OF_ASKED = (
    "The gateway (PID 4242) was ended by SIGTERM: `gateway-bench stop` (PID 77) stopped it at "
    "2026-01-02T10:00:00+00:00."
)


@pytest.mark.parametrize("is_put_away", [False, True])
def test_a_stop_that_was_typed_elsewhere_is_named_with_its_pid(watched, is_put_away):
    state = watched.fake.ports.state
    record = msgspec.structs.replace(watched.started.record, stop_asked=ASKED)
    state.write(records.record_name(record.id), records.encode(record))
    if is_put_away:
        forget(watched.fake.ports, record, None, was_asked=True)
    watched.end_with(Exit(signal=15, source="pidfd"))
    assert watched.noticed.wait(10)
    assert watched.notices[0].summary == OF_ASKED
    assert as_trouble(watched.notices[0]).detail["stoppedBy"] == 77


@pytest.mark.parametrize("is_put_away", [False, True])
def test_a_stop_of_another_gateway_of_that_name_is_not_blamed(watched, is_put_away):
    state = watched.fake.ports.state
    other = msgspec.structs.replace(
        watched.started.record, identity=identity(pid=5000), stop_asked=ASKED
    )
    state.write(records.record_name(other.id), records.encode(other))
    if is_put_away:
        forget(watched.fake.ports, other, None, was_asked=True)
    watched.end_with(Exit(signal=15, source="pidfd"))
    assert watched.noticed.wait(10)
    assert watched.notices[0].summary.endswith("although nobody asked us to stop it.")
    assert watched.notices[0].stopped_by is None


def test_an_end_that_we_asked_for_is_no_incident(watched):
    watched.watcher.expect_end()
    watched.become("zombie")
    watched.watcher.close()
    assert watched.notices == []


def test_memory_kills_that_rose_make_a_sigkill_out_of_memory():
    fake = FakeMachine()
    fake.holder.kills = [3, 4]
    started = start(fake.ports, request(), launch())
    noticed = threading.Event()
    watcher = Watcher(fake.ports, started, lambda _: noticed.set())
    assert isinstance(started.held, FakeHeld)
    started.held.end = Exit(signal=9, source="pidfd")
    fake.table.processes[4242] = replace(fake.table.processes[4242], state="zombie")
    assert noticed.wait(10)
    watcher.close()
    end = watcher.exited()
    assert end is not None
    assert end.incident_class == "gateway_oom"
    assert "memory ran out" in end.summary


def test_a_suspended_gateway_is_told_apart(watched):
    watched.become("stopped")
    trouble = watched.watcher.explain(None)
    assert trouble is not None
    assert trouble.incident_class == "gateway_suspended"


def test_alive_and_not_listening_is_draining_or_hung(watched):
    watched.fake.sockets.listening = []
    trouble = watched.watcher.explain(None)
    assert trouble is not None
    assert trouble.incident_class == "gateway_draining_or_hung"
    assert str(watched.port) in trouble.summary


def test_sockets_that_close_before_the_death_is_seen_are_a_death(watched):
    closed = watched.fake.sockets.listening
    # Closed while we look, because it is being killed.
    watched.fake.sockets.listening = (one for one in closed if watched.end_with(KILLED))
    trouble = watched.watcher.explain(None)
    assert trouble is not None
    assert (trouble.incident_class, trouble.detail["signal"]) == ("gateway_killed", 9)


def test_a_listener_that_is_another_took_the_port(watched):
    watched.fake.sockets.listening = []
    watched.listen("::", 77)
    trouble = watched.watcher.explain(None)
    assert trouble is not None
    assert (trouble.incident_class, trouble.detail["pids"]) == ("port_taken", [77])


def test_a_connection_that_another_answered_took_the_port_too(watched):
    watched.fake.sockets.owners = frozenset({77})
    trouble = watched.watcher.explain(50_000)
    assert trouble is not None
    assert trouble.incident_class == "port_taken"


def test_a_listener_on_another_address_takes_nothing(watched):
    watched.listen("::1", 77)
    assert watched.watcher.explain(None) is None


def test_closing_from_the_notice_itself_does_not_hang():
    fake = FakeMachine()
    started = start(fake.ports, request(), launch())
    closed = threading.Event()

    def close(_):
        watcher.close()
        closed.set()

    watcher = Watcher(fake.ports, started, close)
    fake.table.processes[4242] = replace(fake.table.processes[4242], state="zombie")
    assert closed.wait(10)
    watcher.close()


class Told:
    """A watched gateway whose trouble is kept."""

    def __init__(self):
        self.fake = FakeMachine()
        self.started = start(self.fake.ports, request(), launch())
        self.fake.sockets.listening = [self.listener(4242)]
        self.troubles, self.ends = [], []
        self.told = threading.Event()
        self.watcher = Watcher(self.fake.ports, self.started, self.end, self.trouble)

    def listener(self, pid):
        port = self.started.record.port
        return Listener(host="127.0.0.1", port=port, pids=frozenset({pid}))

    def trouble(self, trouble):
        self.troubles.append(trouble)
        self.told.set()

    def end(self, end):
        self.ends.append(end)
        self.told.set()

    def become(self, state):
        table = self.fake.table.processes
        table[4242] = replace(table[4242], state=state)


@pytest.fixture
def told():
    made = Told()
    yield made
    made.watcher.close()


def test_a_suspension_is_told_before_any_request_fails(told):
    fine_ns = told.fake.clock.now_ns()
    told.become("stopped")
    assert told.told.wait(10)
    (trouble,) = told.troubles
    assert trouble.incident_class == "gateway_suspended"
    assert trouble.since_ns is not None
    assert trouble.since_ns <= max(fine_ns, trouble.at_ns)


@pytest.mark.parametrize(
    ("pids", "name"),
    [
        pytest.param((), "gateway_draining_or_hung", id="nobody listens"),
        pytest.param((77,), "port_taken", id="a stranger listens"),
        pytest.param((4242, 77), "port_taken", id="a stranger listens too"),
    ],
)
def test_sockets_that_changed_are_told_before_any_request_fails(told, pids, name):
    told.fake.sockets.listening = [told.listener(pid) for pid in pids]
    assert told.told.wait(10)
    assert [one.incident_class for one in told.troubles] == [name]
    assert told.ends == []


def test_a_gateway_that_listens_anew_is_fine(told):
    told.fake.sockets.listening = [told.listener(4242)]
    assert told.watcher.explain(None) is None
    told.become("stopped")
    assert told.told.wait(10)  # it looked since then
    assert [one.incident_class for one in told.troubles] == ["gateway_suspended"]


def test_trouble_of_one_that_we_are_stopping_is_none(told):
    told.watcher.expect_end()
    told.fake.sockets.listening = []
    told.watcher.close()
    assert told.troubles == []
