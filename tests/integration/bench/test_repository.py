import subprocess

import pytest

from bench.repository import common_folder

pytestmark = pytest.mark.integration


def test_a_folder_without_git_belongs_to_no_repository():
    assert common_folder(None) is None


def test_all_worktrees_of_a_repository_share_one_folder(tmp_path):
    main, tree = tmp_path / "main", tmp_path / "tree"
    main.mkdir()
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(main)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "m"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "--detach", str(tree)], check=True)
    assert (tree / ".git").is_file()
    assert common_folder(tree) == common_folder(main) == (main / ".git").resolve()


@pytest.mark.parametrize(
    ("text", "is_pointer"),
    [
        pytest.param("gitdir: ../elsewhere\n", True, id="submodule"),
        pytest.param("what is this", False, id="no-pointer"),
    ],
)
def test_without_a_shared_folder_the_own_one_counts(tmp_path, text, is_pointer):
    root = tmp_path / "root"
    root.mkdir()
    (root / ".git").write_text(text)
    expected = tmp_path / "elsewhere" if is_pointer else root / ".git"
    assert common_folder(root) == expected.resolve()
