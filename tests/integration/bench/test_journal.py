import fcntl
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from bench.errors import JournalUnreadable, JournalUnwritable
from bench.journal import Journal, is_being_written, read_journal
from bench.ledger import collect
from bench.model.footer import Footer
from bench.model.header import JOURNAL_VERSION
from bench.model.journal_record import JournalRecord
from bench.model.steps import Started
from bench.model.surroundings import Incident
from tests.fakes import MemoryJournal
from tests.patience import PATIENCE_S
from tests.run_stage import Stage, block, done

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
HEADER = Stage(block(runs=50)).header


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def test_a_journal_that_was_removed_with_its_folder_is_put_back(tmp_path):
    path = tmp_path / "results" / "run.jsonl"
    path.parent.mkdir()
    with Journal.create(path, HEADER) as journal:
        journal.write(done(1, content="paid"))
        path.unlink()
        path.parent.rmdir()
        journal.write(done(2, content="too"))
    assert journal.was_put_back
    assert read_journal(path) == collect([HEADER, done(1, content="paid"), done(2, content="too")])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("is_link", [False, True])
def test_what_lies_in_a_removed_journal_s_place_is_left_alone(path, is_link):
    journal = Journal.create(path, HEADER)
    journal.write(done(1, content="paid"))
    path.unlink()
    if is_link:
        path.symlink_to("nowhere")
    else:
        path.write_text("a stranger's")
    journal.close()
    assert journal.was_put_back
    assert journal.path == path.with_name("run-put-back.jsonl")
    assert read_journal(journal.path) == collect([HEADER, done(1, content="paid")])
    assert path.is_symlink() if is_link else path.read_text() == "a stranger's"


def test_a_journal_whose_folder_was_moved_is_put_back(tmp_path):
    path = tmp_path / "results" / "run.jsonl"
    path.parent.mkdir()
    with Journal.create(path, HEADER) as journal:
        path.parent.rename(tmp_path / "elsewhere")
    assert (journal.was_put_back, journal.path) == (True, path)
    assert read_journal(path) == collect([HEADER])


def test_a_journal_that_can_t_be_put_back_says_so(tmp_path):
    path = tmp_path / "results" / "run.jsonl"
    path.parent.mkdir()
    journal = Journal.create(path, HEADER)
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("in the way")
    with pytest.raises(JournalUnwritable):
        journal.close()
    assert journal.is_gone


def test_who_asks_is_told_whether_a_journal_is_being_written(path):
    with Journal.create(path, HEADER):
        assert is_being_written(path)
    assert not is_being_written(path)
    assert not is_being_written(path.with_name("nothing.jsonl"))


# ---- the contract of a sink, held by the file and by the fake ----------------------------------


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_a_sink_gives_back_what_was_written_in_order(kind, path):
    records = [
        Started(trial_id="a|c|r1", offset_ms=0.0, reserve_usd=0.25),
        done(1, content="Grüße\n \x00 \u2028"),
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
            MemoryJournal(room=0).write(done())
        return
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    path.symlink_to("/dev/full")
    journal = Journal.open_for_append(path)
    with pytest.raises(JournalUnwritable, match=r"run\.jsonl` can't be written: no space left"):
        journal.write(done())
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
    journal.write(done())
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


def test_one_who_only_looks_is_not_taken_for_a_writer(path):
    Journal.create(path, HEADER).close()
    with path.open("rb") as looking, ThreadPoolExecutor(1) as pool:
        fcntl.flock(looking, fcntl.LOCK_SH)
        opened = pool.submit(Journal.open_for_append, path)
        with pytest.raises(TimeoutError):
            opened.result(timeout=0.05)
        fcntl.flock(looking, fcntl.LOCK_UN)
        opened.result(timeout=PATIENCE_S).close()


def test_a_child_of_the_writer_does_not_hold_the_lock(path):
    journal = Journal.create(path, HEADER)
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
    )
    try:
        journal.close()
        Journal.open_for_append(path).close()
    finally:
        child.communicate(b"\n", timeout=PATIENCE_S)


