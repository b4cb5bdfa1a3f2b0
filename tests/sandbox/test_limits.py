"""What a hostile program tries to use up or leave behind: it ends, by name, with all it started."""

import os
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.sandbox.program import Outcome
from tests.walled import Behind

LITTLE = {"wall_s": 2.0}
MUCH = {"wall_s": 30.0}
MARK = f"gwb-hostile-mark-{os.getpid()}"


def left_over() -> set[str]:
    """Return what a sandbox could leave: processes, groups, mounts, folders."""
    found = {
        f"process {one.pid}"
        for one in psutil.process_iter(["cmdline"])
        if MARK in (one.info["cmdline"] or [])
    }
    for folder, names, _ in os.walk("/sys/fs/cgroup"):  # groups come and go while it walks
        found |= {f"{folder}/{name}" for name in names if "gateway-bench-sandbox-" in name}
    found |= {line for line in Path("/proc/self/mounts").read_text().splitlines() if "/box" in line}
    return found | {str(one) for one in Path("/tmp").glob("gateway-bench-sandbox-*")}  # noqa: S108


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    mine = {name for name in left_over() if not _of_a_living_other(name)}
    yield
    after = {name for name in left_over() if not _of_a_living_other(name)}
    assert after <= mine


def _of_a_living_other(name: str) -> bool:
    """Return whether a warden that is no child of ours works there: another test run's."""
    number = re.search(r"sandbox-(\d+)", name)
    if number is None:
        return False
    try:
        parents = psutil.Process(int(number[1])).parents()
    except psutil.NoSuchProcess:  # it clears up before it ends: what it had is gone by now
        return not Path(name).exists()
    return os.getpid() not in {one.pid for one in parents}


def until(met: Callable[[Outcome], bool], behind: Behind, code: str, **fields: Any) -> Outcome:
    """Run with little time, and with much where a slow machine did not come to what is meant."""
    more = fields.pop("limits", {})
    found = behind.run(code, limits=LITTLE | more, **fields)
    return found if met(found) else behind.run(code, limits=MUCH | more, **fields)


def has_spoken(found: Outcome) -> bool:
    return found.stdout != b""


def was_refused_more(found: Outcome) -> bool:
    return found.end == "process_limit"


def test_endless_work_ends_at_the_wall(behind: Behind) -> None:
    code = "import time\nprint('on', flush=True)\ntime.sleep(999)"
    found = until(has_spoken, behind, code)
    assert (found.end, found.exit_code, found.stdout) == ("wall_limit", None, b"on\n")
    assert found.duration_ns >= 2_000_000_000


def test_a_busy_loop_ends_by_its_processor_time(behind: Behind) -> None:
    found = behind.run("while True: pass", limits={"cpu_s": 1.0})
    assert (found.end, found.signal) == ("cpu_limit", "SIGXCPU")


def test_a_busy_loop_that_catches_the_signal_ends_too(behind: Behind) -> None:
    code = "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    found = behind.run(code, limits={"cpu_s": 1.0})
    assert (found.end, found.signal) == ("cpu_limit", "SIGKILL")


def test_a_fork_bomb(behind: Behind) -> None:
    code = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    limits = {"processes": 8}
    if behind.walls == "namespaces":
        found = until(was_refused_more, behind, code, limits=limits)
        assert found.end == "process_limit"
    else:
        assert behind.run(code, limits=LITTLE | limits).end == "wall_limit"


def test_a_bomb_of_threads(behind: Behind) -> None:
    code = "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(99,)).start()"
    found = until(was_refused_more, behind, code, limits={"processes": 8})
    assert found.end == "process_limit"


