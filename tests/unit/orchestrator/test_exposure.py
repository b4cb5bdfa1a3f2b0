"""Who would be hit by a pattern, and who belongs to a gateway."""

from pathlib import PurePath

import pytest

from orchestrator.exposure import exposed, members, patterns_for
from tests.fakes_orchestrator import MARK, identity, process

ENTRY = PurePath("/home/me/shop-gateway/dist/serve.js")
PATTERNS = patterns_for(entry=ENTRY, worktree=PurePath("/home/me/shop-gateway"))


@pytest.mark.parametrize(
    "command",
    [
        "node /home/me/shop-gateway/dist/serve.js",
        "node dist/serve.js",
        "node /tmp/dist/serve-js-copy.mjs",
        "python3 -m gateway",
        "node /state/serve/0a1b2c3d.cjs",
        "node --cwd=/home/me/shop-gateway x",
    ],
)
def test_a_command_line_that_a_pattern_hits_is_exposed(command):
    found = exposed([process(argv=tuple(command.split()))], PATTERNS)
    assert [one.pid for one in found] == [4242]
    assert found[0].command == command


def test_a_shim_in_a_quiet_folder_is_not_exposed():
    quiet = process(argv=("node", "/home/me/.local/state/gwb/0a1b2c3d.cjs"))
    assert exposed([quiet], PATTERNS) == ()


def test_an_unreadable_or_dead_process_is_not_called_exposed():
    unseen = process(argv=None)
    dead = process(5, state="zombie", argv=("node", "dist/serve.js"))
    assert exposed([unseen, dead], PATTERNS) == ()


def test_names_of_one_or_two_letters_are_no_patterns():
    found = patterns_for(entry=PurePath("/w/a/b.js"), worktree=PurePath("/w"))
    assert "a" not in found
    assert "/w/a/b\\.js" in found


def test_the_users_own_patterns_count_too():
    patterns = patterns_for(entry=None, worktree=PurePath("/work/tree"), more=["quiet-.*"])
    assert exposed([process(argv=("quiet-one",))], patterns)[0].pattern == "quiet-.*"


def test_members_are_the_session_the_marker_and_their_descendants():
    leader = process(10, parent=1)
    worker = process(11, parent=10, session=10)
    escaped = process(12, parent=1, session=12, marker=MARK)
    child_of_escaped = process(13, parent=12, session=13)
    stranger = process(20, parent=1)
    found = members(
        [leader, worker, escaped, child_of_escaped, stranger],
        leader=leader.identity,
        marker=MARK,
    )
    assert [one.pid for one in found] == [10, 11, 12, 13]


def test_a_part_of_the_marker_is_not_the_marker():
    near = process(12, marker=MARK + "0")
    nearer = process(13, marker=MARK[:-1])
    assert members([near, nearer], leader=identity(99), marker=MARK) == ()


def test_without_its_leader_a_session_number_may_be_a_strangers():
    stranger = process(11, parent=1, session=4242)
    reused = process(4242, ticks=2000)
    assert members([stranger, reused], leader=identity(4242, 1000), marker=MARK) == ()
