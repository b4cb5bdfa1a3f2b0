"""Every verdict and every removal, on a fake machine."""

from dataclasses import replace

import pytest

from orchestrator import records
from orchestrator.cleaning import clean
from orchestrator.ports import Listener, ProcessDetail, Use, Worktree
from orchestrator.records import Instance
from orchestrator.removals import Wish, removals
from orchestrator.starting import start
from orchestrator.survey import survey
from orchestrator.verdicts import Verdict
from tests.fakes_orchestrator import MARK, US, FakeMachine, identity, process
from tests.unit.orchestrator.test_starting import (
    INSTANCE,
    TREE,
    change_record,
    launch,
    request,
)

RECORD = records.record_name(INSTANCE.id)
USE = records.use_name(INSTANCE.id)
LOCK = records.lock_name(INSTANCE.id)
NOW = Wish(older_than_s=0.0)
LATER = Wish(older_than_s=600.0)
OURS = f"/state/{'a' * 8}.json"


def an_hour_old():
    """A machine with one gateway that is up for an hour."""
    made = FakeMachine()
    start(made.ports, request(), launch())
    change(made, 4242, age_s=3600.0, folder=str(TREE))
    return made


@pytest.fixture
def fake():
    return an_hour_old()


def change(fake, pid, **changes):
    fake.table.processes[pid] = replace(fake.table.processes[pid], **changes)


def found(fake):
    return survey(fake.ports, near="/here")


def the_only(fake):
    listed = found(fake)
    assert len(listed) == 1, listed
    return listed[0]


def acted(fake, wish=NOW):
    return clean(fake.ports, removals(found(fake), wish), is_ended=lambda: False)


def gone(fake):
    del fake.table.processes[4242]


def reused(fake):
    fake.table.processes[4242] = process(4242, ticks=77)


def hidden(fake):
    fake.table.hidden.add(4242)


def elsewhere(fake):
    change_record(fake, identity=identity(4242, namespace="ns-2"))


def earlier_boot(fake):
    gone(fake)
    change_record(fake, identity=identity(4242, boot="boot-0"))


def earlier_boot_with_the_pid_given_away(fake):
    earlier_boot(fake)
    reused(fake)


def earlier_boot_in_use(fake):
    earlier_boot(fake)
    held(fake)


def earlier_boot_with_its_marker_about(fake):
    change_record(fake, identity=identity(4242, boot="boot-0"))


def another_machine(fake):
    earlier_boot(fake)
    change_record(fake, machine="machine-b")


def record_of_an_older_version(fake):
    earlier_boot(fake)
    change_record(fake, machine=None)


def machine_without_an_id(fake):
    record_of_an_older_version(fake)
    fake.machine_id = None


def container_with_its_hosts_machine_id(fake):
    gone(fake)
    change_record(fake, identity=identity(4242, boot="boot-0", namespace="ns-2"))


def torn(fake):
    fake.state.files[RECORD] = b'{"schema'


def newer(fake):
    fake.state.files[RECORD] = b'{"schemaVersion": 99}'


def suspended(fake):
    change(fake, 4242, state="stopped")


def half_started(fake):
    change_record(fake, ready_after_ms=None)


def busy(fake):
    fake.state.locks[LOCK] = "PID 9 since noon"


def held(fake):
    fake.state.uses[USE] = Use(is_held=True, notes=("no JSON",))


def held_and_gone(fake):
    held(fake)
    gone(fake)


def became_anothers(fake):
    change(fake, 4242, user=0)


