"""`--attach PID`: a gateway that somebody else started is proven, watched and left alone."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.free_port import free_port
from tests.patience import until
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration


@pytest.fixture
def command(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    line = CommandLine(tmp_path_factory.mktemp("home"), tree, LOCAL_KEY="local-secret")
    yield line
    assert line.records() == []
    assert line.leftovers() == []


class Stranger:
    """A gateway of somebody else."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process, self.pid, self.port = process, process.pid, port


def is_listening(port):
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def stranger(tmp_path):
    """A small gateway in our own session, started by nobody of ours."""
    port = free_port()
    entry = write_small_gateway(tmp_path)
    process = subprocess.Popen(
        [sys.executable, entry], cwd=tmp_path, env={**os.environ, "PORT": str(port)}
    )
    until(lambda: is_listening(port))
    yield Stranger(process, port)
    process.kill()
    process.wait()


def test_a_stranger_is_proven_used_and_still_there_afterwards(command, stranger):
    pid = str(stranger.pid)
    status = command("status", "--attach", pid, "--json")
    assert (status.code, status.gateway["port"]) == (0, stranger.port)
    assert status.gateway["entryMode"] == "attached"
    used = command("exec", "--attach", pid, "--", "sh", "-c", "echo {port}; exit 6")
    assert (used.code, used.out) == (6, f"{stranger.port}\n")
    assert used.err.startswith(f"attached to a gateway: PID {pid} on ")
    assert "is watched and never stopped" in used.err
    ran = command(
        *("run", "m", "--attach", pid, "--api-key-env", "LOCAL_KEY", "--yes", "--json"),
        *("--case", "seeded_grounded_unknown", "--no-stream", "--no-budget", "--runs", "1"),
    )
    assert ran.code == 0, ran.err
    assert ran.told["done"] == 1
    assert ran.gateway["stopped"] is False
    assert "local-secret" not in ran.out + ran.err
    assert stranger.process.poll() is None

    journal = Path(ran.told["files"][-1])
    begun = [one for one in journal.read_bytes().splitlines() if b'"type":"header"' in one]
    journal.write_bytes(b"\n".join(begun) + b"\n")
    resumed = command("resume", str(journal), "--json", "--yes")
    assert (resumed.code, resumed.told["exitCode"]) == (2, 2)
    assert "was made with `--attach`" in resumed.told["headline"]
    again = command("resume", str(journal), "--attach", pid, "--json", "--yes")
    assert (again.code, again.told["done"]) == (0, 1), again.err
    assert stranger.process.poll() is None


def test_the_death_of_a_stranger_is_noticed(command, stranger):
    words = ("sh", "-c", f"kill -9 {stranger.pid}; sleep 60")
    done = command("exec", "--attach", str(stranger.pid), "--", *words)
    assert done.code == 125
    assert done.err.endswith("class: gateway_killed (4)\n")


def test_what_can_not_be_proven_is_refused_and_not_signalled(command, stranger):
    stranger.process.send_signal(signal.SIGSTOP)
    try:
        done = command("status", "--attach", str(stranger.pid), "--port", "1")
    finally:
        stranger.process.send_signal(signal.SIGCONT)
    assert done.code == 3
    assert f"it does not listen on port 1, but on {stranger.port}" in done.err
    quiet = subprocess.Popen(["sleep", "60"])  # noqa: S607
    try:
        none = command("status", "--attach", str(quiet.pid), "--json")
        assert (none.code, none.told["reason"]) == (3, "not_attached")
        assert quiet.poll() is None
    finally:
        quiet.kill()
        quiet.wait()


def test_a_process_of_another_pid_namespace_is_refused(command):
    try:
        words = ("unshare", "--pid", "--fork", "--mount-proc", "sleep", "60")
        inside = subprocess.Popen(words)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    try:
        children = Path(f"/proc/{inside.pid}/task/{inside.pid}/children")

        def within():
            if inside.poll() is not None:
                pytest.skip("no PID namespace for this user")
            return children.read_text().split()

        there = until(within)
        done = command("status", "--attach", there[0])
        assert done.code == 3
        assert "it is in another PID namespace" in done.err
        os.kill(int(there[0]), signal.SIGKILL)
    finally:
        inside.kill()
        inside.wait()
