"""What is noticed around a running gateway, each on a machine that tests change under it."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from orchestrator import records
from orchestrator.build_check import BuildCheck
from orchestrator.checks import (
    DatabaseCheck,
    DiskCheck,
    ExposureCheck,
    LogCheck,
    SleepCheck,
    WorktreeCheck,
)
from orchestrator.ports import Build
from orchestrator.starting import start
from orchestrator.watch_ports import Space
from tests.fakes_orchestrator import FakeMachine, process
from tests.unit.orchestrator.test_starting import launch, request

SECOND_NS = 1_000_000_000
OLD, NEW = "a" * 40, "b" * 40


def record_of(fake, **changes):
    started = start(fake.ports, request(), launch())
    return msgspec.structs.replace(started.record, **changes)


def lines(check):
    return [note.line for note in check.look()]


# ---- sleep ---------------------------------------------------------------------------------------


def test_a_machine_that_slept_is_told_once_with_what_it_may_have_touched():
    fake = FakeMachine()
    check = SleepCheck(fake.ports)
    check.rest(1.0)
    rested_ns = fake.clock.at_ns
    fake.clock.sleep(1.0)
    fake.clock.slept_ns += 90 * SECOND_NS
    (note,) = check.look()
    assert note.line == "machine_slept: The machine slept for 90 s."
    assert note.since_ns is not None
    assert abs(note.since_ns - rested_ns) < SECOND_NS / 100
    check.rest(1.0)
    fake.clock.sleep(1.0)
    assert lines(check) == []


def test_a_watch_that_stood_still_in_an_awake_machine_touches_nothing():
    fake = FakeMachine()
    check = SleepCheck(fake.ports)
    check.rest(1.0)
    fake.clock.sleep(31.0)
    (note,) = check.look()
    assert note.incident_class == "watch_halted"
    assert "stood still for 30 s although the machine was awake" in note.summary
    assert note.since_ns is None


def test_a_rest_that_took_a_little_longer_is_no_news():
    fake = FakeMachine()
    check = SleepCheck(fake.ports)
    check.rest(1.0)
    fake.clock.sleep(4.0)
    fake.clock.slept_ns += SECOND_NS // 10
    assert lines(check) == []


def test_without_a_boot_clock_only_a_standstill_is_seen():
    fake = FakeMachine()
    fake.clock.has_boot_clock = False
    check = SleepCheck(fake.ports)
    check.rest(1.0)
    fake.clock.sleep(31.0)
    assert [note.incident_class for note in check.look()] == ["watch_halted"]


# ---- build and folder ----------------------------------------------------------------------------


@pytest.fixture
def built():
    fake = FakeMachine()
    fake.premises.files = {
        "serve.js": ((1, 10, 1), "0" * 64),
        "chunk.js": ((1, 10, 2), "c1"),
        "old.js": ((1, 10, 3), "o1"),
    }
    fake.premises.commit = OLD
    fake.facts.made = Build(entry_sha256="0" * 64, commit=OLD)
    return fake


def build_check(fake):
    return BuildCheck(
        fake.ports, record_of(fake, entry="/w/tree/dist/serve.js", worktree="/w/tree")
    )


def test_a_build_that_stays_as_it_is_is_no_news(built):
    check = build_check(built)
    assert lines(check) == []
    assert lines(check) == []


def test_changed_new_and_removed_files_are_named_and_counted(built):
    check = build_check(built)
    built.premises.files["chunk.js"] = ((2, 11, 2), "c2")
    built.premises.files["new.js"] = ((2, 1, 9), "n1")
    del built.premises.files["old.js"]
    (note,) = check.look()
    assert note.line == (
        "build_changed: The build changed on disk while the gateway was running: "
        "`chunk.js`, `new.js` and `old.js` (1 changed, 1 new, 1 removed)."
    )
    assert note.detail["files"] == {"chunk.js": "changed", "new.js": "new", "old.js": "removed"}
    assert note.since_ns is None
    assert lines(check) == []


def test_a_file_that_is_written_again_as_it_was_is_no_change(built):
    check = build_check(built)
    built.premises.files["chunk.js"] = ((99, 10, 77), "c1")
    assert lines(check) == []


def test_a_clean_build_that_gives_the_same_again_takes_its_removal_back(built):
    check = build_check(built)
    built.premises.files["chunk.js"] = ((2, 11, 2), "c2")
    assert len(lines(check)) == 1  # from here on notices wait a minute
    gone = built.premises.files.pop("old.js")
    assert lines(check) == []
    built.premises.files["old.js"] = ((9, 10, 44), gone[1])
    built.clock.sleep(61.0)
    assert lines(check) == []


def test_what_changes_within_a_minute_is_said_together_after_it(built):
    check = build_check(built)
    for number in range(2, 5):
        built.premises.files["chunk.js"] = ((number, 11, 2), f"c{number}")
        assert len(lines(check)) == (number == 2)
    built.premises.files["new.js"] = ((2, 1, 9), "n1")
    assert lines(check) == []
    built.clock.sleep(61.0)
    (line,) = lines(check)
    assert "`chunk.js` and `new.js` (1 changed, 1 new)" in line


def test_an_entry_that_changed_between_start_and_watch_is_seen(built):
    record = record_of(built, entry="/w/tree/dist/serve.js", worktree="/w/tree")
    built.premises.files["serve.js"] = ((2, 10, 1), "f" * 64)
    (line,) = lines(BuildCheck(built.ports, record))
    assert "`serve.js` (1 changed)" in line


def test_a_moved_head_is_told_with_both_commits(built):
    check = build_check(built)
    built.premises.commit = NEW
    (note,) = check.look()
    assert f"git's HEAD went from {OLD[:12]} to {NEW[:12]}" in note.summary
    assert note.detail["files"] == {}
    assert lines(check) == []


def test_of_an_installed_program_only_the_entry_counts(built):
    record = record_of(built, entry="/w/tree/node_modules/gw/serve.js", worktree="/w/tree")
    built.premises.files = {"serve.js": ((1, 10, 1), "0" * 64)}
    check = BuildCheck(built.ports, record)
    built.premises.commit = NEW
    assert lines(check) == []
    built.premises.files["serve.js"] = ((2, 10, 1), "9" * 64)
    assert "`serve.js` (1 changed)" in lines(check)[0]


def test_a_gateway_of_our_own_has_no_build_to_change(built):
    record = record_of(built, labels={"upstream": "embedded"})
    check = BuildCheck(built.ports, record)
    built.premises.commit = NEW
    built.premises.files = {}
    assert lines(check) == []


def test_a_removed_folder_is_told_once_and_not_as_a_changed_build(built):
    tree = Path("/w/tree")
    build, folder = build_check(built), WorktreeCheck(built.ports, tree)
    built.premises.ids[tree] = None
    built.premises.files = {}
    assert lines(folder) == [
        "worktree_gone: The gateway's folder `/w/tree` was removed while it was running."
    ]
    assert lines(folder) == []
    assert lines(build) == []


def test_another_folder_of_the_same_name_is_not_the_same_folder():
    fake = FakeMachine()
    check = WorktreeCheck(fake.ports, Path("/w"))
    assert lines(check) == []
    fake.premises.ids[Path("/w")] = (1, 99)
    (note,) = check.look()
    assert "was replaced by another folder" in note.summary
    assert note.detail["isReplaced"] is True


# ---- log, exposure, disk, database ---------------------------------------------------------------


def test_a_log_that_was_emptied_is_told_with_its_limit():
    fake = FakeMachine()
    fake.log.is_too_large = True
    (line,) = lines(LogCheck(fake.ports, Path("/s/1.log"), 64 * 2**20))
    assert line.startswith("log_guard: The gateway's log `/s/1.log` passed 64 MiB and was emptied")


def test_a_member_is_told_once_for_each_pattern_and_its_secrets_are_masked():
    members = [process(7, argv=("node", "dist/serve.js", "--key=hunter22"))]
    check = ExposureCheck(FakeMachine().ports, lambda: members, (r"dist/serve.js",), ("hunter22",))
    (note,) = check.look()
    assert note.summary.startswith("`pkill -f 'dist/serve.js'` of somebody else would end PID 7")
    assert "hunter22" not in note.summary + str(note.detail)
    assert lines(check) == []
    members.append(process(8, argv=("node", "dist/serve.js", "worker")))
    assert "PID 8" in lines(check)[0]


def test_a_process_that_renames_itself_is_seen_later():
    members = [process(7, argv=("node", "/s/1.cjs"))]
    check = ExposureCheck(FakeMachine().ports, lambda: members, ("serve",))
    assert lines(check) == []
    members[0] = replace(members[0], argv=("serve: worker",))
    assert len(lines(check)) == 1


@pytest.mark.parametrize(
    ("space", "says"),
    [
        pytest.param(
            Space(device=3, free_bytes=5_000_000, free_files=None),
            "Only 5.0 MB left where the results are written (`/o`).",
            id="bytes",
        ),
        pytest.param(
            Space(device=3, free_bytes=10**12, free_files=9),
            "Only room for 9 more files left where the results are written (`/o`).",
            id="files",
        ),
    ],
)
def test_little_room_is_told_once_until_there_is_room_again(space, says):
    fake = FakeMachine()
    check = DiskCheck(fake.ports, {Path("/s"): "the log"})
    check.add(Path("/o"), "the results")
    assert lines(check) == []
    fake.premises.room[Path("/o")] = space
    (note,) = check.look()
    assert note.summary == says
    assert lines(check) == []
    fake.premises.room[Path("/o")] = replace(space, free_bytes=10**12, free_files=10**6)
    assert lines(check) == []
    fake.premises.room[Path("/o")] = space
    assert len(lines(check)) == 1


def test_two_folders_on_one_full_disk_are_one_notice():
    fake = FakeMachine()
    low = Space(device=3, free_bytes=0, free_files=None)
    fake.premises.room = {Path("/s"): low, Path("/o"): low}
    check = DiskCheck(fake.ports, {Path("/s"): "the log", Path("/o"): "the results"})
    assert len(lines(check)) == 1


def test_a_folder_that_can_not_be_asked_is_not_full():
    fake = FakeMachine()
    fake.premises.room[Path("/s")] = None
    assert lines(DiskCheck(fake.ports, {Path("/s"): "the log"})) == []


def test_another_running_gateway_on_the_same_database_is_told_once():
    fake = FakeMachine()
    mine = record_of(fake, databases={"DATABASE_URL": "d1", "REDIS_URL": "r1"})
    other = msgspec.structs.replace(
        mine, id="0000000a", run_id="other-run", worktree="/w/b", databases={"PG_URL": "d1"}
    )
    check = DatabaseCheck(fake.ports, mine)
    assert lines(check) == []
    fake.state.write(records.record_name(other.id), records.encode(other))
    assert lines(check) == [
        "shared_database: The gateway `default` of `/w/b` (PID 4242) is running on the same "
        "database (`DATABASE_URL` here, `PG_URL` there)."
    ]
    assert lines(check) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"databases": {"DATABASE_URL": "d2"}}, id="another database"),
        pytest.param({"databases": {}}, id="no database"),
        pytest.param({"identity": process(999).identity}, id="not running"),
    ],
)
def test_a_gateway_that_shares_nothing_is_no_news(changes):
    fake = FakeMachine()
    mine = record_of(fake, databases={"DATABASE_URL": "d1"})
    other = msgspec.structs.replace(mine, id="0000000a", run_id="other-run", **changes)
    fake.state.write(records.record_name(other.id), records.encode(other))
    fake.state.write("0000000b.json", b"half a rec")
    assert lines(DatabaseCheck(fake.ports, mine)) == []
