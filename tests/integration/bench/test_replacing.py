import fcntl
import os

import pytest

from bench.app.replacing import replace_file

pytestmark = pytest.mark.integration


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.json"


def left_by(path, pid, text="half"):
    left = path.with_name(f".{path.name}.{pid}")
    left.write_text(text)
    return left


def test_a_file_is_replaced_and_nothing_else_is_left(path):
    path.write_text("old")
    replace_file(path, b"new")
    assert [p.name for p in path.parent.iterdir()] == ["run.json"]
    assert path.read_text() == "new"


def test_what_a_killed_writer_left_is_cleared_away(path):
    left = left_by(path, 4_000_001)
    replace_file(path, b"new")
    assert not left.exists()


def test_what_somebody_writes_right_now_is_left_alone(path):
    left = left_by(path, 4_000_001)
    with left.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        replace_file(path, b"new")
        assert left.exists()


def test_other_hidden_files_and_other_runs_leavings_are_nobodys_business(path):
    others = [left_by(path, "swp"), left_by(path.with_name("other.json"), 4_000_001)]
    replace_file(path, b"new")
    assert all(other.exists() for other in others)


def test_what_can_not_be_written_leaves_the_old_file_and_no_half_one(path):
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(path, b"new")
    assert [p.name for p in path.parent.iterdir()] == ["run.json"]


def test_an_own_leaving_of_an_earlier_process_with_this_pid_is_written_over(path):
    left = left_by(path, os.getpid(), "a longer text than the new one")
    replace_file(path, b"new")
    assert not left.exists()
    assert path.read_bytes() == b"new"
