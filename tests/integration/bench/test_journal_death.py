import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from bench.errors import JournalUnwritable
from bench.journal import Journal, read_journal
from bench.model.footer import Footer
from tests.patience import PATIENCE_S
from tests.run_stage import Stage, block, done
from tests.small_disk import small_disk

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
HEADER = Stage(block(runs=50)).header


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


# ---- the disk and death ------------------------------------------------------------------------

WRITER = """
import resource, sys
from pathlib import Path
from tests.run_stage import Stage, block, done

HEADER = Stage(block(runs=50)).header
from bench.errors import JournalUnwritable
from bench.journal import Journal

path, limit = Path(sys.argv[1]), int(sys.argv[2])
if limit:
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
journal = Journal.create(path, HEADER)
try:
    for number in range(1, 1_000_000):
        journal.write(done(number, content="x" * 300))
        print(number, flush=True)
except JournalUnwritable as error:
    print(error.message, file=sys.stderr)
    journal.close()
    sys.exit(error.exit_code)
"""


def writer(path, *, limit=0):
    # -B: under a file limit a byte-code file would be cut, and every later import of it broken.
    argv = [sys.executable, "-B", "-c", WRITER, str(path), str(limit)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_file_that_may_not_grow_stops_the_writer_and_keeps_what_was_written(path):
    limit = len(msgspec.json.encode(HEADER)) + 5000
    process = writer(path, limit=limit)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 5, err
    assert "can't be written: file too large" in err
    told = len(out.split())
    ledger = read_journal(path)
    assert len(ledger.trials) == told > 0
    assert ledger.damaged_lines == 1
    assert path.stat().st_size == limit


def _fill(journal):
    for number in range(1, 1000):
        journal.write(done(number, content="x" * 300))


def test_a_full_disk_stops_the_writer_and_the_journal_goes_on_when_there_is_room(tmp_path):
    with small_disk(tmp_path / "small", kilobytes=64):
        path, ballast = tmp_path / "small/run.jsonl", tmp_path / "small/ballast"
        ballast.write_bytes(b"x" * 16_384)
        journal = Journal.create(path, HEADER)
        with pytest.raises(JournalUnwritable, match="no space left on device") as caught:
            _fill(journal)
        written = len(read_journal(path).trials)
        assert "resume" in (caught.value.hint or "")
        assert written > 0
        ballast.unlink()
        journal.write(Footer(finished_at="z", offset_ms=9.0, reason="disk_full", exit_code=5))
        journal.close()
        ledger = read_journal(path)
        assert ledger.footer is not None
        assert (len(ledger.trials), ledger.damaged_lines) in {(written, 1), (written, 0)}


def test_a_disk_without_room_for_the_header_leaves_nothing_behind(tmp_path):
    with small_disk(tmp_path / "small", kilobytes=8):
        (tmp_path / "small/ballast").write_bytes(b"x" * 8192)
        path = tmp_path / "small/run.jsonl"
        with pytest.raises(JournalUnwritable, match="no space left on device"):
            Journal.create(path, HEADER)
        assert not path.exists()
        (tmp_path / "small/ballast").unlink()
        Journal.create(path, HEADER).close()
        assert read_journal(path).header == HEADER


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_writer_killed_at_any_moment_leaves_all_it_told(path, seed):
    process = writer(path)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(seed).uniform(0.0, 0.2))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=PATIENCE_S)
    told = len(out.split()) + 1
    ledger = read_journal(path)
    assert len(ledger.trials) >= told
    assert [t.run for t in ledger.trials] == list(range(1, len(ledger.trials) + 1))
    assert ledger.damaged_lines <= 1
    assert ledger.footer is None


def test_the_lock_of_a_killed_writer_is_gone(path):
    process = writer(path)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with path.open("rb") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)
    Journal.open_for_append(path).close()


def test_what_cannot_be_synced_at_all_is_no_fault_of_the_disk(path):
    journal = Journal.create(path, HEADER)
    read_end, write_end = os.pipe()
    os.dup2(write_end, journal._descriptor)
    os.close(write_end)
    journal.close()
    os.close(read_end)
    assert read_journal(path).header == HEADER


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="needs a descriptor that refuses the sync")
def test_a_disk_that_refuses_the_sync_is_told_by_the_next_write_and_at_the_end(path):
    journal = Journal.create(path, HEADER)
    refusing = os.open(path, os.O_PATH)
    os.dup2(refusing, journal._descriptor)
    os.close(refusing)
    journal._dirty.set()
    journal._thread.join(timeout=PATIENCE_S)
    with pytest.raises(JournalUnwritable, match="bad file descriptor"):
        journal.write(done(1))
    with pytest.raises(JournalUnwritable, match="bad file descriptor"):
        journal.close()
    journal.close()
