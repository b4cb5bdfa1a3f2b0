"""Where control groups could lie, and what is made there: on a tree of plain files."""

import os

import pytest

from bench.warden.accounting import Account, Place, is_gone, places

MEMBERSHIP_2 = "0::/user.slice/session-1.scope\n"
MEMBERSHIP_1 = "5:pids:/\n4:memory:/job/a\n3:cpu,cpuacct:/\n1:name=systemd:/\n0::/\n"


def test_version_2_is_looked_for_from_our_own_group_upward(tmp_path):
    (tmp_path / "cgroup.controllers").write_text("memory pids")
    (tmp_path / "user.slice/session-1.scope").mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text(MEMBERSHIP_2)
    found = places(str(tmp_path), str(own))
    assert [(one.version, one.resources) for one in found] == [(2, ("memory", "pids"))] * 3
    assert [one.folder.removeprefix(str(tmp_path)) for one in found] == [
        "/user.slice/session-1.scope", "/user.slice", "",
    ]  # fmt: skip


def test_version_1_has_a_tree_for_each_resource_and_what_is_not_shown_is_left_out(tmp_path):
    (tmp_path / "pids").mkdir()
    (tmp_path / "memory/job").mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text(MEMBERSHIP_1)
    found = places(str(tmp_path), str(own))
    assert [(one.resources, one.folder.removeprefix(str(tmp_path))) for one in found] == [
        (("pids",), "/pids"), (("memory",), "/memory/job"), (("memory",), "/memory"),
    ]  # fmt: skip


def test_without_control_groups_there_is_no_place(tmp_path):
    assert places(str(tmp_path), str(tmp_path / "nothing")) == []


def test_a_place_that_takes_no_limits_is_left_as_it_was(tmp_path):
    place = Place(2, ("memory", "pids"), str(tmp_path))  # a plain folder has no limit files
    account = Account(memory_bytes=1, processes=1, among=[place])
    assert account.held == ()
    assert (account.memory_kills(), account.refused_processes()) == (0, 0)
    account.join()
    account.close()
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_made_nothing_is_held():
    account = Account(memory_bytes=1, processes=1, among=[Place(1, ("pids",), "/proc/self")])
    assert account.held == ()


def test_the_group_of_a_maker_that_is_gone_is_removed(tmp_path):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    (tmp_path / f"gateway-bench-sandbox-{child}").mkdir()
    (tmp_path / f"gateway-bench-sandbox-{os.getppid()}").mkdir()
    (tmp_path / "other").mkdir()
    Account(memory_bytes=1, processes=1, among=[Place(1, ("pids",), str(tmp_path))])
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        f"gateway-bench-sandbox-{os.getppid()}", "other",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pid", "wanted"),
    [
        pytest.param("no-number", False, id="no number"),
        # An id of its own: two test workers would name it by two PIDs.
        pytest.param(str(os.getpid()), False, id="lives"),
    ],
)
def test_who_lives_or_is_no_number_is_not_gone(pid, wanted):
    assert is_gone(pid) is wanted
