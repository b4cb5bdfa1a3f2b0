"""The adapters against the real system."""

import errno
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from orchestrator.errors import NotStarted, StateUnusable
from orchestrator.identity import Match, matches
from orchestrator.ports import Absence, Build, HealthQuestion, ProcessInfo, SpawnOrder
from orchestrator.records import LOG_LIMIT_BYTES
from orchestrator.system import state_root
from orchestrator.system.checked import CheckedHeld
from orchestrator.system.facts import DiskFacts
from orchestrator.system.health import SocketProbe
from orchestrator.system.logfile import DiskLog
from orchestrator.system.mac_processes import MacTable
from orchestrator.system.mac_sockets import MacSockets
from orchestrator.system.pidfd import LinuxHolder, PidfdHeld, _count, memory_file
from orchestrator.system.procfs import ProcfsTable, read_stat
from orchestrator.system.sockets import LinuxSockets
from orchestrator.system.spawn import HelperSpawner, _answer, _helper
from orchestrator.system.state import DiskState
from tests.free_port import free_port
from tests.patience import PATIENCE_S, until

pytestmark = pytest.mark.integration
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
BOOT = "a-boot"


@pytest.fixture
def child():
    with subprocess.Popen(
        [sys.executable, "-c", "input()"],
        stdin=subprocess.PIPE,
        env={**os.environ, "GWB_RUN": "a-mark"},
        start_new_session=True,
    ) as process:
        yield process
        process.kill()


def look_until(table, pid, wanted):
    def as_wanted():
        seen = table.look(pid)
        return seen if isinstance(seen, ProcessInfo) and wanted(seen) else None

    return until(as_wanted)


@linux_only
def test_the_table_sees_identity_marker_command_and_folder(child):
    table = ProcfsTable()
    seen = look_until(table, child.pid, lambda one: one.marker == "a-mark" and one.argv)
    assert seen.argv == (sys.executable, "-c", "input()")
    assert seen.folder == os.getcwd()  # noqa: PTH109  # the kernel's own text
    assert (seen.parent, seen.session, seen.group) == (os.getpid(), child.pid, child.pid)
    assert seen.user == os.geteuid()
    assert seen.age_s is not None
    assert seen.age_s < 600
    again = table.look(child.pid)
    assert isinstance(again, ProcessInfo)
    assert matches(seen.identity, again.identity) is Match.SAME
    assert child.pid in {one.pid for one in table.everyone()}
    assert table.ourselves().pid == os.getpid()


@linux_only
def test_a_zombie_is_seen_as_one_and_a_reaped_process_is_gone():
    table = ProcfsTable()
    process = subprocess.Popen([sys.executable, "-c", ""])
    assert look_until(table, process.pid, lambda one: one.state == "zombie")
    process.wait()
    assert table.look(process.pid) is Absence.GONE


@linux_only
@pytest.mark.parametrize("is_reaped", [False, True], ids=["zombie", "reaped"])
def test_the_status_of_a_process_is_known_before_and_after_it_is_reaped(child, is_reaped):
    held = LinuxHolder(ProcfsTable()).hold(child.pid)
    assert held is not None
    assert not held.ended(0)
    assert held.send(signal.SIGKILL, group=True)
    assert held.ended(PATIENCE_S)
    if is_reaped:
        child.wait()
    end = held.exit()
    if end.source == "unknown":
        pytest.skip("this kernel does not tell")
    assert end.signal == signal.SIGKILL
    if is_reaped:
        assert not held.send(signal.SIGTERM)
    held.close()
    held.close()


@linux_only
def test_what_is_gone_is_not_held():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert LinuxHolder(ProcfsTable()).hold(process.pid) is None


@linux_only
@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (OSError(errno.EINVAL, "no task"), type(None)),
        (PermissionError(errno.EPERM, "sandbox"), CheckedHeld),
    ],
)
def test_a_refused_pidfd_is_gone_or_compared(child, refusal, kind):
    def refuse(pid):
        raise refusal

    assert isinstance(LinuxHolder(ProcfsTable(), refuse).hold(child.pid), kind)


@linux_only
def test_an_older_kernel_signals_the_group_only_while_its_leader_is_there(child):
    held = LinuxHolder(ProcfsTable()).hold(child.pid)
    assert isinstance(held, PidfdHeld)
    assert held._of_kernel() is None
    assert held._of_zombie() is None
    assert held._send_to_group(signal.SIGTERM)
    child.wait()
    assert not held._send_to_group(signal.SIGTERM)
    held.close()


