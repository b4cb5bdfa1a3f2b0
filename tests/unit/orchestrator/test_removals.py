"""What is removed, and what changed in time to be left alone, on a fake machine."""

import signal
from pathlib import Path

import pytest

from orchestrator.cleaning import clean
from orchestrator.errors import NotForUs, PidReused, StartUnderWay
from orchestrator.holding import hold_for_use
from orchestrator.leftovers import leftovers, remove
from orchestrator.records import Instance
from orchestrator.removals import Pick, Wish, removals
from orchestrator.starting import start
from orchestrator.verdicts import Verdict
from tests.fakes_orchestrator import US, FakeMachine, identity, process
from tests.unit.orchestrator.test_starting import (
    INSTANCE,
    TREE,
    launch,
    request,
)
from tests.unit.orchestrator.test_strays import (
    NOW,
    RECORD,
    USE,
    acted,
    an_hour_old,
    change,
    found,
    held,
    hidden,
    the_only,
)


@pytest.fixture
def fake():
    return an_hour_old()


def pick(fake, pid, start_ticks):
    wish = Wish(older_than_s=9e9, picks=(Pick(pid=pid, start=start_ticks),))
    return removals(found(fake), wish)


def test_a_chosen_one_is_removed_whatever_its_age_and_nothing_else_is(fake):
    fake.table.processes[9] = process(9, 33, argv=("node", "dist/serve.js"), age_s=1.0)
    chosen = pick(fake, 9, 33)
    assert [(one.stray.pid, one.action) for one in chosen] == [(9, "end")]
    assert [one.action for one in pick(fake, 4242, 1000)] == ["stop"]
    done = clean(fake.ports, chosen, is_ended=lambda: False)
    assert [one.why for one in done] == ["ended PID 9"]
    assert fake.holder.sent == [(9, signal.SIGTERM, False)]


def test_a_suspect_that_a_run_is_attached_to_is_held():
    fake = FakeMachine()
    fake.table.processes[9] = process(9, 33, argv=("node", "dist/serve.js"), folder="/x")
    chosen = pick(fake, 9, 33)
    attached = Instance(worktree=Path("/x"), name="PID 9")
    lock = hold_for_use(fake.ports, attached, "run-a")
    assert the_only(fake).verdict is Verdict.HELD
    assert the_only(fake).held_by.run_id == "run-a"
    with pytest.raises(NotForUs):
        pick(fake, 9, 33)
    done = clean(fake.ports, chosen, is_ended=lambda: False)
    assert [one.is_done for one in done] == [False]
    lock.release()
    assert fake.holder.sent == []


def test_a_chosen_one_that_is_unknown_reused_or_in_use_is_refused(fake):
    with pytest.raises(NotForUs, match="neither a gateway nor a suspect"):
        pick(fake, US, 10)
    with pytest.raises(PidReused) as fault:
        pick(fake, 4242, 999)
    assert "PID 4242 was started at tick 1000" in fault.value.message
    held(fake)
    with pytest.raises(NotForUs) as refused:
        pick(fake, 4242, 1000)
    assert refused.value.exit_code == 3
    assert refused.value.message == "PID 4242 was left alone: in use"


def test_what_changed_since_the_look_is_left_alone(fake):
    wanted = removals(found(fake), NOW)
    hidden(fake)
    done = clean(fake.ports, wanted, is_ended=lambda: False)
    assert [(one.is_done, one.why) for one in done] == [
        (False, "the process is hidden from this user")
    ]
    fake.table.hidden.clear()
    lock = hold_for_use(fake.ports, INSTANCE, "r")
    assert clean(fake.ports, wanted, is_ended=lambda: False)[0].why.startswith("somebody took it")
    lock.release()
    del fake.state.files[RECORD]
    assert clean(fake.ports, wanted, is_ended=lambda: False)[0].why == (
        "its record changed meanwhile"
    )
    assert fake.holder.sent == []
    assert fake.state.locks == {}


def test_one_that_went_on_record_meanwhile_is_left_alone(fake):
    kept = fake.state.files.pop(RECORD)
    wanted = removals(found(fake), NOW)
    assert [one.action for one in wanted] == ["end"]
    fake.state.files[RECORD] = kept
    assert clean(fake.ports, wanted, is_ended=lambda: False)[0].why == "it is on record meanwhile"


def test_a_fault_of_one_does_not_spare_the_next_and_ctrl_c_does(fake):
    start(fake.ports, request(instance=Instance(worktree=TREE, name="two"), run_id="r2"), launch())
    change(fake, 4243, age_s=3600.0)
    fake.holder.deadly[4242] = frozenset()
    done = acted(fake)
    assert [(one.is_done, one.fault is None) for one in done] == [(False, False), (True, True)]
    assert "survived SIGKILL" in done[0].why
    wanted = removals(found(fake), NOW)
    assert clean(fake.ports, wanted, is_ended=lambda: True) == ()


def test_a_clean_up_that_is_under_way_refuses_a_new_user(fake):
    fake.state.locks[USE] = "a clean-up, PID 9 since noon"
    with pytest.raises(StartUnderWay, match="a clean-up, PID 9 since noon"):
        hold_for_use(fake.ports, INSTANCE, "r")


def test_holders_are_named_while_they_live(fake):
    hold_for_use(fake.ports, INSTANCE, "run-a")
    holding = the_only(fake).held_by
    assert (holding.run_id, holding.pid, holding.others) == ("run-a", US, 0)
    change(fake, US, identity=identity(US, 11))
    holding = the_only(fake).held_by
    assert (holding.run_id, holding.pid) == ("run-a", None)


def test_files_are_left_over_only_without_record_process_and_hold(fake):
    for name in ("aaaaaaaa.py", "bbbbbbbb.log", "cccccccc.exit", "port.log", "dddddddd.log.1"):
        fake.state.files[name] = b"x"
        fake.state.ages[name] = 3600.0
    fake.state.ages["dddddddd.log.1"] = 9e9
    fake.state.ages[RECORD] = 9e9
    fake.table.processes[9] = process(9, argv=("python3", "/state/aaaaaaaa.py"))
    listed = leftovers(fake.ports, older_than_s=600.0)
    assert [one.name for one in listed] == ["cccccccc.exit", "dddddddd.log.1"]
    fake.state.files["cccccccc.json"] = b"{}"
    assert [one.name for one in remove(fake.ports, listed)] == ["dddddddd.log.1"]
    assert Path("/state/cccccccc.exit").name in fake.state.files
