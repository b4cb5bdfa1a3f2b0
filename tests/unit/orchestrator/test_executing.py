"""The turns of an errand: what the command is sent when something happens."""

import signal
from queue import SimpleQueue
from typing import cast

import pytest

from orchestrator import executing
from orchestrator.events import Trouble
from orchestrator.executing import Errand
from orchestrator.guest import Guest, GuestPaused
from tests.fakes_orchestrator import FakeMachine
from tests.unit.orchestrator.test_exec_command import up

KILLED = Trouble(incident_class="gateway_killed", at_ns=1, summary="It was killed.", detail={})


class FakeGuest:
    """Remembers what it was sent."""

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.paused = 0

    def signal(self, number):
        self.sent.append(number)

    def pause_with_it(self):
        self.paused += 1


class Turns:
    """One errand in the middle."""

    def __init__(self, on_death="stop") -> None:
        self.machine = FakeMachine()
        self.guest = FakeGuest()
        self.course = executing._Course(up=up())
        self.said: list[str] = []
        self.errand = Errand(words=("x",), on_death=on_death, bring_up=up)

    def meet(self, happening):
        executing._meet(
            happening,
            self.errand,
            cast("Guest", self.guest),
            self.course,
            self.machine.ports,
            self.said.append,
        )


def test_a_command_that_outlives_its_grace_is_killed():
    turns = Turns()
    turns.meet(KILLED)
    assert turns.guest.sent == [signal.SIGTERM, signal.SIGCONT]
    turns.meet(None)
    assert turns.guest.sent == [signal.SIGTERM, signal.SIGCONT]
    turns.machine.clock.sleep(11)
    turns.meet(None)
    turns.meet(None)
    assert turns.guest.sent[2:] == [signal.SIGKILL]
    assert turns.said == ["error: It was killed."]


def test_the_first_trouble_is_the_one_that_is_told():
    turns = Turns("continue")
    turns.meet(KILLED)
    turns.meet(Trouble(incident_class="port_taken", at_ns=2, summary="Taken.", detail={}))
    assert turns.course.trouble is KILLED
    assert turns.guest.sent == []


@pytest.mark.parametrize(
    ("numbers", "sent", "has_deadline"),
    [
        ([signal.SIGINT], [signal.SIGINT], False),
        ([signal.SIGTERM], [signal.SIGTERM], True),
        ([signal.SIGHUP], [signal.SIGHUP], True),
        ([signal.SIGINT, signal.SIGTERM], [signal.SIGINT, signal.SIGKILL], False),
    ],
)
def test_the_second_signal_means_now(numbers, sent, has_deadline):
    turns = Turns()
    for number in numbers:
        turns.meet(executing._Told(number=number))
    assert turns.guest.sent == sent
    assert (turns.course.kill_at_ns is not None) is has_deadline


def test_a_command_that_is_stopped_stops_us():
    turns = Turns()
    turns.meet(GuestPaused())
    assert turns.guest.paused == 1


def test_a_turn_ends_when_the_grace_does():
    turns = Turns()
    turns.course.kill_at_ns = turns.machine.clock.at_ns
    queue: SimpleQueue[executing._Happening] = SimpleQueue()
    assert executing._next(queue, turns.course, turns.machine.ports) is None
    queue.put(KILLED)
    assert executing._next(queue, turns.course, turns.machine.ports) is KILLED
