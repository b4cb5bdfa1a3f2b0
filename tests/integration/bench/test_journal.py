import fcntl
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from bench.errors import JournalUnreadable, JournalUnwritable
from bench.journal import Journal, read_journal
from bench.ledger import collect
from bench.model.run import Footer, Incident, Started, TrialDone
from bench.model.trial import Evaluation, Response, Trial
from tests.fakes import MemoryJournal
from tests.run_stage import Stage, block

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
HEADER = Stage(block(runs=50)).header


def trial(number=1, *, content="x", detail=None):
    return TrialDone(
        trial=Trial(
            id=f"a|c|r{number}",
            target_id="a",
            case_id="c",
            run=number,
            seed=number,
            started_offset_ms=0.0,
            finished_offset_ms=1.5,
            outcome="completed",
            response=Response(content=content),
            evaluation=Evaluation(passed=True, detail=detail),
        )
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


# ---- the contract of a sink, held by the file and by the fake ----------------------------------


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_sink_gives_back_what_was_written_in_order(kind, path):
    records = [
        Started(trial_id="a|c|r1", offset_ms=0.0, reserve_usd=0.25),
        trial(1, content="Grüße\n \x00 \u2028"),
        Incident(incident_class="machine_slept", at="z", summary="s", touched_trials=("a|c|r1",)),
        Footer(finished_at="z", offset_ms=2.0, reason="done", exit_code=0),
    ]
    if kind == "memory":
        sink = MemoryJournal()
        for record in records:
            sink.write(record)
        ledger = collect([HEADER, *sink.records])
    else:
        with Journal.create(path, HEADER) as journal:
            for record in records:
                journal.write(record)
        ledger = read_journal(path)
    assert ledger == collect([HEADER, *records])


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_sink_without_room_says_so(kind, path):
    if kind == "memory":
        with pytest.raises(JournalUnwritable, match="no space left"):
            MemoryJournal(room=0).write(trial())
        return
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    path.symlink_to("/dev/full")
    journal = Journal.open_for_append(path)
    with pytest.raises(JournalUnwritable, match=r"run\.jsonl` can't be written: no space left"):
        journal.write(trial())
    journal.close()


# ---- the file ----------------------------------------------------------------------------------


def test_a_journal_is_for_its_owner_and_never_overwritten(path):
    Journal.create(path, HEADER).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(JournalUnwritable, match="file exists"):
        Journal.create(path, HEADER)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(JournalUnwritable, match="no such file") as caught:
        Journal.create(tmp_path / "gone" / "run.jsonl", HEADER)
    assert caught.value.hint == "create the folder, or name another one"
    assert caught.value.exit_code == 5


def test_a_record_is_in_the_file_before_anything_is_synced(path):
    journal = Journal.create(path, HEADER)
    journal.write(trial())
    assert path.read_bytes().count(b"\n") == 2
    assert [t.id for t in read_journal(path).trials] == ["a|c|r1"]
    journal.close()
    journal.close()


def test_two_writers_are_refused(path):
    with (
        Journal.create(path, HEADER),
        pytest.raises(JournalUnwritable, match="is being written by another process"),
    ):
        Journal.open_for_append(path)
    Journal.open_for_append(path).close()


def test_a_child_of_the_writer_does_not_hold_the_lock(path):
    journal = Journal.create(path, HEADER)
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
    )
    try:
        journal.close()
        Journal.open_for_append(path).close()
    finally:
        child.communicate(b"\n", timeout=30)


