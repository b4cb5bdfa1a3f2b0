import json
import os

import pytest

from bench import archive
from bench.app.folder import make_folder
from bench.app.rendering import FORMATS, publish, render
from bench.document import build_document
from bench.errors import JournalUnreadable, UsageFault
from bench.journal import Journal, read_journal
from bench.report import REPORTS
from tests.run_stage import Stage, block
from tests.small_disk import small_disk

pytestmark = pytest.mark.integration


@pytest.fixture
def journal(tmp_path):
    stage = Stage(block(runs=2))
    stage.run()
    path = tmp_path / "run.jsonl"
    with Journal.create(path, stage.header) as sink:
        for record in stage.journal.records:
            sink.write(record)
    return path


def names(outcome):
    return [path.name for path in outcome.files]


ALL = ["run.json", "run.md", "run.html", "run-timings.md", "run-timings.csv", "run.jsonl"]


def test_a_journal_without_an_end_gives_every_report(journal):
    outcome = render(journal)
    assert names(outcome) == ALL
    assert all(path.is_absolute() for path in outcome.files)
    assert (outcome.exit_code, outcome.reason, outcome.run_id) == (0, "rendered", "run")
    assert (outcome.planned, outcome.done, outcome.failed) == (2, 2, 0)
    assert outcome.headline
    assert 0 < len(outcome.summary_text.splitlines()) <= 40


def test_a_run_that_is_being_measured_is_rendered_as_one_and_as_killed_once_its_process_is_gone(
    journal,
):
    with Journal.open_for_append(journal):
        outcome = render(journal)
        assert outcome.headline.startswith("STILL RUNNING")
        report = journal.with_suffix(".md").read_text()
        assert "still being measured: 2 of 2 planned trials are done" in report
        assert "killed" not in report
    assert not render(journal).headline.startswith("STILL RUNNING")


def test_a_document_gives_the_same_reports_and_is_not_written(journal, tmp_path):
    render(journal)
    document = journal.with_suffix(".json")
    before = (document.stat().st_ino, document.read_bytes())
    again = render(document)
    assert names(again) == ["run.md", "run.html", "run-timings.md", "run-timings.csv"]
    assert (document.stat().st_ino, document.read_bytes()) == before
    elsewhere = render(document, tmp_path / "new" / "folder")
    assert names(elsewhere) == ALL[:-1]
    for name in ("run.md", "run-timings.csv"):
        assert (tmp_path / "new/folder" / name).read_text() == (tmp_path / name).read_text()


def test_only_what_is_asked_for_is_made(journal, tmp_path):
    made = render(journal, tmp_path / "some", formats=("csv", "md"))
    assert names(made) == ["run.md", "run-timings.csv", "run.jsonl"]
    assert made.notes == ()
    assert sorted(one.name for one in (tmp_path / "some").iterdir()) == [
        "run-timings.csv",
        "run.md",
    ]
    assert names(render(journal, tmp_path / "data", formats=("json",))) == ["run.json", "run.jsonl"]


def test_every_report_can_be_asked_for_alone():
    assert set(FORMATS.values()) == {".json", *REPORTS}


def test_a_report_that_fails_is_named_and_the_others_and_the_json_are_there(journal, tmp_path):
    def breaks(document):
        message = "no such column"
        raise KeyError(message)

    document = build_document(read_journal(journal))
    reports = {**REPORTS, ".html": breaks}
    made = publish(document, tmp_path, source=journal, summary_width=80, reports=reports)
    assert [path.name for path in made.files] == [name for name in ALL if name != "run.html"]
    assert made.faults == ("`run.html` could not be made: KeyError: 'no such column'",)


def test_a_file_that_cannot_be_replaced_is_named(journal, tmp_path):
    (tmp_path / "run.md").mkdir()
    outcome = render(journal)
    assert (outcome.exit_code, outcome.reason) == (1, "report_failed")
    assert len(outcome.notes) == 1
    assert "run.md` can't be written" in outcome.notes[0]
    assert "run.json" in names(outcome)
    assert list(tmp_path.glob(".run.*")) == []


def test_half_a_document_in_the_way_is_replaced(journal):
    journal.with_suffix(".json").write_text('{"schemaVersion": 2, "tri')
    assert render(journal).exit_code == 0
    assert json.loads(journal.with_suffix(".json").read_text())["schemaVersion"] == 2


def test_a_document_of_another_tool_gets_reports_only_where_it_has_none(journal, tmp_path):
    render(journal)
    document = journal.with_suffix(".json")
    raw = json.loads(document.read_text())
    raw["generator"]["version"] = "0.0.1"
    document.write_text(json.dumps(raw))
    with pytest.raises(UsageFault, match=r"were made by version 0\.0\.1, not by"):
        render(document)
    for ending in REPORTS:
        (tmp_path / f"run{ending}").unlink()
    assert names(render(document)) == ["run.md", "run.html", "run-timings.md", "run-timings.csv"]


@pytest.mark.parametrize("name", ["gone.jsonl", "gone.json"])
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(JournalUnreadable, match=f"{name}` can't be read: no such file"):
        render(tmp_path / name)


def test_the_default_folder_keeps_itself_out_of_git_and_others_do_not(tmp_path):
    make_folder(tmp_path / ".context" / "benchmarks")
    ignore = tmp_path / ".context/benchmarks/.gitignore"
    assert ignore.read_text() == "*\n"
    ignore.write_text("mine")
    make_folder(tmp_path / ".context" / "benchmarks")
    assert ignore.read_text() == "mine"
    make_folder(tmp_path / "results")
    assert list((tmp_path / "results").iterdir()) == []


def test_a_folder_that_cannot_be_is_a_usage_fault(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageFault, match=r"the output folder `.*` can't be written: not a dir"):
        make_folder(tmp_path / "file" / "out")


# ---- the second copy ----------------------------------------------------------------------------


def test_a_kept_journal_grows_with_the_original(tmp_path):
    original = tmp_path / "run.jsonl"
    original.write_text("a\n")
    assert archive.keep([original, tmp_path / "absent.json"], tmp_path / "kept" / "id") == ()
    with original.open("a") as file:
        file.write("b\n")
    assert (tmp_path / "kept/id/run.jsonl").read_text() == "a\nb\n"
    assert archive.keep([original], tmp_path / "kept" / "id") == ()


def test_a_replaced_file_is_kept_anew(tmp_path):
    original, folder = tmp_path / "run.json", tmp_path / "kept"
    original.write_text("old")
    archive.keep([original], folder)
    original.unlink()
    original.write_text("new")
    assert archive.keep([original], folder) == ()
    assert (folder / "run.json").read_text() == "new"
    assert [path.name for path in folder.iterdir()] == ["run.json"]


def test_a_copy_that_cannot_be_made_is_one_sentence(tmp_path):
    original = tmp_path / "run.json"
    original.write_text("x")
    (tmp_path / "file").write_text("x")
    (fault,) = archive.keep([original], tmp_path / "file" / "kept")
    assert fault.endswith("`: not a directory")


def test_without_hard_links_a_file_is_copied(tmp_path):
    with small_disk(tmp_path / "other", kilobytes=64):
        original = tmp_path / "run.json"
        original.write_text("x")
        assert archive.keep([original], tmp_path / "other") == ()
        assert (tmp_path / "other/run.json").read_text() == "x"
        assert (tmp_path / "other/run.json").stat().st_nlink == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_a_usage_fault(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(UsageFault, match="can't be written: permission denied"):
        make_folder(tmp_path / "closed")
