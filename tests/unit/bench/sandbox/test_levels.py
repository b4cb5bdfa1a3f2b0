"""From what a program could do to a level."""

from dataclasses import replace

import pytest

from bench.sandbox.levels import Seen, protections

FINE = Seen(
    walls="namespaces",
    reaches=frozenset({"pair"}),
    counted={"memory": "cgroup v2", "pids": "cgroup v2"},
    starts_too_many=False,
    takes_too_much=False,
    is_root=True,
)


def held(seen):
    return {item.id: item.held for item in protections(seen).items}


def test_everything_held_is_full_and_needs_no_reason():
    found = protections(FINE)
    assert (found.level, found.walls, found.why) == ("full", "namespaces", None)
    assert all(held(FINE).values())


@pytest.mark.parametrize(
    ("reaches", "id_"),
    [
        ("connects", "network"),
        ("reads", "reading"),
        ("environ", "reading"),
        ("writes", "writing"),
        ("signals", "processes"),
    ],
)
def test_whoever_gets_through_leaves_no_sandbox(reaches, id_):
    seen = replace(FINE, reaches=frozenset({reaches}))
    found = protections(seen)
    assert (found.level, found.walls) == ("none", None)
    assert held(seen)[id_] is False
    assert f"{id_}: the trial program got through: ['{reaches}']" in (found.why or "")


@pytest.mark.parametrize(
    ("changes", "id_"),
    [
        ({"counted": {"pids": "cgroup v2"}}, "memory"),
        ({"takes_too_much": True}, "memory"),
        ({"starts_too_many": True}, "count"),
        ({"reaches": frozenset({"socket"})}, "syscalls"),
        ({"reaches": frozenset({"chroot"})}, "syscalls"),
    ],
)
def test_a_missing_limit_is_reduced(changes, id_):
    seen = replace(FINE, **changes)
    assert protections(seen).level == "reduced"
    assert [name for name, is_held in held(seen).items() if not is_held] == [id_]


def test_weaker_walls_are_reduced_and_say_why_there_were_no_stronger_ones():
    found = protections(replace(FINE, walls="landlock"), ["namespaces: unshare: not permitted"])
    assert (found.level, found.why) == ("reduced", "namespaces: unshare: not permitted")


@pytest.mark.parametrize(
    ("counted", "is_root", "how"),
    [
        ({"pids": "cgroup v1"}, True, "limited by cgroup v1"),
        ({}, True, "limited by RLIMIT_NPROC of a user of its own"),
        ({}, False, "limited by RLIMIT_NPROC"),
    ],
)
def test_what_counts_processes_is_told(counted, is_root, how):
    items = protections(replace(FINE, counted=counted, is_root=is_root)).items
    assert next(item.how for item in items if item.id == "count") == how