@pytest.mark.parametrize(
    ("what", "verdict", "reason", "action"),
    [
        pytest.param(lambda _: None, "idle", "nobody has used it for 1h", "stop", id="up"),
        pytest.param(suspended, "idle", "for 1h; it is suspended", "stop", id="suspended"),
        pytest.param(half_started, "idle", "start was broken off", "stop", id="half started"),
        pytest.param(gone, "dead", "no process has its PID", "forget", id="gone"),
        pytest.param(reused, "dead", "belongs to another process", "forget", id="PID reused"),
        pytest.param(held, "held", "in use", "keep", id="held"),
        pytest.param(
            held_and_gone, "held", "no process has its PID, but in use", "keep", id="both"
        ),
        pytest.param(busy, "busy", "started or stopped by PID 9", "keep", id="busy"),
        pytest.param(hidden, "unverified", "its record `/state/", "keep", id="hidden"),
        pytest.param(elsewhere, "foreign", "another PID namespace", "keep", id="namespace"),
        pytest.param(earlier_boot, "dead", "earlier boot of this", "forget", id="boot"),
        pytest.param(
            earlier_boot_with_the_pid_given_away, "dead", "earlier boot", "forget", id="boot, PID"
        ),
        pytest.param(
            earlier_boot_in_use, "held", "it ended with an earlier boot", "keep", id="boot, held"
        ),
        pytest.param(
            earlier_boot_with_its_marker_about,
            "foreign",
            "yet PID 4242 carries its marker",
            "keep",
            id="boot, marker",
        ),
        pytest.param(another_machine, "foreign", "boot or machine", "keep", id="shared home"),
        pytest.param(
            record_of_an_older_version, "foreign", "boot or machine", "keep", id="older record"
        ),
        pytest.param(
            machine_without_an_id, "foreign", "boot or machine", "keep", id="no machine id"
        ),
        pytest.param(
            container_with_its_hosts_machine_id,
            "foreign",
            "another boot or machine",
            "keep",
            id="container of another boot",
        ),
        pytest.param(became_anothers, "other user", "runs as user 0", "keep", id="user"),
    ],
)
def test_what_a_record_is_worth_and_what_would_be_done(fake, what, verdict, reason, action):
    what(fake)
    stray = next(one for one in found(fake) if one.record is not None)
    assert stray.verdict.value == verdict
    assert reason in stray.reason
    assert [one.action for one in removals([stray], NOW)] == [action]


@pytest.mark.parametrize("what", [torn, newer], ids=["truncated", "newer format"])
def test_an_unreadable_record_stays_and_so_do_the_processes_it_may_speak_of(fake, what):
    what(fake)
    assert {one.verdict for one in found(fake)} == {Verdict.UNVERIFIED}
    assert len(found(fake)) == 2
    assert acted(fake) == ()
    assert RECORD in fake.state.files
    assert fake.holder.sent == []


@pytest.mark.parametrize(
    ("changes", "detail", "verdict"),
    [
        pytest.param({}, {}, "unregistered", id="ours"),
        pytest.param({"record_path": None}, {}, "suspect", id="no place of a record"),
        pytest.param({"record_path": "/other/x.json"}, {}, "elsewhere", id="another folder"),
        pytest.param({"user": 0}, {}, "other user", id="another user"),
        pytest.param({}, {"namespace": "ns-9"}, "container", id="another namespace"),
        pytest.param({}, {"container": "docker-1"}, "container", id="container"),
        pytest.param({}, {"namespace": None}, "unverified", id="namespace hidden"),
    ],
)
def test_only_what_carries_our_marker_from_our_folder_is_ours(changes, detail, verdict):
    fake = FakeMachine()
    one = process(9, marker="another-run", record_path=OURS, age_s=60.0)
    fake.table.processes[9] = replace(one, **changes)
    usual = {"namespace": "ns-1", "resident_bytes": 1}
    fake.table.details[9] = ProcessDetail(**{**usual, **detail})
    stray = the_only(fake)
    assert stray.verdict.value == verdict
    done = acted(fake)
    assert [one.why for one in done] == (["ended PID 9"] if verdict == "unregistered" else [])
    assert bool(fake.holder.sent) == (verdict == "unregistered")


@pytest.mark.parametrize(("name", "verdict"), [("aaaaaaaa.use", "held"), ("aaaaaaaa.lock", "busy")])
def test_an_unregistered_one_that_is_held_or_started_is_left_alone(name, verdict):
    fake = FakeMachine()
    fake.table.processes[9] = process(9, marker="r", record_path=OURS, age_s=60.0)
    if verdict == "held":
        fake.state.uses[name] = Use(is_held=True)
    else:
        fake.state.locks[name] = "PID 9"
    assert the_only(fake).verdict.value == verdict
    assert acted(fake) == ()