def test_processes_up_to_the_limit_are_no_fault(behind: Behind) -> None:
    code = """
import os, time
if os.getpid() > 2:
    raise SystemExit(0)
for _ in range(3):
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(0)
for _ in range(3):
    os.wait()
"""
    found = behind.run(code, limits={"processes": 4})
    assert (found.end, found.exit_code) == ("exited", 0)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("x = []\nwhile True: x.append(bytearray(b'1' * (1 << 22)))", id="heap"),
        pytest.param(
            "import mmap\nx = []\nwhile True:\n    x.append(mmap.mmap(-1, 1 << 22))\n"
            "    x[-1].write(b'1' * (1 << 22))",
            id="shared-mappings",
        ),
        pytest.param(
            "import os, time\nfor _ in range(6):\n    if os.fork() == 0: break\n"
            "x = bytearray(b'1' * (60 << 20))\ntime.sleep(99)",
            id="many-processes-together",
        ),
    ],
)
def test_a_memory_bomb(behind: Behind, code: str) -> None:
    if behind.walls == "landlock" and "fork" in code:
        pytest.skip("it may start no process")
    found = behind.run(code, limits={"memory_mb": 128, "wall_s": 10.0})
    words = found.stderr[-200:]
    assert found.end == "memory_limit" or b"Cannot allocate memory" in words, found


def test_a_large_file(behind: Behind) -> None:
    code = "f = open('big', 'wb')\nwhile True: f.write(b'1' * (1 << 20))"
    found = behind.run(code, limits={"file_mb": 4})
    assert found.end == "file_limit"
    assert b"File too large" in found.stderr


def test_a_file_of_ten_gigabytes_made_at_once(behind: Behind) -> None:
    code = "import os\nf = open('big', 'wb')\nf.truncate(10 << 30)"
    found = behind.run(code)
    assert (found.end, found.exit_code) == ("exited", 1)
    assert b"File too large" in found.stderr


def test_many_large_files(behind: Behind) -> None:
    code = """
for number in range(10_000):
    with open(f"f{number}", "wb") as f:
        f.write(b"1" * ((1 << 20) - 1))
"""
    found = behind.run(code, limits={"file_mb": 1})
    assert found.end == "file_limit", found


def test_many_small_files(behind: Behind) -> None:
    found = behind.run("for number in range(100_000):\n    open(str(number), 'w').close()")
    assert found.end == "file_limit"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_gigabyte_of_output(behind: Behind, stream: str) -> None:
    code = f"import sys\nfor _ in range(1024): sys.{stream}.write('1' * (1 << 20))"
    found = behind.run(code, limits={"output_bytes": 10_000})
    assert (found.end, found.output_cut) == ("output_limit", True)
    assert len(found.stdout) + len(found.stderr) == 10_000


DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", "MARK"])
    os._exit(0)
time.sleep(0.3)
print("parent is done")
""".replace("MARK", MARK)


def test_a_daemon_that_holds_the_pipes_ends_with_its_parent(behind: Behind) -> None:
    found = behind.run(DAEMON)
    if behind.walls == "landlock":
        assert (found.end, found.exit_code) == ("exited", 1)
        assert b"BlockingIOError" in found.stderr
    else:
        assert (found.end, found.exit_code, found.stdout) == ("exited", 0, b"parent is done\n")


def test_a_program_that_ends_its_own_leash_is_ended_all_the_same(behind: Behind) -> None:
    code = "import ctypes, time\nctypes.CDLL(None).prctl(1, 0)\ntime.sleep(600)"
    assert behind.run(code, limits=LITTLE).end == "wall_limit"


def test_import_and_exit_hooks_are_under_the_same_limits(behind: Behind) -> None:
    files = {"hook.py": b"import atexit, time\natexit.register(lambda: time.sleep(600))"}
    found = until(has_spoken, behind, "import hook\nprint('done', flush=True)", files=files)
    assert (found.end, found.stdout) == ("wall_limit", b"done\n")


def test_a_stopped_program_ends_at_the_wall(behind: Behind) -> None:
    found = behind.run("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", limits=LITTLE)
    assert found.end == "wall_limit"


def test_the_first_process_can_be_neither_killed_nor_stopped(behind: Behind) -> None:
    code = """