ORDER = SpawnOrder(
    executable=Path("/bin/sh"),
    argv=("sh", "-c", "exit 5"),
    environment={"PATH": "/bin"},
    folder=Path("/"),
    log=Path("/dev/null"),
)


def test_an_interrupted_start_executes_nothing():
    table = ProcfsTable()
    births = []

    def interrupted():
        with HelperSpawner(table).spawn(ORDER) as birth:
            births.append(birth)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    def has_ended():
        seen = table.look(births[0].pid)
        return isinstance(seen, Absence) or seen.state == "zombie"

    until(has_ended, so_far=lambda: "the forked process waits for ever")


def test_a_helper_that_breaks_says_so():
    with pytest.raises(NotStarted, match="KeyError"), _helper({}, keep=()) as helper:
        _answer(helper)


def test_the_helpers_own_part_can_be_called():
    code = "from orchestrator.system import detach; detach.main({'do': 'adopter'})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE_S
    )
    assert json.loads(done.stdout)["pid"] >= 0


def test_the_helper_reports_pid_and_refusal(tmp_path):
    code = (
        "import os, json, sys; from orchestrator.system import detach\n"
        "heard, word = os.pipe(); os.write(word, b'g')\n"
        "detach.main({'do': 'spawn', 'go': heard, **json.loads(sys.argv[1])})"
    )
    order = {
        "executable": str(tmp_path / "missing"),
        "argv": ["missing"],
        "environment": {},
        "folder": str(tmp_path),
        "log": str(tmp_path / "log"),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(order)], capture_output=True, check=True, timeout=60
    )
    born, refused = (json.loads(line) for line in done.stdout.splitlines())
    assert born["pid"] > 1
    assert (refused["step"], refused["errno"]) == ("execve", errno.ENOENT)


@linux_only
def test_a_process_that_is_gone_is_counted_on_the_whole_machine():
    path, word = memory_file(2**22 + 1)
    assert (path, word) == (Path("/proc/vmstat"), "oom_kill")
    assert _count(Path("/no/such/file"), word) is None
    assert _count(path, "no such word") is None


@linux_only
def test_memory_kills_are_counted_somewhere():
    count = LinuxHolder(ProcfsTable()).memory_counter(os.getpid())()
    assert count is None or count >= 0


@linux_only
def test_comparing_holds_and_signals_a_real_process(child):
    table = ProcfsTable()
    seen = table.look(child.pid)
    assert isinstance(seen, ProcessInfo)
    held = CheckedHeld(seen, table.look)
    assert not held.ended(0)
    assert held.send(signal.SIGTERM, group=True)
    assert held.ended(PATIENCE_S)
    assert not held.send(signal.SIGTERM)


class LibprocOfLinux:
    """Stands in for libproc where there is none, with the same bytes."""

    def __call__(self, pid):
        stat = read_stat(pid)
        if stat is None:
            return Absence.GONE
        numbers = [0, 5 if stat.state == "zombie" else 2, 0, pid, stat.parent, os.geteuid()]
        return struct.pack(
            "=12I16s32s5Ii2Q",
            *numbers,
            *[0] * 6,
            stat.name.encode()[:16],
            b"",
            0,
            stat.group,
            0,
            0,
            0,
            0,
            stat.start_ticks,
            0,
        )


def test_the_mac_table_joins_libproc_and_psutil(child):
    table = MacTable(LibprocOfLinux(), BOOT)
    seen = look_until(table, child.pid, lambda one: one.marker == "a-mark" and one.argv)
    assert (seen.session, seen.has_terminal, seen.state) == (child.pid, False, "alive")
    assert seen.argv is not None
    assert seen.argv[1:] == ("-c", "input()")
    assert table.ourselves().boot_id == BOOT
    assert child.pid in {one.pid for one in table.everyone()}
    child.kill()
    child.wait()
    assert table.look(child.pid) is Absence.GONE


def test_the_mac_table_says_hidden_of_what_it_can_not_read():
    assert MacTable(lambda _: Absence.HIDDEN, BOOT).look(os.getpid()) is Absence.HIDDEN


@pytest.fixture(params=["linux", "mac"])
def sockets(request):
    if request.param == "mac":
        return MacSockets(MacTable(LibprocOfLinux(), BOOT))
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    return LinuxSockets()


def listening(port=0):
    server = socket.socket()
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_a_listener_has_an_address_and_an_owner(sockets):
    port = free_port()
    with listening(port):
        (found,) = sockets.listeners(port)
        assert (found.host, found.port) == ("127.0.0.1", port)
        assert os.getpid() in found.pids
        assert "something listens on 127.0.0.1" in (sockets.obstacle(port) or "")
    assert sockets.listeners(port) == ()
    assert sockets.obstacle(port) is None


