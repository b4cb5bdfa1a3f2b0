"""Members of a running gateway, kept from turn to turn without reading the whole table."""

from orchestrator.following import Members
from orchestrator.watch_ports import Usage
from tests.fakes_orchestrator import MARK, FakeMachine, process


def at_work(*others):
    fake = FakeMachine()
    for one in (process(4242, marker=MARK), *others):
        fake.table.processes[one.pid] = one
    return fake, Members(fake.ports, process(4242).identity, MARK)


def pids(members):
    return sorted(one.pid for one in members.usage())


def test_who_is_there_at_first_is_found_by_session_marker_and_descent():
    _, members = at_work(
        process(50, session=4242),
        process(51, parent=50, session=51),
        process(52, marker=MARK, session=52),
        process(53, session=53),
    )
    assert pids(members) == [50, 51, 52, 4242]


def test_newcomers_are_found_and_the_gone_are_forgotten():
    fake, members = at_work()
    assert pids(members) == [4242]
    fake.table.processes[60] = process(60, parent=4242, session=60)
    fake.table.processes[61] = process(61, session=61)
    assert pids(members) == [60, 4242]
    assert sorted(one.pid for one in members.infos()) == [60, 4242]
    del fake.table.processes[60]
    assert pids(members) == [4242]


def test_what_was_no_member_at_first_sight_is_found_with_the_next_whole_look():
    fake, members = at_work(process(70, session=70))
    assert pids(members) == [4242]
    fake.table.processes[70] = process(70, session=4242)
    seen = [pids(members) for _ in range(60)]
    assert seen[0] == [4242]
    assert seen[-1] == [70, 4242]


def test_a_pid_that_was_given_away_is_no_member_any_more():
    fake, members = at_work(process(50, session=4242))
    assert pids(members) == [50, 4242]
    fake.meter.used[50] = Usage(pid=50, start_ticks=9_999, parent=1)
    assert pids(members) == [4242]


def test_without_its_leader_there_is_no_gateway():
    fake, members = at_work(process(50, session=4242))
    members.usage()
    fake.table.processes[4242] = process(4242, state="zombie")
    assert members.usage() == ()


def test_an_attached_gateway_without_a_marker_has_no_strangers_for_members():
    fake = FakeMachine()
    fake.table.processes[4242] = process(4242, marker="")
    members = Members(fake.ports, process(4242).identity, "")
    members.usage()
    fake.table.processes[60] = process(60, marker="", session=60)
    assert pids(members) == [4242]
