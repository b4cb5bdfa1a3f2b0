"""Which files may be touched, and that no network may: a second wall, by Landlock."""

import os
import stat
import struct

from bench.warden import kernel

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE
_LOOK = _EXECUTE | _READ | _LIST
_FIRST_RIGHTS = (1 << 13) - 1
_ALL_NETWORK = 0b11  # bind and connect of TCP
_ALL_SCOPES = 0b11  # abstract sockets and signals leave no domain
_NETWORK_SINCE = 4
_SCOPES_SINCE = 6


def rights(version: int) -> tuple[int, int, int]:
    """Return the rights over files, network and scopes that a version of Landlock can deny."""
    files = _FIRST_RIGHTS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE)):
        if version >= since:
            files |= right
    return (
        files,
        _ALL_NETWORK if version >= _NETWORK_SINCE else 0,
        _ALL_SCOPES if version >= _SCOPES_SINCE else 0,
    )


def beside(tops: list[str], covers: list[str]) -> tuple[list[str], list[str]]:
    """Return what to let read, and what to let list only, so that no cover can be read.

    A rule of Landlock holds for everything below its folder and takes nothing back. So a folder
    above a cover is split into what lies in it; its names alone stay to be seen, for imports
    look for them.

    Args:
        tops: Files and folders to be read.
        covers: Folders below those, or one of those, that are not.
    """
    read, listed = [], []
    waiting = list(tops)
    while waiting:
        path = waiting.pop()
        if path in covers:
            continue
        if not any(cover.startswith(f"{path}/") for cover in covers):
            read.append(path)
            continue
        listed.append(path)
        with os.scandir(path) as entries:
            waiting += [entry.path for entry in entries if not entry.is_symlink()]
    return read, listed


def enclose(
    *, looked_at: list[str], listed: list[str], owned: list[str], devices: list[str]
) -> int:
    """Hold this process to these paths; return the version of Landlock that does, 0 for none.

    Args:
        looked_at: May be read and executed, with everything below.
        listed: Folders whose names may be seen, with those of the folders below.
        owned: May be read and written, but no program run from there.
        devices: May be read and written.
    """
    version = kernel.landlock_version()
    if version == 0:
        return 0
    files, network, scopes = rights(version)
    size = 8 if version < _NETWORK_SINCE else 16 if version < _SCOPES_SINCE else 24
    ruleset = kernel.landlock_ruleset(struct.pack("=QQQ", files, network, scopes)[:size])
    try:
        for paths, granted in (
            (looked_at, _LOOK),
            (listed, _LIST),
            (owned, files & ~(_EXECUTE | _DEVICE)),
            (devices, _READ | _WRITE | _DEVICE),
        ):
            for path in paths:
                _allow(ruleset, path, granted & files)
        kernel.landlock_enforce(ruleset)
    finally:
        os.close(ruleset)
    return version


def _allow(ruleset: int, path: str, granted: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            granted &= _OF_FILES
        kernel.landlock_allow(ruleset, struct.pack("=Qi", granted, descriptor))
    finally:
        os.close(descriptor)
