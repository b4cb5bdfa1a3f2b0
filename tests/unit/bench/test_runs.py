import os

import pytest

from bench.errors import UnknownName, UsageFault
from bench.runs import FoundRun, find_run


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


def find(archive, name, *, needs_journal=False):
    return find_run(name, archive=archive, folder=archive.parent, needs_journal=needs_journal)


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
    assert find(archive, "runs/new/n.json").path == archive / "new" / "n.json"
    assert find(archive, "runs/new/n.json", needs_journal=True).path == archive / "new" / "n.jsonl"
    assert not find(archive, "runs/new/n.json").is_archived


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
