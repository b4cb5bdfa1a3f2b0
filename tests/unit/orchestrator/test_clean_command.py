"""The command that a dry run of `clean` prints does what was shown."""

import pytest

from orchestrator.cli.clean import _command, _dry_run
from orchestrator.leftovers import Leftover

PLAIN = {"mine": False, "folder": None, "older_than": "10m", "pids": (), "starts": ()}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"older_than": "0s"}, " --older-than 0s", id="age"),
        pytest.param(
            {"mine": True, "folder": "/my tree"}, " --mine --gateway '/my tree'", id="a worktree"
        ),
        pytest.param(
            {"pids": (7, 8), "starts": (70, 80)},
            " --pid 7 --start 70 --pid 8 --start 80",
            id="processes",
        ),
    ],
)
def test_what_was_typed_is_in_it(typed, words):
    assert _command({**PLAIN, **typed}) == f"gateway-bench clean --yes{words}"


def test_it_is_printed_only_where_there_is_anything_to_do():
    command = _command({**PLAIN, "older_than": "0s"})
    left = (Leftover(name="0.log", instance_id="0", why="old"),)
    assert _dry_run((), left, command=command).next == command
    assert _dry_run((), (), command=command).next is None
