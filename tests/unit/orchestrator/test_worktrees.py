"""Which working tree owns a folder, and how git's list is read."""

import pytest

from orchestrator.ports import Worktree
from orchestrator.system.worktrees import parse_worktrees
from orchestrator.worktrees import Place, owner_of, place_of, undeleted

TREES = (
    Worktree(path="/x/wt", branch="one"),
    Worktree(path="/x/wt2", branch="two"),
    Worktree(path="/x/wt/inner", branch="three"),
    Worktree(path="/x/old", branch="four", is_gone=True),
)
LISTED = (
    "worktree /x/repo\0HEAD 1234\0branch refs/heads/main\0\0"
    "worktree /x/a b\nc\0HEAD 1234\0branch refs/heads/feature/x\0locked why\0\0"
    "worktree /x/old\0HEAD 1234\0branch refs/heads/old\0prunable gitdir file points nowhere\0\0"
    "worktree /x/off\0HEAD 1234\0detached\0\0"
    "worktree /x/bare.git\0bare\0\0"
)


@pytest.mark.parametrize(
    ("folder", "branch"),
    [
        pytest.param("/x/wt", "one", id="itself"),
        pytest.param("/x/wt/dist", "one", id="inside"),
        pytest.param("/x/wt2/dist", "two", id="not by the first letters of a name"),
        pytest.param("/x/wt/inner/dist", "three", id="the inner one of two"),
        pytest.param("/x/wt/inner2", "one", id="beside the inner one"),
        pytest.param("/x", None, id="above all of them"),
        pytest.param("/y/wt", None, id="elsewhere"),
    ],
)
def test_a_folder_belongs_to_the_innermost_tree_by_whole_names(folder, branch):
    owner = owner_of(folder, TREES)
    assert (None if owner is None else owner.branch) == branch


def test_gits_list_is_read_with_odd_names_and_without_bare_repositories():
    assert parse_worktrees(LISTED) == (
        Worktree(path="/x/repo", branch="main"),
        Worktree(path="/x/a b\nc", branch="feature/x"),
        Worktree(path="/x/old", branch="old", is_gone=True),
        Worktree(path="/x/off"),
    )
    assert parse_worktrees("") == ()


@pytest.mark.parametrize(
    ("worktree", "is_there", "place"),
    [
        ("/x/wt", True, Place(worktree="/x/wt", branch="one")),
        ("/x/wt", False, Place(worktree="/x/wt", branch="one", is_gone=True)),
        ("/x/old", True, Place(worktree="/x/old", branch="four", is_gone=True)),
        ("/y", True, Place(worktree="/y")),
        ("/y", False, Place(worktree="/y", is_gone=True)),
    ],
)
def test_a_recorded_tree_is_shown_as_it_is_now(worktree, is_there, place):
    assert place_of(worktree, TREES, is_there=is_there) == place


def test_the_kernels_word_for_a_removed_folder_is_taken_off():
    assert undeleted("/x/wt (deleted)") == ("/x/wt", True)
    assert undeleted("/x/wt") == ("/x/wt", False)
