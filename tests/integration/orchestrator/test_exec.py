"""`exec`: a foreign command with a gateway up for it, and none afterwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine, hear
from tests.integration.orchestrator.test_cli_terminal import Terminal
from tests.patience import PATIENCE_S, until
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration

DEMO = ("exec", "--preset", "demo")


@pytest.fixture
def command(tmp_path_factory):
    # No test's name in the folders: it may hold a word that people kill by.
    tree = tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    line = CommandLine(tmp_path_factory.mktemp("home"), tree)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


def told(path: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(path.read_bytes())
    return said


def wait_for(path: Path) -> str:
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return path.read_text().strip()


def test_the_command_is_told_where_the_gateway_is_and_everything_else_is_its_own(command, tmp_path):
    script = (
        "echo url {url} base {base_url} port {port} braces {other}; "
        "echo $GATEWAY_URL $GATEWAY_BASE_URL $GATEWAY_PORT $GATEWAY_API_KEY_ENV; "
        "echo key $LOCAL_DEMO_API_KEY; env | grep -c GWB_; cat; echo aside >&2; exit 41"
    )
    words = (*DEMO, "--json", str(tmp_path / "o.json"), "--", "sh", "-c", script)
    done = subprocess.run(
        [sys.executable, "-m", "orchestrator", *words],
        cwd=command.cwd,
        env={**command.environ, "GWB_X": "1"},
        input="typed\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    lines = done.stdout.splitlines()
    port = lines[0].split()[5]
    url = f"http://127.0.0.1:{port}"
    assert lines == [
        f"url {url} base {url}/v1 port {port} braces {{other}}",
        f"{url} {url}/v1 {port} LOCAL_DEMO_API_KEY",
        "key test-token",
        "0",
        "typed",
    ]
    assert done.returncode == 41
    assert done.stderr.startswith("gateway up: PID ")
    assert done.stderr.endswith("aside\n")
    said = told(tmp_path / "o.json")
    assert (said["command"], said["status"], said["exitCode"]) == ("exec", "failed", 41)
    assert said["detail"]["command"]["exitCode"] == 41
    assert said["detail"]["gateway"]["stopped"]
    assert said["retryable"] is False
    assert said["detail"]["notices"] == []
    used = said["detail"]["resources"]
    assert used["samples"] >= 2, "when it was ready, and before it was stopped"
    assert 0 < used["idlePssMb"] <= used["peakRssMb"]
    assert used["cpuMs"] >= 0


def test_what_changes_around_the_gateway_is_said_while_the_command_runs(command, tmp_path):
    write_small_gateway(command.cwd)
    (command.cwd / "lazy.py").write_text("A = 1\n")
    # The command goes on until somebody has read the warning; for a minute at most.
    script = (
        f"echo ready > {tmp_path}/up; "
        f"for n in $(seq 600); do [ -e {tmp_path}/read ] && exit 0; sleep 0.1; done; exit 9"
    )
    words = ("exec", "--entry", "gateway_entry.py", "--json", str(tmp_path / "o.json"), "--")
    job = command.begin(*words, "sh", "-c", script)
    wait_for(tmp_path / "up")
    (command.cwd / "lazy.py").write_text("A = 2\n")
    seen = hear(job, "build_changed")
    (tmp_path / "read").touch()
    done = command.end(job)
    assert done.code == 0
    assert seen.startswith("warning: build_changed: The build changed on disk")
    (notice,) = told(tmp_path / "o.json")["detail"]["notices"]
    assert notice["class"] == "build_changed"


def test_a_command_that_the_system_refuses_leaves_no_gateway(command):
    (command.cwd / "odd").write_text("\x7fELF nonsense")
    (command.cwd / "odd").chmod(0o755)
    done = command(*DEMO, "--", "./odd")
    assert done.code == 125
    assert "execve of" in done.err
    assert "class: exec_failed (3)" in done.err


def killer(command, name, then):
    """A command that finds the gateway in the record, signals it, and goes on."""
    code = (
        "import glob, json, os, signal, time\n"
        f"(path,) = glob.glob({str(command.state / '*.json')!r})\n"
        f"os.kill(json.load(open(path))['identity']['pid'], signal.{name})\n"
        f"{then}\n"
    )
    return ("python3", "-c", code)


def test_a_command_ends_when_its_gateway_dies(command, tmp_path):
    words = killer(command, "SIGKILL", "time.sleep(60)")
    done = command(*DEMO, "--json", str(tmp_path / "o.json"), "--", *words)
    assert done.code == 125
    assert "was ended by SIGKILL although nobody asked us to stop it" in done.err
    assert done.err.endswith("class: gateway_killed (4)\n")
    said = told(tmp_path / "o.json")
    assert said["status"] == "incomplete"
    assert said["detail"]["command"] == {
        "name": "python3",
        "exitCode": None,
        "signal": 15,
        "wasEndedByUs": True,
    }
    assert said["detail"]["incident"]["class"] == "gateway_killed"


def test_a_command_that_may_go_on_keeps_its_own_status(command, tmp_path):
    heard = tmp_path / "heard"
    then = f"while not os.path.exists({str(heard)!r}): time.sleep(0.05)\nraise SystemExit(3)"
    job = command.begin(*DEMO, "--on-death", "continue", "--", *killer(command, "SIGTERM", then))
    hear(job, "note: the command goes on")
    heard.touch()
    done = command.end(job)
    assert done.code == 3
    assert "class:" not in done.err


@pytest.mark.parametrize(
    ("trap", "signals", "code"),
    [
        pytest.param("true", [signal.SIGTERM], 143, id="it dies of it"),
        pytest.param("trap 'exit 9' INT", [signal.SIGINT], 9, id="it decides"),
        pytest.param("trap NOTED INT", [signal.SIGINT, signal.SIGINT], 137, id="twice means now"),
    ],
)
def test_a_signal_to_us_goes_to_the_command_and_the_gateway_is_stopped(
    command, tmp_path, trap, signals, code
):
    mark, noted = tmp_path / "mark", tmp_path / "noted"
    trap = trap.replace("NOTED", f"'echo heard > {noted}'")
    script = f"{trap}; echo here > {mark}; while true; do sleep 0.1; done"
    process = command.begin(*DEMO, "--", "sh", "-c", script)
    wait_for(mark)
    process.send_signal(signals[0])
    for number in signals[1:]:
        wait_for(noted)  # two at once would be one
        process.send_signal(number)
    assert command.end(process).code == code


def test_our_sudden_death_leaves_the_gateway_up_and_on_record(command, tmp_path):
    mark = tmp_path / "mark"
    process = command.begin(*DEMO, "--", "sh", "-c", f"echo $$ > {mark}; exec sleep 60")
    guest = int(wait_for(mark))
    process.kill()
    process.wait()
    try:
        (record,) = command.records()
        pid = str(record["identity"]["pid"])
        status = command("status", pid, "--json")
        assert (status.code, status.gateway["state"]) == (0, "ready")
    finally:
        os.kill(guest, signal.SIGKILL)
        process.communicate()
        command("stop", pid)


# A moment after it was begun a command gets the terminal.
_IN_FRONT = "while os.tcgetpgrp(0) != os.getpgrp(): time.sleep(0.01)\n"


def test_the_command_is_the_terminals_foreground_and_ctrl_c_is_first_for_it(command):
    code = (
        "import os, signal, sys, time\n"
        f"{_IN_FRONT}"
        "print('in front', os.getpgrp() == os.getpid(), flush=True)\n"
        "print('heard', input(), flush=True)\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(7))\n"
        "print('waiting', flush=True)\n"
        "time.sleep(60)\n"
    )
    with Terminal(command, *DEMO, "--", "python3", "-c", code) as terminal:
        terminal.wait_for(b"in front True")
        terminal.type(b"hello\n")
        terminal.wait_for(b"heard hello")
        terminal.wait_for(b"waiting")
        terminal.type(b"\x03")
        assert terminal.end() == 7


# A shell with job control: it sees us stop when the command is stopped, and lets us go on.
_SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
_, status = os.waitpid(pid, os.WUNTRACED)
assert os.WIFSTOPPED(status), status
os.tcsetpgrp(0, os.getpgrp())
print("shell: stopped", flush=True)
input()
os.tcsetpgrp(0, pid)
os.killpg(pid, signal.SIGCONT)
_, status = os.waitpid(pid, 0)
os.tcsetpgrp(0, os.getpgrp())
print("shell: ended", os.waitstatus_to_exitcode(status), flush=True)
"""