def test_half_a_surrogate_pair_in_an_answer_is_not_lost(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(trial(content="a\ud800b", detail="\udfff"))
    (read,) = read_journal(path).trials
    assert read.response.content == "a\\ud800b"


def test_not_a_number_becomes_unknown(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(Started(trial_id="a|c|r1", offset_ms=0.0, reserve_usd=float("nan")))
    assert read_journal(path).possibly_billed[0].reserve_usd is None


# ---- reading what is damaged -------------------------------------------------------------------


def test_a_cut_last_line_is_counted_and_closed_off_by_the_next_writer(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(trial(1))
        journal.write(trial(2))
    data = path.read_bytes()
    path.write_bytes(data[:-40])
    ledger = read_journal(path)
    assert ([t.run for t in ledger.trials], ledger.damaged_lines) == ([1], 1)
    with Journal.open_for_append(path) as journal:
        journal.write(trial(3))
    ledger = read_journal(path)
    assert ([t.run for t in ledger.trials], ledger.damaged_lines) == ([1, 3], 1)


def test_a_journal_cut_at_any_byte_of_its_last_record_reads(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(trial(1))
        before = path.stat().st_size
        journal.write(trial(2))
    data = path.read_bytes()
    for size in range(before, len(data) + 1):
        path.write_bytes(data[:size])
        ledger = read_journal(path)
        assert len(ledger.trials) + ledger.damaged_lines == (1 if size == before else 2)
        # The line feed alone may be missing: the record is whole then.
        assert (ledger.damaged_lines == 0) == (size == before or size >= len(data) - 1)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"\x00" * 30, id="zeros after a power cut"),
        pytest.param(b'{"type":"unheard-of"}', id="a type that this version does not know"),
        pytest.param(b'{"type":"started"}', id="a record with fields missing"),
        pytest.param(b'{"type":"started","trialId":"\xff"}', id="no UTF-8"),
    ],
)
def test_a_damaged_line_in_the_middle_is_skipped_and_counted(path, line):
    with Journal.create(path, HEADER) as journal:
        journal.write(trial(1))
    with path.open("ab") as file:
        file.write(line + b"\n\n")
    with Journal.open_for_append(path) as journal:
        journal.write(trial(2))
    ledger = read_journal(path)
    assert ([t.run for t in ledger.trials], ledger.damaged_lines) == ([1, 2], 1)


def test_unknown_fields_of_a_newer_minor_version_are_ignored(path):
    raw = msgspec.json.decode(msgspec.json.encode(HEADER))
    path.write_bytes(msgspec.json.encode({**raw, "new": 1}) + b"\n")
    assert read_journal(path).header == HEADER


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "its first line is not a header", id="empty"),
        pytest.param(b"# notes\n", "its first line is not a header", id="text"),
        pytest.param(b'{"schemaVersion":2}\n', "its first line is not a header", id="a document"),
        pytest.param(
            b'{"type":"header","schemaVersion":7}\n',
            "is a journal of version 7; this program reads up to version 1",
            id="newer",
        ),
        pytest.param(
            b'{"type":"header","schemaVersion":1}\n', "its header can't be read", id="half a header"
        ),
        pytest.param(b'{"type":"footer","schemaVersion":1}\n', "header can't be read", id="footer"),
    ],
)
def test_what_is_no_journal_is_named(path, data, said):
    path.write_bytes(data)
    with pytest.raises(JournalUnreadable, match=said) as caught:
        read_journal(path)
    assert caught.value.exit_code == 2
    assert str(path) in caught.value.message


def test_a_journal_that_is_not_there_is_named(path):
    with pytest.raises(JournalUnreadable, match="can't be read: No such file"):
        read_journal(path)


# ---- the disk and death ------------------------------------------------------------------------

WRITER = """
import resource, sys
from pathlib import Path
from tests.integration.bench.test_journal import HEADER, trial
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
        journal.write(trial(number, content="x" * 300))
        print(number, flush=True)
except JournalUnwritable as error:
    print(error.message, file=sys.stderr)
    journal.close()
    sys.exit(error.exit_code)
"""


def writer(path, *, limit=0):
    argv = [sys.executable, "-c", WRITER, str(path), str(limit)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_file_that_may_not_grow_stops_the_writer_and_keeps_what_was_written(path):
    limit = len(msgspec.json.encode(HEADER)) + 5000
    process = writer(path, limit=limit)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert "can't be written: file too large" in err
    told = len(out.split())
    ledger = read_journal(path)
    assert len(ledger.trials) == told > 0
    assert ledger.damaged_lines == 1
    assert path.stat().st_size == limit


def _fill(journal):
    for number in range(1, 1000):
        journal.write(trial(number, content="x" * 300))


def test_a_full_disk_stops_the_writer_and_the_journal_goes_on_when_there_is_room(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        path, ballast = folder / "run.jsonl", folder / "ballast"
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
    finally:
        subprocess.run(["umount", str(folder)], check=True)  # noqa: S607


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_writer_killed_at_any_moment_leaves_all_it_told(path, seed):
    process = writer(path)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(seed).uniform(0.0, 0.2))
    finally:
        os.kill(process.pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=60)
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
        process.communicate(timeout=60)
    Journal.open_for_append(path).close()


def test_a_disk_that_refuses_the_sync_is_told_at_the_end(path):
    journal = Journal.create(path, HEADER)
    journal.write(trial(1))
    read_end, write_end = os.pipe()
    os.close(read_end)
    # The descriptor becomes a pipe, which can't be synced: that is no fault of the disk.
    os.dup2(write_end, journal._descriptor)
    os.close(write_end)
    journal.close()
    assert len(read_journal(path).trials) == 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