import os, signal, time
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
    try:
        os.kill(os.getppid(), number)
    except OSError:
        pass
time.sleep(0.2)
print("still there")
"""
    found = behind.run(code)
    assert (found.end, found.exit_code, found.stdout) == ("exited", 0, b"still there\n")


@pytest.mark.parametrize("number", [3, 4, 5, 6, 7, 8, 9, 10])
def test_the_report_can_not_be_forged(behind: Behind, number: int) -> None:
    code = f"""
import os
try:
    os.write({number}, b"E" + b"\\0" * 60)
except OSError as refused:
    print("CONTAINED")
"""
    assert behind.run(code).stdout == b"CONTAINED\n"


def test_a_crash_tells_its_signal(behind: Behind) -> None:
    found = behind.run("import ctypes\nctypes.string_at(0)")
    assert (found.end, found.signal, found.exit_code) == ("signalled", "SIGSEGV", None)


def test_an_exit_status_comes_back(behind: Behind) -> None:
    found = behind.run("raise SystemExit(7)")
    assert (found.end, found.exit_code, found.signal) == ("exited", 7, None)


def test_links_and_pipes_are_not_collected(behind: Behind) -> None:
    code = """
import os
os.symlink("/etc/passwd", "link")
os.mkfifo("pipe")
os.mkdir("deep")
open("deep/new", "w").write("new")
open("kept", "r+").write("KEPT")
try:
    os.utime("kept", (0, 0))
except PermissionError:  # behind walls that let nobody touch times
    pass
os.remove("gone")
os.mkdir("closed", 0)
"""
    files = {"kept": b"kept", "gone": b"", "same": b"same"}
    found = behind.run(code, files=files, collect=True)
    assert (found.end, found.stderr) == ("exited", b"")
    assert found.files == {"deep/new": b"new", "kept": b"KEPT"}


def test_a_folder_too_deep_for_a_path_is_cleared_away(behind: Behind) -> None:
    code = "import os\nfor _ in range(300):\n    os.mkdir('d' * 50)\n    os.chdir('d' * 50)\nprint('deep')"
    found = behind.run(code, collect=True)
    wanted = ("exited", "file_limit") if behind.walls == "landlock" else ("exited",)
    assert found.end in wanted


def test_no_socket_reaches_a_gateway_from_node(behind: Behind) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gateway:
        code = """
const net = require("net"), fs = require("fs");
try { fs.readFileSync("/etc/passwd"); console.log("ESCAPED"); } catch (e) { console.log(e.code); }
net.connect(+process.argv[2], "127.0.0.1").on("connect", () => console.log("ESCAPED"))
  .on("error", e => console.log(e.code));
"""
        found = behind.run(code, str(gateway.getsockname()[1]), language="javascript")
    assert b"ESCAPED" not in found.stdout
    assert found.stdout.splitlines()[0] in (b"ENOENT", b"EACCES"), found


@pytest.mark.parametrize(
    "code",
    [
        "const x = []; while (true) x.push(new Array(1e5).fill(0).map(Math.random))",
        "const x = []; while (true) x.push(Buffer.alloc(1 << 22, 1))",
    ],
    ids=["heap", "buffers"],
)
def test_a_memory_bomb_of_node(behind: Behind, code: str) -> None:
    found = behind.run(code, language="javascript", limits={"memory_mb": 256})
    assert found.end == "memory_limit" or b"allocation failed" in found.stderr, found


def test_node_runs(behind: Behind) -> None:
    code = """
const { test } = require("node:test"), fs = require("fs");
fs.writeFileSync("new", "1");
setTimeout(() => console.log(require("./part").x, fs.readFileSync(0, "utf8")), 5);
"""
    files = {"part.js": b"exports.x = 5"}
    found = behind.run(code, language="javascript", files=files, stdin=b"in", collect=True)
    assert (found.end, found.exit_code, found.stdout) == ("exited", 0, b"5 in\n"), found
    assert found.files == {"new": b"1"}
