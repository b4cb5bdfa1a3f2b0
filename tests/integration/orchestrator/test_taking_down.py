"""A stop means the gateway that was looked at, and no other one of its name."""

from dataclasses import replace

import pytest

from orchestrator.interrupts import Interrupts
from orchestrator.lifecycle import find
from orchestrator.taking_down import take_down_recorded

pytestmark = pytest.mark.integration


def test_one_that_was_started_anew_under_the_name_meanwhile_is_left_alone(yard):
    first = yard.start_script()
    yard.stop(held=first.held)
    again = yard.start_script(request=replace(yard.request, run_id=f"{yard.run_id}-again"))
    torn: list[str] = []
    down = take_down_recorded(
        yard.machine, first.record, Interrupts(), tidy=lambda: torn.append("first")
    )
    assert (down.fault, torn) == (None, [])
    assert down.stopped is not None
    assert down.stopped.was_down
    record = find(yard.machine, yard.instance)
    assert record is not None
    assert record.identity == again.record.identity
    assert not again.held.ended(0)
    down = take_down_recorded(
        yard.machine, again.record, Interrupts(), tidy=lambda: torn.append("again")
    )
    assert (down.fault, torn) == (None, ["again"])
    assert again.held.ended(0)


def test_one_that_somebody_else_took_down_meanwhile_is_not_torn_down_again(yard):
    started = yard.start_script()
    yard.stop(held=started.held)
    torn: list[str] = []
    down = take_down_recorded(
        yard.machine, started.record, Interrupts(), tidy=lambda: torn.append("again")
    )
    assert down.stopped is not None
    assert (down.fault, down.stopped.was_down, torn) == (None, True, [])