def test_half_a_surrogate_pair_in_an_answer_is_not_lost(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(done(content="a\ud800b", detail="\udfff"))
    (read,) = read_journal(path).trials
    assert read.response.content == "a\\ud800b"


def test_not_a_number_becomes_unknown(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(Started(trial_id="a|c|r1", offset_ms=0.0, reserve_usd=float("nan")))
    assert read_journal(path).possibly_billed[0].reserve_usd is None


# ---- reading what is damaged -------------------------------------------------------------------


def test_a_cut_last_line_is_counted_and_closed_off_by_the_next_writer(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(done(1))
        journal.write(done(2))
    data = path.read_bytes()
    path.write_bytes(data[:-40])
    ledger = read_journal(path)
    assert ([t.run for t in ledger.trials], ledger.damaged_lines) == ([1], 1)
    with Journal.open_for_append(path) as journal:
        journal.write(done(3))
    ledger = read_journal(path)
    assert ([t.run for t in ledger.trials], ledger.damaged_lines) == ([1, 3], 1)


def test_a_journal_cut_at_any_byte_of_its_last_record_reads(path):
    with Journal.create(path, HEADER) as journal:
        journal.write(done(1))
        before = path.stat().st_size
        journal.write(done(2))
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
        journal.write(done(1))
    with path.open("ab") as file:
        file.write(line + b"\n\n")
    with Journal.open_for_append(path) as journal:
        journal.write(done(2))
    ledger = read_journal(path)
    assert ([t.run for t in ledger.trials], ledger.damaged_lines) == ([1, 2], 1)


def test_unknown_fields_of_a_newer_minor_version_are_ignored(path):
    raw = msgspec.json.decode(msgspec.json.encode(HEADER))
    path.write_bytes(msgspec.json.encode({**raw, "new": 1}) + b"\n")
    assert read_journal(path).header == HEADER


@pytest.mark.parametrize("version", range(1, JOURNAL_VERSION + 1))
def test_each_version_so_far_is_read(path, version):
    raw = msgspec.json.decode(msgspec.json.encode(HEADER))
    path.write_bytes(msgspec.json.encode({**raw, "schemaVersion": version}) + b"\n")
    assert read_journal(path).damaged_lines == 0


def test_an_incident_s_class_is_read_under_its_former_name_too(path):
    """Versions 1 to 3 wrote it so, and what is appended to such a journal is named as now."""
    header = {**msgspec.json.decode(msgspec.json.encode(HEADER)), "schemaVersion": 3}
    said = '"at":"z","summary":"\\"incidentClass\\" of old","touchedTrials":[]}'
    lines = [
        msgspec.json.encode(header).decode(),
        f'{{"type":"incident","incidentClass":"disk_low",{said}',
        f'{{"type": "incident", "incidentClass": "exposed", {said}',
        f'{{"type":"incident","class":"port_taken",{said}',
    ]
    path.write_text("\n".join(lines) + "\n")
    ledger = read_journal(path)
    assert ledger.damaged_lines == 0
    assert [one.incident_class for one in ledger.incidents] == ["disk_low", "exposed", "port_taken"]
    assert {one.summary for one in ledger.incidents} == {'"incidentClass" of old'}


def test_a_new_kind_of_record_raises_the_version():
    """Whoever adds a kind adds it here, under a new version: older readers would skip its lines."""
    kinds = {one.__struct_config__.tag for one in get_args(JournalRecord)}
    of_four = """header started refused turn trial stage_begun stage vantage incident gateway sample
        shard shard_end resumed footer"""
    assert (JOURNAL_VERSION, kinds) == (4, set(of_four.split()))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b"", "its first line is not a header", id="empty"),
        pytest.param(b"# notes\n", "its first line is not a header", id="text"),
        pytest.param(b'{"schemaVersion":2}\n', "its first line is not a header", id="a document"),
        pytest.param(
            b'{"type":"header","schemaVersion":7}\n',
            "is a journal of version 7; this program reads up to version 4",
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
    with pytest.raises(JournalUnreadable, match="can't be read: no such file"):
        read_journal(path)
