"""Which folders Landlock lets read, where something below them is not to be."""

from pathlib import Path

import pytest

from bench.warden.landlock import beside

pytestmark = pytest.mark.integration


def test_a_folder_above_a_cover_is_listed_and_what_lies_beside_is_read(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "secret.py").touch()
    (tmp_path / "lib" / "python3" / "json").mkdir()
    (tmp_path / "lib" / "python3" / "os.py").touch()
    (tmp_path / "lib" / "libc.so").touch()
    (tmp_path / "lib" / "link").symlink_to(packages)
    read, listed = beside([f"{tmp_path}/lib"], [str(packages)])
    below = [str(Path(path).relative_to(tmp_path)) for path in sorted(read)]
    assert below == ["lib/libc.so", "lib/python3/json", "lib/python3/os.py"]
    assert listed == [f"{tmp_path}/lib", f"{tmp_path}/lib/python3"]


def test_a_folder_without_a_cover_is_read_as_a_whole(tmp_path: Path) -> None:
    assert beside([str(tmp_path)], [f"{tmp_path}-other/x"]) == ([str(tmp_path)], [])


def test_a_folder_that_is_a_cover_itself_is_neither(tmp_path: Path) -> None:
    assert beside([str(tmp_path)], [str(tmp_path)]) == ([], [])