def test_a_bound_port_without_listener_is_an_obstacle_too(sockets):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert "can't be bound" in (sockets.obstacle(bound.getsockname()[1]) or "")


def test_the_other_end_of_a_connection_has_an_owner(sockets):
    with listening() as server, socket.create_connection(server.getsockname()) as ours:
        accepted, _ = server.accept()
        with accepted:
            ends = ours.getsockname(), ours.getpeername()
            assert sockets.peers(*ends, (os.getpid(),)) == {os.getpid()}
            assert sockets.peers(*ends, ()) == {os.getpid()}
            assert sockets.peers(ends[0], ("127.0.0.1", 1), ()) == frozenset()


def test_the_ephemeral_range_begins_somewhere(sockets):
    assert 1024 < sockets.ephemeral_floor() < 65_536


@linux_only
def test_a_connection_that_nobody_accepted_has_no_owner():
    with listening() as server, socket.create_connection(server.getsockname()) as ours:
        assert LinuxSockets().peers(ours.getsockname(), ours.getpeername(), ()) == frozenset()


@pytest.fixture
def talk():
    """Serve one connection with given bytes after a whole request."""
    threads = []

    def serve(*parts, close=True):
        server = listening()

        def run():
            connection, _ = server.accept()
            lines = connection.makefile("rb")
            # Whoever asked may hang up in the middle.
            with server, connection, lines, suppress(ConnectionError):
                while lines.readline().strip():
                    pass
                for part in parts:
                    connection.sendall(part)
                if not close:
                    lines.read()

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return server.getsockname()[1]

    yield serve
    for thread in threads:
        thread.join()


def ask(port, peers=lambda *_: frozenset({7}), **more):
    question = HealthQuestion(
        host="127.0.0.1", port=port, path="/h", timeout_s=more.pop("timeout_s", 10), **more
    )
    return SocketProbe(peers).ask(question, ())


def test_an_answer_is_status_body_and_owner(talk):
    port = talk(b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 2\r\n\r\nOK")
    answer = ask(port, headers=(("x-a", "b"),))
    assert (answer.status, answer.body, answer.owners, answer.fault) == (302, "OK", {7}, None)


def test_a_body_that_never_ends_is_cut_by_time_and_size(talk):
    port = talk(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 70_000, close=False)
    assert len(ask(port).body) == 64 * 1024
    port = talk(b"HTTP/1.1 200 OK\r\n\r\nOK", close=False)
    assert ask(port, timeout_s=5.0).body == "OK"


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ((), "no HTTP answer (RemoteDisconnected)"),
        ((b"SSH-2.0\r\n",), "no HTTP answer (BadStatusLine)"),
    ],
)
def test_what_is_no_http_is_said_so(talk, parts, fault):
    answer = ask(talk(*parts))
    assert (answer.status, answer.fault) == (None, fault)


def test_a_refused_and_a_silent_port_are_told_apart(talk):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert ask(bound.getsockname()[1]).fault == "connection refused"
    assert ask(talk(close=False), timeout_s=0.3).fault == "no answer in 0.3 s"


def test_an_owner_that_never_shows_is_waited_for_only_so_long(talk):
    port = talk(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert ask(port, peers=lambda *_: frozenset()).owners == frozenset()


def test_an_address_that_can_not_be_reached_is_a_fault():
    question = HealthQuestion(host="256.0.0.1", port=1, path="/", timeout_s=1)
    assert SocketProbe(lambda *_: frozenset()).ask(question, ()).fault


def test_state_is_private_atomic_and_locked(tmp_path):
    state = DiskState(tmp_path / "a" / "st")
    assert state.read("x.json") is None
    assert state.names(".json") == ()
    state.write("x.json", b"1")
    state.write("x.json", b"2")
    assert state.read("x.json") == b"2"
    assert state.names(".json") == ("x.json",)
    assert (state.root / "x.json").stat().st_mode & 0o777 == 0o600
    assert state.root.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in state.root.iterdir()] == ["x.json"]
    state.remove("x.json")
    state.remove("x.json")
    lock = state.lock("x.lock", "we")
    assert state.lock("x.lock", "others") == "we"
    assert not isinstance(lock, str)
    lock.release()
    lock.release()
    assert (state.root / "x.lock").exists()
    assert not isinstance(state.lock("x.lock", "others"), str)


