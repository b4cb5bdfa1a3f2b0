"""What the warden is told: users, paths, limits."""

import pytest

from bench.sandbox.interpreters import _outermost, environment, options
from bench.sandbox.ordering import free_user


@pytest.mark.parametrize(
    ("table", "has_one"),
    [
        ("         0          0 4294967295\n", True),
        ("0 100000 65536\n", True),
        ("0 1000 1\n1 100000 65536\n", True),
        ("0 1000 1\n", False),
        ("0 100000 1000\n", False),
    ],
)
def test_a_user_without_an_account_is_taken_where_there_is_one(tmp_path, table, has_one):
    (tmp_path / "map").write_text(table)
    found = free_user(tmp_path / "map")
    assert (found is not None) is has_one
    assert found is None or 61_184 <= found < 65_520


def test_without_a_table_nobody_else_can_be_become(tmp_path):
    assert free_user(tmp_path / "map") is None


def test_what_lies_below_another_path_is_not_named_twice():
    assert _outermost(["/usr/lib/py", "/usr/lib", "/usr/library", "/a", "/usr/lib"]) == [
        "/a", "/usr/lib", "/usr/library",
    ]  # fmt: skip


def test_node_gets_a_heap_below_the_limit_and_python_no_packages_of_the_user():
    assert options("javascript", 512) == ("--max-old-space-size=384",)
    assert "-s" in options("python", 512)


def test_the_environment_is_ours_and_the_same_everywhere():
    found = environment("/box")
    assert found["HOME"] == "/box"
    assert found["PYTHONHASHSEED"] == "0"
    assert not any("KEY" in name or "TOKEN" in name for name in found)
