"""The folder of a program on disk, and what is looked at in it afterwards."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.warden.folder import Folder, remove
from bench.warden.leavings import changed_files, fingerprint, is_full


def an_order(scratch, **changes) -> Any:
    fields = {"is_alone": True, "scratch": str(scratch), "file_bytes": 10_000}
    return SimpleNamespace(**(fields | changes))


def test_a_folder_however_deep_is_removed_and_links_are_not_followed(tmp_path, monkeypatch):
    top, kept = tmp_path / "top", tmp_path / "kept"
    top.mkdir()
    kept.mkdir()
    (kept / "file").write_text("kept")
    (top / "link").symlink_to(kept)
    monkeypatch.chdir(top)
    for _ in range(150):
        Path("d" * 60).mkdir()
        os.chdir("d" * 60)
    (closed := top / "closed").mkdir()
    (closed / "file").write_text("")
    closed.chmod(0)
    monkeypatch.chdir(tmp_path)
    remove(str(top))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept"]
    assert (kept / "file").read_text() == "kept"


def test_a_folder_holds_too_much_by_size_by_number_and_by_depth(tmp_path):
    folder = Folder(an_order(tmp_path))
    assert not folder.holds_too_much()
    large = Path(folder.path, "large")
    large.write_bytes(b"x" * 50_000)
    assert folder.holds_too_much()
    large.unlink()
    assert not folder.holds_too_much()
    Path(folder.path, *["d"] * 70).mkdir(parents=True)
    assert folder.holds_too_much()
    folder.close()
    assert list(tmp_path.iterdir()) == []


def test_walls_with_a_file_system_of_their_own_need_no_folder(tmp_path):
    folder = Folder(an_order(tmp_path, is_alone=False))
    assert (folder.path, folder.holds_too_much()) == ("", False)
    folder.close()


def test_the_folder_of_a_warden_that_is_gone_is_removed(tmp_path):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    (tmp_path / f"gateway-bench-sandbox-{child}-aa").mkdir()
    (tmp_path / f"gateway-bench-sandbox-{child}-aa" / "left").write_text("")
    Folder(an_order(tmp_path)).close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_changed_whatever_time_it_claims(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "same").write_text("same")
    (tmp_path / "kept").write_text("kept")
    before = {name: fingerprint(Path(name).stat()) for name in ("same", "kept")}
    times = Path("kept").stat().st_mtime_ns
    (tmp_path / "kept").write_text("KEPT")
    os.utime("kept", ns=(times, times))
    (tmp_path / "link").symlink_to("same")
    os.mkfifo("pipe")
    with Path("huge").open("wb") as file:
        file.truncate(5 * 1024 * 1024)
    assert dict(changed_files(before)) == {"kept": b"KEPT"}
    assert is_full((".",), 5 * 1024 * 1024)
    assert not is_full((".",), 6 * 1024 * 1024)


def test_what_can_not_be_read_and_what_never_ends_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        (tmp_path / f"large{number}").write_bytes(b"x" * (4 * 1024 * 1024))
    found = dict(changed_files({}))
    assert len(found) == 4  # 16 MiB in all
    (tmp_path / "many").mkdir()
    for number in range(8_200):
        (tmp_path / "many" / str(number)).symlink_to("nowhere")
    assert len(dict(changed_files({}))) <= 4


def test_a_file_system_without_room_is_full():
    assert is_full(("/proc",), 1 << 40)


def test_what_can_not_be_read_as_a_file_is_not_collected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"a", "b", "c"}
    for name in names:
        Path(name).write_text(name)
    found = changed_files({})
    first, content = next(found)
    assert content == first.encode()
    link, pipe = sorted(names - {first})
    for name in (link, pipe):
        Path(name).unlink()
    Path(link).symlink_to(first)
    os.mkfifo(pipe)
    assert list(found) == []


def test_a_folder_too_deep_for_a_path_is_left_out_and_so_is_what_comes_after_very_many_files(
    tmp_path, monkeypatch
):
    deep = tmp_path / "deep"
    deep.mkdir()
    monkeypatch.chdir(deep)
    for _ in range(25):
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    Path("new").write_text("new")
    monkeypatch.chdir(deep)
    assert list(changed_files({})) == []
    many = tmp_path / "many"
    many.mkdir()
    monkeypatch.chdir(many)
    for number in range(8_200):
        os.mknod(str(number))
    assert sum(1 for _ in changed_files({})) == 8_192
    monkeypatch.chdir(tmp_path)
    remove(str(deep))
