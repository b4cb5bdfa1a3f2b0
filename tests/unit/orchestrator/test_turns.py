"""Whose turn it is to start or stop an instance."""

import pytest

from orchestrator import records
from orchestrator.errors import StartUnderWay
from orchestrator.lifecycle import in_turn, take_turn
from orchestrator.starting import start
from orchestrator.stopping import stop
from tests.fakes_orchestrator import FakeMachine
from tests.unit.orchestrator.test_starting import INSTANCE, launch, request

LOCK = records.lock_name(INSTANCE.id)


def test_a_turn_of_the_caller_serves_many_steps_and_stays_the_caller_s():
    fake = FakeMachine()
    turn = take_turn(fake.ports, INSTANCE)
    started = start(fake.ports, request(), launch(), turn=turn)
    assert not stop(fake.ports, INSTANCE, held=started.held, turn=turn).was_down
    assert LOCK in fake.state.locks
    with pytest.raises(StartUnderWay):
        stop(fake.ports, INSTANCE)
    turn.release()
    assert stop(fake.ports, INSTANCE).was_down


def test_a_turn_of_its_own_ends_with_its_step():
    fake = FakeMachine()

    def step():
        with in_turn(fake.ports, INSTANCE, None):
            assert LOCK in fake.state.locks
            return 1 // 0

    with pytest.raises(ZeroDivisionError):
        step()
    assert fake.state.locks == {}


def test_who_is_patient_waits_so_long_and_is_then_told_who_has_it():
    fake = FakeMachine()
    fake.state.locks[LOCK] = "PID 7 since noon"
    before_ns = fake.clock.now_ns()
    with pytest.raises(StartUnderWay, match="by PID 7 since noon"):
        take_turn(fake.ports, INSTANCE, patience_s=3.0)
    assert 3.0 <= (fake.clock.now_ns() - before_ns) / 1e9 < 4.0
