import pytest

from bench.agent.trees import MAX_BYTES, MAX_FILES, folders, unfit


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({}, None),
        ({"a/b.py": "x", "a/c.py": "ü"}, None),
        ({f"{number}": "" for number in range(MAX_FILES + 1)}, f"{MAX_FILES + 1} files are more"),
        ({"../a": ""}, "the path '../a' can't be judged"),
        ({"/etc/passwd": ""}, "the path '/etc/passwd' can't be judged"),
        ({"a\n": ""}, r"the path 'a\n' can't be judged"),
        ({"\ud800": ""}, r"the path '\ud800' can't be judged"),
        ({"a/B": "", "A/b": ""}, "two paths differ only in capitals"),
        ({"a": "", "a/b": ""}, "the path 'a/b' lies below a file"),
        ({"a": "\ud800"}, "a file holds text that is no Unicode"),
        ({"a": "x" * (MAX_BYTES + 1)}, f"{MAX_BYTES + 1} bytes are more"),
    ],
)
def test_a_tree_that_no_sandbox_takes_is_told_in_one_line(tree, reason):
    found = unfit(tree)
    assert found == reason or (found is not None and reason is not None and reason in found)
    assert found is None or "\n" not in found


def test_the_folders_of_a_path_are_named_from_inside():
    assert folders("a/b/c.py") == ("a/b", "a")
    assert folders("c.py") == ()
