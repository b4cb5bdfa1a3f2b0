"""Whoever started it and however that ends: the gateway lives, and nothing of its starter is in it."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.looked_at import ask
from tests.native_gateway import CC, build_native_gateway
from tests.patience import PATIENCE_S
from tests.pid_namespace import needs_namespace, run_inside
from tests.small_gateway import write_small_gateway

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]
TMUX = shutil.which("tmux")


@contextmanager
def as_a_careless_parent():
    """Ignore and block signals, and leave descriptors open that children inherit."""
    ignored = (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGHUP, signal.SIGTERM)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD})
    with socket.create_server(("127.0.0.1", 0)) as server, open(os.devnull, "w") as file:  # noqa: PTH123  # a plain descriptor
        for one in (server, file):
            os.set_inheritable(one.fileno(), True)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            for number, handler in before.items():
                signal.signal(number, handler)


@pytest.mark.skipif(CC is None, reason="no C compiler")
def test_nothing_of_a_careless_parent_is_inherited(yard):
    build_native_gateway(yard.worktree / "shop")
    with as_a_careless_parent():
        started = yard.start("./shop")
    told = dict(line.split(":", 1) for line in ask(started).splitlines())
    masks = {name: int(told[name].strip(), 16) for name in ("SigIgn", "SigBlk", "SigCgt")}
    assert masks == {"SigIgn": 0, "SigBlk": 0, "SigCgt": 0}
    # Its streams, its listener and this connection.
    assert told["Fds"].split() == ["0", "1", "2", "3", "4"]
    seen = yard.machine.table.look(started.held.pid)
    assert (seen.session, seen.group, seen.has_terminal) == (seen.pid, seen.pid, False)
    yard.stop(held=started.held)


@pytest.fixture
def command(tmp_path_factory):
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    write_small_gateway(tree)
    line = CommandLine(home, tree)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


START = ("start", "--entry", "gateway_entry.py")


def typed(command: CommandLine, then: str) -> str:
    """A shell line that starts the gateway, leaves a file, and goes on with ``then``."""
    words = shlex.join([sys.executable, "-m", "orchestrator", *START])
    return f"{words} > said 2>&1; echo $? > ended; {then}"


def wait_for_start(command: CommandLine) -> None:
    deadline = time.perf_counter() + PATIENCE_S
    ended = command.cwd / "ended"
    while not (ended.exists() and ended.read_text().strip()):
        assert time.perf_counter() < deadline, (command.cwd / "said").read_text()
        time.sleep(0.05)
    assert ended.read_text().strip() == "0", (command.cwd / "said").read_text()


def shell(command: CommandLine, then: str, *before: str, **more) -> "subprocess.Popen[bytes]":
    line = typed(command, then)
    return subprocess.Popen(
        [*before, "/bin/sh", "-c", line], cwd=command.cwd, env=command.environ, **more
    )


def end_with_its_group(command: CommandLine) -> None:
    """A harness that ends the whole process group of what it ran."""
    harness = shell(command, "sleep 60", start_new_session=True)
    wait_for_start(command)
    os.killpg(harness.pid, signal.SIGKILL)
    harness.wait(PATIENCE_S)


def close_its_terminal(command: CommandLine) -> None:
    """A window that is closed: the kernel sends SIGHUP to the terminal's session."""
    master, slave = os.openpty()
    # Under `nohup` the signal is ignored here, and what we start would inherit that.
    script = "import os,signal,sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    script += "os.setsid(); os.close(os.open(os.ttyname(0), os.O_RDWR)); "
    script += "os.execv('/bin/sh', ['/bin/sh', '-c', sys.argv[1]])"
    window = subprocess.Popen(
        [sys.executable, "-c", script, typed(command, "sleep 60")],
        cwd=command.cwd,
        env=command.environ,
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    wait_for_start(command)
    os.close(master)
    assert window.wait(PATIENCE_S) == -signal.SIGHUP


def end_its_tmux(command: CommandLine) -> None:
    """A tmux server that is ended with everything in it."""
    tmux = [str(TMUX), "-S", str(command.cwd / "socket"), "-f", "/dev/null"]
    line = typed(command, "sleep 60")
    subprocess.run(
        [*tmux, "new-session", "-d", "/bin/sh", "-c", line],
        cwd=command.cwd,
        env=command.environ,
        check=True,
    )
    wait_for_start(command)
    subprocess.run([*tmux, "kill-server"], check=True)


def leave_a_session_of_its_own(command: CommandLine) -> None:
    """`setsid sh -c …`, whose leader is gone as soon as the start is done."""
    assert shell(command, "exit 0", "setsid").wait(PATIENCE_S) == 0
    wait_for_start(command)


@pytest.mark.parametrize(
    "end",
    [
        end_with_its_group,
        close_its_terminal,
        pytest.param(
            end_its_tmux, marks=pytest.mark.skipif(TMUX is None, reason="tmux is not installed")
        ),
        leave_a_session_of_its_own,
    ],
)
def test_the_gateway_outlives_where_it_was_started(command, end):
    end(command)
    status = command("status", "--json")
    assert status.code == 0, status.err
    (record,) = command.records()
    pid, adopter = record["identity"]["pid"], record["adopter"]
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    parent, group, session, terminal = (int(field) for field in fields[1:5])
    assert (group, session, terminal) == (pid, pid, 0)
    assert parent == adopter["pid"]
    name = Path(f"/proc/{parent}/comm").read_text().strip()
    assert adopter["name"] == name
    assert f"parent    PID {parent} ({name})" in (command.cwd / "said").read_text()


AS_FIRST = """
import os, subprocess, sys
done = subprocess.run(
    [sys.executable, "-m", "orchestrator", *given["words"]], capture_output=True, text=True,
    cwd=given["folder"])
left = [one for one in os.listdir("/proc") if one.isdecimal() and one != "1"]
print(json.dumps({"code": done.returncode, "err": done.stderr, "out": done.stdout, "left": left}))
"""
BECOME_IT = """
import os, sys
os.chdir(given["folder"])
os.execv(sys.executable, [sys.executable, "-m", "orchestrator", *given["words"], "--json"])
"""


@needs_namespace()
def test_a_launcher_that_is_the_first_process_is_told_that_the_gateway_would_die_with_it(command):
    """What `docker run IMAGE gateway-bench start` is."""
    given = {"words": [*START], "folder": str(command.cwd)}
    told = run_inside(BECOME_IT, given, command.environ, status=3)
    assert (told["status"], told["reason"]) == ("failed", "not_detached")
    assert told["headline"].startswith("the gateway would be adopted by PID 1 (`python")
    assert command.records() == []


@needs_namespace()
def test_below_any_first_process_the_gateway_is_adopted_by_that(command):
    """A container whose first process is a shell or a program: it lives as long as that does."""
    given = {"words": [*START, "--json"], "folder": str(command.cwd)}
    told = run_inside(AS_FIRST, given, command.environ)
    assert told["code"] == 0, told["err"]
    (record,) = command.records()
    assert record["adopter"]["pid"] == 1
    # The namespace is gone, and with it the gateway: from here that can't be told.
    status = command("status", "--json")
    assert (status.code, status.told["reason"]) == (3, "unknown")
    refused = command("stop")
    assert refused.code == 3
    assert "another PID namespace; nothing was signalled" in refused.err
    (command.state / f"{record['id']}.json").unlink()
