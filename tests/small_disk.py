"""A real file system of a few kilobytes, for what must be tried on a full disk."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, *, kilobytes: int) -> Iterator[None]:
    """Mount a tmpfs on ``folder``; skip the test where that is not possible (no root, macOS)."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("this system has no `mount`")
    folder.mkdir(exist_ok=True)
    words = [mount, "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    mounted = subprocess.run(words, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run([umount, str(folder)], check=True)


def enlarge(folder: Path, *, kilobytes: int) -> None:
    """Make room on a small disk."""
    mount = shutil.which("mount")
    assert mount is not None
    subprocess.run([mount, "-o", f"remount,size={kilobytes}k", str(folder)], check=True)
