"""Working trees of a commit: made beside the user's own, removed with all that was built in them."""

import pytest

from orchestrator import system
from orchestrator.faults import NotCheckedOut
from orchestrator.ports import Commit
from orchestrator.trees import make_tree, remove_forgotten, remove_tree
from tests.delaying_gateway import DelayingGateway

pytestmark = pytest.mark.integration


@pytest.fixture
def repository(tmp_path):
    return DelayingGateway((tmp_path / "tree").resolve())


@pytest.fixture
def machine(tmp_path):
    return system.machine(tmp_path / "st")


@pytest.fixture
def git():
    return system.GitCheckouts()


def left(machine):
    return sorted(one.name for one in machine.state.root.iterdir())


def test_a_name_is_resolved_from_a_folder_below_the_top(repository, git):
    below = repository.folder / "src"
    below.mkdir()
    found = git.find(below, "main")
    assert found == Commit(sha=repository.first, top=repository.folder)


@pytest.mark.parametrize("name", ["nowhere", "--help", "HEAD:delay.txt"])
def test_what_is_no_commit_is_said_in_gits_words(repository, git, name):
    found = git.find(repository.folder, name)
    assert isinstance(found, str)
    assert found
    assert not found.startswith("fatal")


def test_a_folder_outside_of_git_has_no_commits(tmp_path, git):
    assert "not a git repository" in git.find(tmp_path, "HEAD")


def test_a_tree_holds_the_commit_and_nothing_of_the_working_tree(repository, machine, git):
    second = repository.commit("5")
    (repository.folder / "delay.txt").write_text("dirty\n")
    below = repository.folder / "sub"
    tree = make_tree(machine, git, git.find(repository.folder, "HEAD~1"), "run-a")
    assert (tree.path / "delay.txt").read_text() == "0\n"
    assert tree.within(below) == tree.path / "sub"
    assert second != tree.commit.sha
    (tree.path / "built").write_text("x")
    remove_tree(machine, git, tree)
    assert repository.worktrees() == [str(repository.folder)]
    assert left(machine) == []
    assert (repository.folder / "delay.txt").read_text() == "dirty\n"


def test_variables_that_a_hook_exports_do_not_lead_elsewhere(repository, machine, git, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    found = git.find(repository.folder, "HEAD")
    assert isinstance(found, Commit)


def test_no_hook_of_the_repository_runs(repository, machine, git):
    hook = repository.folder / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    tree = make_tree(machine, git, git.find(repository.folder, "HEAD"), "run-a")
    assert not (tree.path / "ran").exists()
    remove_tree(machine, git, tree)


def test_a_refusal_of_git_leaves_nothing(repository, machine, git):
    with pytest.raises(NotCheckedOut, match="no working tree of 000000000000"):
        make_tree(machine, git, Commit(sha="0" * 40, top=repository.folder), "run-a")
    assert left(machine) == []


def test_a_tree_that_nobody_holds_is_found_and_removed_and_one_in_use_is_not(
    repository, machine, git
):
    commit = git.find(repository.folder, "HEAD")
    used = make_tree(machine, git, commit, "run-a")
    forgotten = make_tree(machine, git, commit, "run-b")
    forgotten.hold.release()  # as the death of its command does
    assert remove_forgotten(machine, git, repository.folder) == (forgotten.path,)
    assert used.path.is_dir()
    assert not forgotten.folder.exists()
    remove_tree(machine, git, used)
    assert remove_forgotten(machine, git, repository.folder) == ()
    assert left(machine) == []
