"""Following a log to the end of its gateway."""

import pytest

from orchestrator.errors import PidReused
from orchestrator.tailing import follow
from tests.fakes_orchestrator import FakeMachine, process
from tests.unit.orchestrator.test_minding import record


def test_the_last_lines_then_the_new_ones_then_the_end():
    machine = FakeMachine()
    machine.table.processes[4242] = process()
    machine.log.lines = ("one", "two", "three")
    heard: list[str] = []

    def hear(line):
        heard.append(line)
        if line == "three":
            machine.log.lines += ("four", "five")
        if line == "five":
            del machine.table.processes[4242]
            machine.log.lines += ("last words",)

    end = follow(machine.ports, record(), lines=2, emit=hear)
    assert heard == ["two", "three", "four", "five", "last words"]
    assert end.signal == 15  # as the fake says of each


def test_a_log_that_was_emptied_is_read_from_its_beginning():
    machine = FakeMachine()
    machine.table.processes[4242] = process()
    machine.log.lines = ("one", "two", "three")
    heard: list[str] = []

    def hear(line):
        heard.append(line)
        if line == "three":
            machine.log.lines = ("anew",)
        if line == "anew":
            del machine.table.processes[4242]

    follow(machine.ports, record(), lines=5, emit=hear)
    assert heard == ["one", "two", "three", "anew"]


def test_a_gateway_that_is_gone_is_read_once():
    machine = FakeMachine()
    machine.log.lines = ("one",)
    heard: list[str] = []
    end = follow(machine.ports, record(), lines=5, emit=heard.append)
    assert heard == ["one"]
    assert end.source == "unknown"


def test_another_process_with_its_pid_is_not_waited_for():
    machine = FakeMachine()
    machine.table.processes[4242] = process(ticks=9)
    with pytest.raises(PidReused):
        follow(machine.ports, record(), lines=5, emit=print)