def test_what_is_no_file_holds_nothing_and_is_not_waited_for(tmp_path):
    state = DiskState(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    assert state.read("pipe.json") == b""
    assert state.read("folder.json") == b""
    assert state.read("nothing.json") is None


def test_a_folder_that_others_may_read_is_closed_to_them(tmp_path):
    tmp_path.chmod(0o755)
    DiskState(tmp_path).write("x", b"")
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_a_write_that_fails_leaves_nothing_half_done(tmp_path):
    state = DiskState(tmp_path)
    (tmp_path / "x").mkdir()
    with pytest.raises(StateUnusable, match=f"directory: `{tmp_path}/x`"):
        state.write("x", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_lock_dies_with_its_holder(tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from orchestrator.system.state import DiskState\n"
        "lock = DiskState(Path(sys.argv[1])).lock('x.lock', 'theirs')\n"
        "print(lock, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        state = DiskState(tmp_path)
        assert state.lock("x.lock", "ours") == "theirs"
        other.kill()
        other.wait()
        assert not isinstance(state.lock("x.lock", "ours"), str)


def test_a_log_has_an_end_for_people(tmp_path):
    path = tmp_path / "x.log"
    log = DiskLog()
    assert log.tail(path, 5) == ()
    path.write_text("\n".join(f"line {number}" for number in range(100)) + "\n\n\x1b[31mred\n")
    assert log.tail(path, 2) == ("line 99", "�[31mred")
    log.begin(path)
    assert not path.exists()
    log.begin(path)
    assert (tmp_path / "x.log.1").exists()


def test_of_a_very_large_log_only_the_end_is_put_aside(tmp_path):
    path = tmp_path / "x.log"
    with path.open("wb") as file:
        file.truncate(LOG_LIMIT_BYTES)
        file.seek(0, 2)
        file.write(b"the end")
    DiskLog().begin(path)
    assert path.stat().st_size == 0
    kept = (tmp_path / "x.log.1").read_bytes()
    assert (len(kept), kept[-7:]) == (1024 * 1024, b"the end")


def test_a_log_over_its_limit_is_emptied_in_place_without_a_hole(tmp_path):
    path = tmp_path / "x.log"
    log = DiskLog()
    assert not log.guard(path, 10)
    with path.open("ab", buffering=0) as written:
        written.write(b"a" * 3_000_000 + b"end")
        assert not log.guard(path, 5_000_000)
        assert log.guard(path, 1_000_000)
        written.write(b"after")
    assert path.read_bytes() == b"after"
    kept = (tmp_path / "x.log.1").read_bytes()
    assert (len(kept), kept[-4:]) == (1024 * 1024, b"aend")


@pytest.fixture
def facts(tmp_path):
    return DiskFacts(DiskState(tmp_path / "st"))


def test_programs_are_found_as_a_shell_would(facts, tmp_path):
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    assert facts.program("./tool", search_path="", folder=tmp_path) is None
    tool.chmod(0o755)
    assert facts.program("./tool", search_path="", folder=tmp_path) == tool
    assert facts.program("tool", search_path=str(tmp_path), folder=Path("/")) == tool
    assert facts.program("tool", search_path="/nowhere", folder=tmp_path) is None


def test_a_python_is_named_python3_where_that_is_the_same_one(facts, tmp_path):
    for name in ("python3.11", "python3"):
        (tmp_path / name).symlink_to(sys.executable)
    found = facts.program("python3.11", search_path=str(tmp_path), folder=Path("/"))
    assert found == tmp_path / "python3"
    (tmp_path / "python3").unlink()
    found = facts.program("python3.11", search_path=str(tmp_path), folder=Path("/"))
    assert found == tmp_path / "python3.11"


PNPM_WRAPPER = """#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")

if [ -z "$NODE_PATH" ]; then
  export NODE_PATH="/store/node_modules"
fi
if [ -x "$basedir/node" ]; then
  exec "$basedir/node" --flag "$basedir/../shop/cli.js" "$@"
else
  exec node --flag "$basedir/../shop/cli.js" "$@"
fi
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#!/venv/bin/python3\n", ("/venv/bin/python3", "s")),
        ("#!/usr/bin/env -S node --flag\n", ("node", "--flag", "s")),
        ("#!/bin/sh\n'''exec' \"/a b/python\" \"$0\" \"$@\"\n' '''\n", ("/a b/python", "s")),
        (PNPM_WRAPPER, ("node", "--flag", "shop/cli.js")),
        ("\x7fELF", ()),
        ("#!\n", ()),
    ],
)
def test_a_script_names_its_interpreter(facts, tmp_path, text, expected):
    script = tmp_path / "bin" / "s"
    script.parent.mkdir()
    script.write_text(text)
    files = {"s": str(script), "shop/cli.js": str(tmp_path / "shop/cli.js")}
    assert facts.script_of(script) == tuple(files.get(word, word) for word in expected)
    assert facts.script_of(tmp_path / "missing") == ()


def test_a_link_to_a_node_script_stands_for_the_file_behind_it(facts, tmp_path):
    (tmp_path / "cli.js").write_text("#!/usr/bin/env node\n")
    (tmp_path / "cli").symlink_to("cli.js")
    assert facts.script_of(tmp_path / "cli") == ("node", str((tmp_path / "cli.js").resolve()))


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(
        ["git", *identity, *words],  # noqa: S607  # the user's git
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_a_build_is_told_with_commit_tree_and_difference(facts, tmp_path):
    tree = tmp_path / "tree"
    (tree / "src").mkdir(parents=True)
    (tree / "dist").mkdir()
    entry = tree / "dist" / "serve.js"
    entry.write_text("built")
    source = tree / "src" / "a.ts"
    source.write_text("1")
    assert facts.build(tree, None) == Build()
    assert facts.build(tree, entry).entry_sha256
    (tree / ".gitignore").write_text("dist\n")
    git(tree, "init", "-b", "topic")
    git(tree, "add", ".")
    git(tree, "commit", "-m", "one")
    os.utime(source, (1, 1))
    clean = facts.build(tree, entry)
    assert (len(clean.commit or ""), len(clean.tree or ""), clean.branch) == (40, 40, "topic")
    assert (clean.is_dirty, clean.diff_sha256, clean.newer_source) == (False, None, None)
    source.write_text("2")
    os.utime(source, ns=(entry.stat().st_mtime_ns + 10**9,) * 2)
    changed = facts.build(tree, entry)
    assert changed.is_dirty
    assert changed.diff_sha256
    assert changed.newer_source == "src/a.ts"
    assert facts.build(tree, source).newer_source is None
    assert facts.build(tree, tmp_path / "elsewhere.js").newer_source is None
    package = tree / "node_modules" / "gateway" / "main.js"
    package.parent.mkdir(parents=True)
    package.write_text("// installed, not built here")
    os.utime(package, (1, 1))
    assert facts.build(tree, package).newer_source is None
    source.unlink()
    assert facts.build(tree, entry).newer_source is None


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        pytest.param(".venv/pyvenv.cfg", None, id="of-a-virtual-environment"),
        pytest.param(".venv/conda-meta/history", None, id="of-a-conda-environment"),
        pytest.param("pyvenv.cfg", "a.py", id="beside-an-environment"),
        pytest.param(".venv/notes.txt", "a.py", id="in-no-environment"),
    ],
)
def test_a_command_that_a_package_brought_is_older_than_no_source(facts, tmp_path, mark, expected):
    tree = tmp_path / "tree"
    command = tree / ".venv" / "bin" / "litellm"
    for path in (command, tree / mark, tree / "a.py"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tree / ".gitignore").write_text(".venv\npyvenv.cfg\n")
    git(tree, "init")
    git(tree, "add", ".")
    git(tree, "commit", "-m", "one")
    os.utime(command, (1, 1))
    linked = tree / "gateway"
    linked.symlink_to(command)
    told = [
        facts.build(folder, tree / entry).newer_source
        for folder in (tree, tree / ".venv")
        for entry in (command, linked)
    ]
    assert told == [expected] * 4


@pytest.mark.parametrize(
    ("platform", "usual"),
    [("linux", ".local/state/gwb"), ("darwin", "Library/Application Support/gwb")],
)
def test_state_lives_where_the_platform_says(platform, usual):
    def root(**environ):
        return str(state_root(environ, Path("/home/me"), platform))

    assert root(XDG_STATE_HOME="/x") == "/x/gwb"
    assert root() == root(XDG_STATE_HOME="x") == f"/home/me/{usual}"


def test_psutil_agrees_on_who_our_parent_is():
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    seen = ProcfsTable().look(os.getpid())
    assert isinstance(seen, ProcessInfo)
    assert seen.parent == psutil.Process().ppid()


def test_a_log_is_emptied_though_its_end_can_not_be_kept(tmp_path):
    path = tmp_path / "x.log"
    path.write_bytes(b"a" * 20)
    (tmp_path / "x.log.1").mkdir()
    assert DiskLog().guard(path, 10)
    assert path.read_bytes() == b""
    assert not DiskLog().guard(tmp_path, 0)