def test_processes_of_one_marker_are_one_line_and_are_ended_together():
    fake = FakeMachine()
    for pid, session in ((9, 9), (10, 9), (11, 11)):
        fake.table.processes[pid] = process(
            pid, 100 + pid, marker="r", record_path=OURS, session=session, age_s=60.0
        )
    fake.sockets.listening = [Listener(host="::", port=7000, pids=frozenset({10}))]
    stray = the_only(fake)
    assert (stray.pid, stray.ports, stray.memory_bytes) == (9, (7000,), 3 * 64 * 2**20)
    assert stray.reason.endswith("; 2 more of it")
    wanted = removals(found(fake), NOW)
    change(fake, 11, marker="somebody else's by now")
    done = clean(fake.ports, wanted, is_ended=lambda: False)
    assert [one.why for one in done] == ["ended PID 9, PID 10"]


def test_ourselves_and_our_ancestors_are_never_listed():
    fake = FakeMachine()
    fake.table.processes[400] = process(400, 5, argv=("node", "dist/serve.js"), marker="r")
    change(fake, US, parent=400, marker="r2", argv=("node", "dist/serve.js"))
    assert found(fake) == ()


def test_the_idle_time_counts_from_the_last_use(fake):
    fake.state.quiet[USE] = 30.0
    stray = the_only(fake)
    assert (stray.age_s, stray.idle_s) == (3600.0, 30.0)
    assert "nobody has used it for 30s" in stray.reason
    assert acted(fake, LATER) == ()
    fake.state.quiet[USE] = 3000.0
    assert [one.why for one in acted(fake, LATER)] == ["stopped"]


def test_a_simulator_is_held_with_its_gateway_and_goes_after_it(fake):
    simulator = Instance(worktree=TREE, name="default-upstream")
    wanted = request(
        instance=simulator, run_id=f"{MARK}-upstream", labels={"upstreamOf": "default"}
    )
    start(fake.ports, wanted, launch("python3 -m sim"))
    change(fake, 4243, age_s=3600.0)
    held(fake)
    assert {one.verdict for one in found(fake)} == {Verdict.HELD}
    fake.state.uses.clear()
    done = acted(fake)
    assert [one.removal.stray.name for one in done] == ["default", "default-upstream"]
    assert all(one.is_done for one in done)


def test_branches_are_those_of_the_build_and_a_switch_is_told(fake):
    record = next(one for one in found(fake)).record
    change_record(fake, build=replace(record.build, branch="one"))
    fake.worktrees.listed = (Worktree(path=str(TREE), branch="two"),)
    stray = the_only(fake)
    assert stray.branch == "one"
    assert stray.reason.endswith("; its worktree is on `two` now")
    fake.worktrees.gone.add(str(TREE))
    stray = the_only(fake)
    assert stray.is_worktree_gone
    assert stray.reason.endswith("; its worktree was removed")


def test_a_worktree_whose_path_was_taken_again_is_gone_all_the_same(fake):
    change(fake, 4242, folder=f"{TREE} (deleted)")
    assert the_only(fake).is_worktree_gone


def test_a_strangers_folder_is_shown_by_its_tree_or_by_itself():
    fake = FakeMachine()
    fake.worktrees.listed = (Worktree(path="/x/wt", branch="one"),)
    places = {}
    for pid, folder in enumerate(("/x/wt/dist", "/x/wt/inner (deleted)", "/y (deleted)", "/z"), 20):
        fake.table.processes[pid] = process(pid, argv=("node", "dist/serve.js"), folder=folder)
    for one in found(fake):
        places[one.pid] = (one.worktree, one.branch, one.is_worktree_gone)
    assert places == {
        20: ("/x/wt", "one", False),
        21: ("/x/wt/inner", None, True),
        22: ("/y", None, True),
        23: ("/z", None, False),
    }


def test_a_containers_port_forwarder_is_the_containers():
    fake = FakeMachine()
    fake.table.processes[9] = process(9, name="docker-proxy", argv=("docker-proxy",))
    fake.sockets.listening = [Listener(host="::", port=4001, pids=frozenset({9}))]
    assert the_only(fake).verdict is Verdict.CONTAINER