def test_ctrl_z_stops_both_and_the_shell_lets_both_go_on(command):
    code = (
        "import os, signal, time\n"
        f"{_IN_FRONT}"
        "signal.signal(signal.SIGCONT, lambda *_: print('goes on', flush=True))\n"
        "print('up', flush=True)\n"
        "print('heard', input(), flush=True)\n"
        "raise SystemExit(5)\n"
    )
    inner = ("-m", "orchestrator", *DEMO, "--", "python3", "-c", code)
    with Terminal(command, program=("-c", _SHELL, *inner)) as terminal:
        terminal.wait_for(b"up\r\n")
        terminal.type(b"\x1a")
        terminal.wait_for(b"shell: stopped")
        terminal.screen = b""  # it may have been told to go on before, too: when it was begun
        terminal.type(b"fg\n")
        terminal.wait_for(b"goes on")
        terminal.type(b"again\n")
        terminal.wait_for(b"heard again")
        terminal.wait_for(b"shell: ended 5")
        assert terminal.end() == 0


def test_a_tool_of_the_distribution_measures_the_gateway(command, tmp_path):
    if shutil.which("wrk") is None:
        if os.environ.get("CI"):
            pytest.fail("wrk is not installed")
        pytest.skip("wrk is not installed")
    words = ("wrk", "-t1", "-c2", "-d1s", "{url}/health")
    done = command(*DEMO, "--json", str(tmp_path / "o.json"), "--", *words)
    assert done.code == 0
    assert "Running 1s test @ http://127.0.0.1:" in done.out
    assert "Requests/sec:" in done.out
    assert "Non-2xx" not in done.out
    said = told(tmp_path / "o.json")
    assert said["headline"] == "`wrk` exited with status 0"
    assert said["detail"]["incident"] is None
