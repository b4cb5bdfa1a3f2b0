"""Secrets in pieces, shards from pieces."""

import fcntl
import os

import pytest

from bench.cluster.pieces import PART_BYTES, ShardCopy, secret_parts


@pytest.mark.parametrize("size", [0, 1, PART_BYTES, PART_BYTES + 1, 5 * PART_BYTES + 7])
def test_no_piece_of_a_secret_is_large_enough_for_a_store(size):
    secret = os.urandom(size)
    parts = list(secret_parts(secret))
    assert b"".join(parts) == secret
    assert all(len(part) <= PART_BYTES < 100_000 for part in parts)
    assert parts


def test_a_copy_grows_by_what_is_appended_and_is_private(tmp_path):
    path = tmp_path / "S.1.jsonl"
    copy = ShardCopy(str(path))
    copy.append(b"one\n")
    copy.append(b"two\n")
    copy.sync()
    assert copy.size == 8
    assert path.read_bytes() == b"one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o600
    copy.close()
    copy.close()


def test_what_comes_after_the_end_is_not_written(tmp_path):
    copy = ShardCopy(str(tmp_path / "s"))
    copy.close()
    copy.append(b"late")
    copy.sync()
    assert (tmp_path / "s").read_bytes() == b""


def test_a_shard_that_exists_is_never_written_over(tmp_path):
    (tmp_path / "s").write_bytes(b"kept")
    with pytest.raises(FileExistsError):
        ShardCopy(str(tmp_path / "s"))
    assert (tmp_path / "s").read_bytes() == b"kept"


def test_a_shard_is_locked_while_it_is_collected(tmp_path):
    copy = ShardCopy(str(tmp_path / "s"))
    descriptor = os.open(tmp_path / "s", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
    copy.close()
