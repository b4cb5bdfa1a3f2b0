"""What a hostile program tries to reach: each attempt is one program, and none gets through."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.attempts import ALONE, ATTEMPTS, program_of
from tests.walled import Behind


def beside_its_content(path: Path) -> tuple[int, ...]:
    """Return what changes with rights, owner, times, attributes and length of a file."""
    found = path.stat()
    return found.st_mode, found.st_uid, found.st_gid, found.st_size, found.st_ctime_ns


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory):
    """What is worth reaching: a file, a home, a listening gateway, sockets, a living process."""
    folder = tmp_path_factory.mktemp("outside")
    for one in (folder, *folder.parents):  # so that only the walls stand between
        if one.stat().st_uid == os.getuid() and one.name.startswith(("pytest-", "outside")):
            one.chmod(0o777)
    canary = folder / "canary"
    canary.write_text("seen")
    canary.chmod(0o666)
    path, name = str(folder / "socket"), f"gwb-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as gateway,
        socket.socket(socket.AF_UNIX) as of_path,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log_of_path,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as abstract_log,
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as neighbour,
    ):
        of_path.bind(path)
        of_path.listen()
        abstract.bind("\0" + name)
        abstract.listen()
        log_of_path.bind(f"{path}-log")
        abstract_log.bind(f"\0{name}-log")
        Path(path).chmod(0o777)
        Path(f"{path}-log").chmod(0o777)
        before = beside_its_content(canary)
        home = str(Path.home())
        port = str(gateway.getsockname()[1])
        words = (str(os.getpid()), home, str(canary), port, path, name, str(neighbour.pid))
        yield words
        assert neighbour.poll() is None
        assert beside_its_content(canary) == before
        assert canary.read_text() == "seen"
        assert sorted(one.name for one in folder.iterdir()) == [
            "canary",
            "socket",
            "socket-log",
        ]


_TOLD: dict[tuple[str, bool, str], str] = {}


def told(behind: Behind, targets: tuple[str, ...], name: str) -> str:
    """Return what an attempt said; all that can are made by one program."""
    if (behind.walls, behind.is_root, name) not in _TOLD:
        names = {name} if name in ALONE else set(ATTEMPTS) - ALONE
        found = behind.run(program_of({one: ATTEMPTS[one] for one in names}), *targets)
        assert (found.end, found.stderr) == ("exited", b""), found
        for line in found.stdout.decode().splitlines():
            one, said = json.loads(line)
            _TOLD[behind.walls, behind.is_root, one] = said
    return _TOLD[behind.walls, behind.is_root, name]


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_attempt_gets_through(behind: Behind, targets: tuple[str, ...], name: str) -> None:
    assert told(behind, targets, name).startswith("contained: ")


def test_what_a_task_needs_works(behind: Behind) -> None:
    code = """
import asyncio, concurrent.futures, decimal, json, random, re, sqlite3, subprocess, sys, tempfile
import threading, unittest
async def one():
    await asyncio.sleep(0.001)
    return 1
assert asyncio.run(one()) == 1
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert list(pool.map(abs, [-1, -2])) == [1, 2]
assert sqlite3.connect(":memory:").execute("select 1").fetchone() == (1,)
import helper
open("out.txt", "w").write(helper.NAME)
open("/dev/null", "w").write("x")
print(sys.stdin.read())
"""
    found = behind.run(code, files={"helper.py": b"NAME = 'me'"}, stdin=b"input", collect=True)
    assert (found.end, found.exit_code, found.stderr) == ("exited", 0, b"")
    assert found.stdout == b"input\n"
    assert found.files == {"out.txt": b"me"}


def test_no_package_and_no_variable_of_ours_is_seen(behind: Behind) -> None:
    code = """
import importlib.util, os, sys
print([name for name in ("msgspec", "httpx", "pip", "bench") if importlib.util.find_spec(name)])
print(sorted(os.environ), os.listdir("."))
"""
    found = behind.run(code)
    packages, variables = found.stdout.decode().splitlines()
    if behind.walls == "namespaces":
        assert packages == "[]"
    assert variables == (
        "['HOME', 'LANG', 'OPENSSL_CONF', 'PATH', 'PYTHONHASHSEED', 'TMPDIR', 'TZ'] ['main']"
    )


def test_no_descriptor_of_ours_is_open(behind: Behind) -> None:
    code = """
import os
found = []
for number in range(300):
    try:
        os.fstat(number)
    except OSError:
        continue
    found.append(number)
print(found)
"""
    assert behind.run(code).stdout == b"[0, 1, 2]\n"
