"""A state folder that can't be used: what is said, and that a gateway is stopped all the same."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from tests.command_line import CommandLine
from tests.patience import PATIENCE_S
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration

_MOUNT = shutil.which("mount") or "/bin/mount"
_UMOUNT = shutil.which("umount") or "/bin/umount"


@pytest.fixture
def worktree(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    write_small_gateway(folder)
    return folder


@pytest.fixture
def command(tmp_path, worktree):
    line = CommandLine(tmp_path / "home", worktree)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


@pytest.fixture
def small_disk(command):
    """Put the state folder on a disk of 64 KiB of its own."""
    folder = command.state.parent
    folder.mkdir(parents=True)
    words = [_MOUNT, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(words, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    for record in command.records():
        command("stop", str(record["identity"]["pid"]))
    subprocess.run([_UMOUNT, str(folder)], check=True)


def fill(folder):
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096) == 4096:
                pass
        except OSError:
            return


def start(command, **environ):
    return command("start", "--entry", "gateway_entry.py", "--json", **environ)


def test_a_full_disk_starts_nothing_and_is_no_fault_of_the_program(command, small_disk):
    fill(small_disk)
    done = start(command)
    assert (done.code, done.told["reason"]) == (3, "state_unusable")
    assert "No space left on device" in done.told["headline"]
    assert "XDG_STATE_HOME" in done.told["next"]


def test_a_gateway_is_stopped_although_its_disk_is_full(command, small_disk):
    assert start(command).code == 0
    fill(small_disk)
    assert command("status").code == 0
    done = command("stop", "--json")
    assert (done.code, done.told["reason"]) == (0, "stopped")
    assert command.leftovers() == []
    assert command.records() == []


def test_a_read_only_disk_starts_nothing_and_can_be_looked_at(command, small_disk):
    command.state.mkdir(mode=0o700)
    subprocess.run([_MOUNT, "-o", "remount,ro", str(small_disk)], check=True)
    done = start(command)
    assert (done.code, done.told["reason"]) == (3, "state_unusable")
    assert command("ps").code == 0
    assert command("stop").code == 0


def test_what_can_not_be_remembered_is_not_trusted(command, worktree, small_disk):
    (worktree / "gateway-bench.toml").write_text('[gateway]\nentry = "gateway_entry.py"\n')
    fill(small_disk)
    done = command("trust", "--json")
    assert (done.code, done.told["reason"]) == (3, "state_unusable")


def test_a_file_where_the_folder_should_be_is_named(command):
    command.state.parent.parent.mkdir(parents=True)
    command.state.parent.write_text("")
    done = start(command)
    assert (done.code, done.told["reason"]) == (3, "state_unusable")
    assert f"Not a directory: `{command.state}" in done.told["headline"]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, id="SIGTERM"),
    ],
)
def test_a_start_that_is_asked_to_end_leaves_nothing_and_says_by_its_code_who_asked(
    command, worktree, number, code
):
    entry = worktree / "gateway_entry.py"
    entry.write_text("import time\ntime.sleep(60)\n")
    process = command.begin("start", "--entry", "gateway_entry.py", "--json")
    deadline = time.monotonic() + PATIENCE_S
    while not command.records():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    done = command.end(process)
    assert (done.code, done.told["reason"]) == (code, "interrupted")
    assert command.leftovers() == []
    assert command.records() == []
