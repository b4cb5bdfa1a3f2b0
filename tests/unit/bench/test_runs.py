import os

import pytest

from bench.archive import mark
from bench.errors import UnknownName, UsageFault
from bench.runs import FoundRun, Shelf, find_run


@pytest.fixture
def archive(tmp_path):
    folder = tmp_path / "runs"
    for age, (run, names) in enumerate(
        [("new", ["n.jsonl", "n.json", ".n.tmp"]), ("old", ["o.json"]), ("empty", [])]
    ):
        (folder / run).mkdir(parents=True)
        for name in names:
            (folder / run / name).write_text("")
            os.utime(folder / run / name, ns=(10**18 - age, 10**18 - age))
    (folder / "stray.txt").write_text("")
    return folder


def find(archive, name, *, needs_journal=False, repository=None):
    shelf = Shelf(archive=archive, folder=archive.parent, repository=repository)
    return find_run(name, shelf, needs_journal=needs_journal)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        pytest.param("latest", "new/n.jsonl", id="latest"),
        pytest.param("latest~1", "old/o.json", id="before-that"),
        pytest.param("old", "old/o.json", id="id"),
    ],
)
def test_a_run_is_found_in_the_archive(archive, name, file):
    assert find(archive, name) == FoundRun(path=archive / file, is_archived=True)


def test_a_file_goes_before_an_id_and_has_its_journal_beside_it(archive):
    (archive.parent / "here.json").write_text("")
    (archive.parent / "here.jsonl").write_text("")
    assert find(archive, "here.json").path == archive.parent / "here.json"
    assert find(archive, "here.json", needs_journal=True).path == archive.parent / "here.jsonl"
    assert not find(archive, "here.json").is_archived


def test_a_file_of_the_archive_is_known_as_one_by_whatever_name(archive):
    assert find(archive, "runs/new/n.json").is_archived
    assert find(archive, "runs/new/../new/n.json", needs_journal=True).is_archived


def test_reports_go_beside_a_file_and_to_the_results_folder_for_an_archived_run(archive, tmp_path):
    results = tmp_path / "results"
    assert find(archive, "latest").reports_folder(results) == results
    (tmp_path / "here.json").write_text("")
    assert find(archive, "here.json").reports_folder(results) == tmp_path


def test_latest_counts_the_runs_of_the_repository_only(archive, tmp_path):
    ours, theirs = tmp_path / "ours" / ".git", tmp_path / "theirs" / ".git"
    mark(archive / "new", journal=tmp_path / "n.jsonl", repository=theirs)
    mark(archive / "old", journal=tmp_path / "o.jsonl", repository=ours)
    assert find(archive, "latest", repository=ours).path == archive / "old" / "o.json"
    assert find(archive, "latest", repository=theirs).path == archive / "new" / "n.jsonl"
    assert find(archive, "new", repository=ours).path == archive / "new" / "n.jsonl"
    said = rf"holds 1 run\(s\) of the repository `{ours.parent}`"
    with pytest.raises(UsageFault, match=said) as caught:
        find(archive, "latest~1", repository=ours)
    assert caught.value.hint == "1 run(s) were made elsewhere: name one by its id or file"


@pytest.mark.parametrize(
    ("own", "is_own"),
    [
        pytest.param("head\nmore\nmost\n", True, id="the-copy-is-behind"),
        pytest.param("head\nmore\n", True, id="both-are-whole"),
        pytest.param("head\n", False, id="the-own-one-is-behind"),
        pytest.param("other\nmore\nmost\n", False, id="another-run"),
        pytest.param(None, False, id="gone"),
    ],
)
def test_of_a_copy_and_its_journal_the_whole_one_is_read(archive, tmp_path, own, is_own):
    journal = tmp_path / "n.jsonl"
    (archive / "new" / "n.jsonl").write_text("head\nmore\n")
    if own is not None:
        journal.write_text(own)
    mark(archive / "new", journal=journal, repository=None)
    found = find(archive, "latest", needs_journal=True)
    assert found.path == (journal if is_own else archive / "new" / "n.jsonl")
    assert found.is_archived


def test_a_hard_link_is_read_under_the_name_it_was_made_with(archive, tmp_path):
    journal = tmp_path / "n.jsonl"
    journal.hardlink_to(archive / "new" / "n.jsonl")
    mark(archive / "new", journal=journal, repository=None)
    mark(archive / "new", journal=archive / "new" / "n.jsonl", repository=None)
    assert find(archive, "latest").path == journal


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        pytest.param("latest~2", UsageFault, r"holds 2 run\(s\)", id="too-far-back"),
        pytest.param("olt", UnknownName, "did you mean `old`", id="near-match"),
        pytest.param("none.json", UsageFault, "there is no file", id="no-file"),
        pytest.param("old", UsageFault, "has no journal beside it", id="only-a-document"),
    ],
)
def test_what_is_not_there_is_named(archive, name, kind, said):
    with pytest.raises(kind, match=said):
        find(archive, name, needs_journal=True)


def test_an_archive_that_is_not_there_is_empty(tmp_path):
    with pytest.raises(UsageFault, match="holds 0"):
        find(tmp_path / "none", "latest")


def test_the_commit_of_a_build_means_its_last_run(archive):
    told = '{"type":"gateway","build":{"entrySha256":null,"commit":"0123abcd99"}}\n'
    (archive / "new" / "n.jsonl").write_text(f'{{"type":"header"}}\n{told}')
    (archive / "old" / "o.jsonl").write_text(f'{{"type":"header"}}\n{told}')
    os.utime(archive / "new" / "n.jsonl", ns=(10**18, 10**18))
    os.utime(archive / "old" / "o.jsonl", ns=(10**17, 10**17))
    assert find(archive, "0123abc").path == archive / "new" / "n.jsonl"
    for nobody_s in ("0123abce", "0123ab", "123abcd99"):
        with pytest.raises(UnknownName):
            find(archive, nobody_s)
