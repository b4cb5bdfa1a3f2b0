"""Real gateways: renamed, detached, proven ours, or one clear error and nothing left."""

import errno
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.errors import (
    DiedBeforeReady,
    ExecFailed,
    NeverReady,
    NotStarted,
    PortTaken,
    StartUnderWay,
)
from orchestrator.exposure import exposed, patterns_for
from orchestrator.lifecycle import find, session_of
from orchestrator.readiness import HealthCheck
from tests.free_port import free_port
from tests.patience import PATIENCE_S
from tests.yard import GUARDED, NODE

pytestmark = pytest.mark.integration
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

QUICK = {"ready_timeout_s": 1.5, "settle_s": 0.1}


def ask(started, path="/"):
    connection = http.client.HTTPConnection("127.0.0.1", started.record.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def hits(yard, started):
    patterns = patterns_for(
        entry=yard.worktree / "dist/serve.js", worktree=yard.worktree, more=("serve.py",)
    )
    session = session_of(yard.machine, started.record.identity, started.record.run_id)
    assert session
    return exposed(session, patterns)


def test_a_guarded_python_script_runs_as_main_and_shows_nothing(yard):
    started = yard.start_script()
    assert json.loads(ask(started)) == {"status": "ok"}
    assert started.record.entry_mode == "shim"
    assert started.record.exposure == ()
    assert hits(yard, started) == ()
    assert yard.machine.table.look(started.held.pid).argv[0] == "python3"
    assert not yard.stop(held=started.held).was_down


ECHO = """
import json, os, sys
from server import Handler, serve
words = {"argv": sys.argv, "name": __name__, "file": __file__, "path": sys.path[0],
         "prefix": sys.prefix, "executable": sys.executable}
def do_GET(self):
    body = json.dumps(words).encode()
    self.send_response(200)
    self.send_header("content-length", str(len(body)))
    self.end_headers()
    self.wfile.write(body)
Handler.do_GET = do_GET
if __name__ == "__main__":
    serve()
"""


def test_a_python_script_sees_itself_its_arguments_and_its_environment(yard):
    entry = yard.write("dist/serve.py", ECHO)
    started = yard.start(sys.executable, "dist/serve.py", "--for", "gateway")
    seen = json.loads(ask(started))
    assert seen["argv"] == [str(entry), "--for", "gateway"]
    assert (seen["name"], seen["file"], seen["path"]) == ("__main__", str(entry), str(entry.parent))
    assert seen["prefix"] == sys.prefix
    assert Path(seen["executable"]).parent == Path(sys.executable).parent
    yard.stop(held=started.held)


def test_words_and_bytes_of_every_kind_reach_the_gateway(yard):
    odd = ["zwölf €", "a'b\"c\\d", "two\nlines", os.fsdecode(b"\xff\xfe")]
    script = ECHO.replace('"prefix"', '"odd": os.environ["ODD"], "prefix"')
    yard.write("dist/serve.py", script)
    started = yard.start(
        sys.executable, "dist/serve.py", *odd[:3], environment={"ODD": odd[3] + odd[0]}
    )
    seen = json.loads(ask(started))
    assert seen["argv"][1:] == odd[:3]
    assert seen["odd"] == odd[3] + odd[0]
    yard.stop(held=started.held)


def test_a_python_module_runs_as_main_from_its_folder(yard):
    yard.write("dist/__init__.py", "")
    yard.write("dist/gateway.py", ECHO.replace("from server", "from dist.server"))
    started = yard.start(sys.executable, "-m", "dist.gateway", "x")
    seen = json.loads(ask(started))
    assert seen["argv"] == [str(yard.worktree / "dist/gateway.py"), "x"]
    assert (seen["name"], seen["path"]) == ("__main__", str(yard.worktree))
    assert hits(yard, started) == ()
    yard.stop(held=started.held)


NODE_SERVER = """
const answer = () => JSON.stringify({argv: process.argv.slice(1), url: import.meta.url});
export const serve = () =>
  createServer((request, response) => response.end(answer())).listen(
    Number(process.env.PORT), '127.0.0.1');
"""


@needs_node
def test_a_guarded_esm_build_with_chunks_runs_as_main_and_shows_nothing(yard):
    yard.write("package.json", '{"type": "module"}')
    yard.write("dist/chunk-1.js", "import { createServer } from 'node:http';" + NODE_SERVER)
    entry = yard.write(
        "dist/serve.js",
        "import { pathToFileURL } from 'node:url';\nimport { serve } from './chunk-1.js';\n"
        "if (import.meta.url === pathToFileURL(process.argv[1]).href) serve();\n",
    )
    started = yard.start("node", "dist/serve.js", "--name", "gateway")
    assert json.loads(ask(started))["argv"] == [str(entry), "--name", "gateway"]
    assert hits(yard, started) == ()
    ended = yard.stop(held=started.held).ending
    assert ended is not None
    assert ended.exit.signal == signal.SIGTERM


@needs_node
def test_a_guarded_cjs_cluster_starts_its_workers_through_the_shim(yard):
    yard.write(
        "dist/serve.cjs",
        "const cluster = require('node:cluster'), http = require('node:http');\n"
        "if (require.main === module) {\n"
        "  if (cluster.isPrimary) cluster.fork();\n"
        "  else http.createServer((q, r) => r.end(JSON.stringify(process.argv.slice(2))))\n"
        "    .listen(Number(process.env.PORT), '127.0.0.1');\n"
        "}\n",
    )
    started = yard.start("node", "dist/serve.cjs", "--for", "gateway")
    assert json.loads(ask(started)) == ["--for", "gateway"]
    assert len(started.record.members) == 2
    assert hits(yard, started) == ()
    yard.stop(held=started.held)


@needs_node
def test_an_uncaught_error_of_node_reaches_the_caller_with_status_and_log(yard):
    yard.write("dist/serve.cjs", "throw new Error('boom at start');\n")
    with pytest.raises(DiedBeforeReady, match="exited with status 1") as caught:
        yard.start("node", "dist/serve.cjs")
    assert any("boom at start" in line for line in caught.value.tail)


@needs_node
@pytest.mark.parametrize("mode", ["import", "link"])
def test_a_file_beside_the_entry_is_gone_after_the_stop(yard, mode):
    yard.write("package.json", '{"type": "module"}')
    yard.write(
        "dist/serve.js", "import { createServer } from 'node:http';" + NODE_SERVER + "serve();"
    )
    dist = yard.worktree / "dist"
    before = sorted(dist.iterdir())
    started = yard.start("node", "dist/serve.js", entry_mode=mode)
    assert len(list(dist.iterdir())) == len(before) + 1
    # The folder stays on the command line in these modes: that is on record.
    assert [one.pid for one in started.record.exposure] == [started.held.pid]
    yard.stop(held=started.held)
    assert sorted(dist.iterdir()) == before


@needs_node
def test_a_file_that_is_not_ours_is_not_overwritten(yard):
    yard.write("dist/serve.js", "1;\n")
    theirs = yard.write("dist/bench-serve.js", "theirs\n")
    with pytest.raises(NotStarted, match="was not written by this program"):
        yard.start("node", "dist/serve.js", entry_mode="import")
    assert theirs.read_text() == "theirs\n"


@needs_node
def test_the_trial_of_a_node_is_made_once_and_kept(yard):
    node = Path(NODE or "")
    assert yard.machine.facts.runs_main(node)
    (kept,) = (yard.root / "st").glob("*.node")
    kept.write_bytes(b"false\n")
    assert not yard.machine.facts.runs_main(node)


@needs_node
def test_an_imported_entry_runs_too_where_the_trial_failed(yard):
    yard.machine.facts.runs_main(Path(NODE or ""))
    next((yard.root / "st").glob("*.node")).write_bytes(b"false\n")
    yard.write("package.json", '{"type": "module"}')
    yard.write(
        "dist/serve.js", "import { createServer } from 'node:http';" + NODE_SERVER + "serve();"
    )
    started = yard.start("node", "dist/serve.js")
    assert started.record.entry_mode == "shim-import"
    assert hits(yard, started) == ()
    yard.stop(held=started.held)


@linux_only
def test_a_gateway_is_cut_loose_from_everything_of_ours(yard):
    ours, theirs = os.pipe()
    os.set_inheritable(theirs, True)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        started = yard.start_script()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        os.close(ours)
        os.close(theirs)
    pid = started.held.pid
    seen = yard.machine.table.look(pid)
    assert (seen.session, seen.group, seen.has_terminal) == (pid, pid, False)
    assert seen.parent == started.record.adopter.pid
    targets = {int(fd.name): str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir()}
    assert targets[0] == "/dev/null"
    assert targets[1] == targets[2] == started.record.log
    assert all(target.startswith("socket:") for fd, target in targets.items() if fd > 2)
    status = Path(f"/proc/{pid}/status").read_text()
    masks = {line.split(":")[0]: line.split()[1] for line in status.splitlines() if "Sig" in line}
    assert int(masks["SigBlk"], 16) == 0
    # Python itself ignores SIGPIPE (13) and SIGXFSZ (25); nothing else is inherited as ignored.
    assert int(masks["SigIgn"], 16) & ~(1 << 12 | 1 << 24) == 0
    log = Path(started.record.log)
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700
    yard.stop(held=started.held)


SUBREAPER = """
import ctypes, sys
from pathlib import Path
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
from tests.yard import Yard
from orchestrator.errors import NotDetached
yard = Yard()
try:
    yard.start_script()
except NotDetached as error:
    print(error.message)
print(yard.close())
"""


@linux_only
def test_a_launcher_that_would_adopt_the_gateway_itself_is_told_so():
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", SUBREAPER],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    said, left = done.stdout.splitlines()
    assert said.startswith("the gateway would be adopted by PID ")
    assert left == "[]"


def test_an_early_death_gives_status_signal_and_the_masked_end_of_the_log(yard):
    with pytest.raises(DiedBeforeReady, match="exited with status 3") as caught:
        yard.start_script(
            "print('key topsecretvalue'); raise SystemExit(3)", secrets=("topsecretvalue",)
        )
    assert caught.value.tail == ("key ***",)
    with pytest.raises(DiedBeforeReady, match="was ended by SIGABRT"):
        yard.start_script("import os; os.abort()")
    assert find(yard.machine, yard.instance) is None


def test_ready_and_dies_is_not_ready(yard):
    dying = GUARDED.replace(
        "    serve()",
        "    import os, threading\n    threading.Timer(0.8, os._exit, [7]).start()\n    serve()",
    )
    with pytest.raises(DiedBeforeReady, match="exited with status 7"):
        yard.start_script(dying, request=replace(yard.request, settle_s=PATIENCE_S))


def test_never_ready_says_what_was_heard_and_leaves_nothing(yard):
    with pytest.raises(NeverReady, match="connection refused"):
        yard.start_script("import time; time.sleep(60)", request=replace(yard.request, **QUICK))
    assert yard.marked() == []


def test_health_that_answers_otherwise_is_not_ready(yard):
    check = HealthCheck(path="/", field="status", equals="up")
    yard.give_up_once_answered()
    with pytest.raises(NeverReady, match="`status` is ok, not up"):
        yard.start_script(health=check)


@pytest.mark.parametrize(
    ("command", "changes", "number"),
    [
        pytest.param(("/bin/sh", "a\0b"), {}, errno.EINVAL, id="a zero byte"),
        pytest.param(("./broken",), {}, errno.ENOEXEC, id="no program"),
        pytest.param(
            ("/bin/sh", "-c", "exit"), {"folder": Path("/no/such")}, errno.ENOENT, id="cwd"
        ),
    ],
)
def test_a_refused_exec_is_an_error_with_errno_and_not_a_time_out(yard, command, changes, number):
    yard.write("broken", "\0\1\2").chmod(0o755)
    with pytest.raises(ExecFailed) as caught:
        yard.start(*command, **changes)
    assert caught.value.number == number


def test_a_log_that_is_a_link_is_not_followed(yard):
    yard.machine.state.write("x", b"")
    victim = yard.root / "victim"
    (yard.root / "st" / f"{yard.instance.id}.log").symlink_to(victim)
    with pytest.raises(ExecFailed, match="ELOOP"):
        yard.start_script()
    assert not victim.exists()


def listening(port=0):
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_a_busy_port_names_who_holds_it(yard):
    with listening() as server:
        port = server.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"PID {os.getpid()} .* since 20\d\d-"):
            yard.start_script(request=replace(yard.request, port=port, is_port_fixed=True))


def serve_ok(server, stop):
    """Answer 200 to everything, like an old server or a proxy that says yes to all."""
    server.settimeout(0.2)
    while not stop.is_set():
        with suppress(TimeoutError, ConnectionError):
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as lines:
                connection.settimeout(PATIENCE_S)
                while lines.readline().strip():
                    pass
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK")
    server.close()


@pytest.fixture
def answering():
    stop = threading.Event()
    threads = []

    def begin(server):
        threads.append(threading.Thread(target=serve_ok, args=(server, stop)))
        threads[-1].start()

    yield begin
    stop.set()
    for thread in threads:
        thread.join()


def test_a_proxy_in_the_environment_is_never_asked(yard, answering):
    proxy = listening()
    url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
    answering(proxy)
    os.environ["HTTP_PROXY"] = os.environ["http_proxy"] = url
    try:
        with pytest.raises(NeverReady, match="connection refused"):
            yard.start_script("import time; time.sleep(60)", request=replace(yard.request, **QUICK))
    finally:
        del os.environ["HTTP_PROXY"], os.environ["http_proxy"]


_ROBBED_ONCE = """
import os, pathlib, socket
from server import serve

robbed = pathlib.Path("robbed")
if __name__ == "__main__":
    if not robbed.exists():
        robbed.write_text(os.environ["PORT"])
        # Whoever has the port is gone as soon as we are.
        thief = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    serve()
"""


def test_a_port_whose_thief_is_gone_again_is_left_for_another_one(yard):
    started = yard.start_script(_ROBBED_ONCE)
    robbed = int((yard.worktree / "robbed").read_text())
    assert started.record.port != robbed
    yard.stop(held=started.held)


def test_a_fixed_port_whose_thief_is_gone_again_is_told_in_the_gateways_words(yard):
    request = replace(yard.request, port=free_port(), is_port_fixed=True)
    with pytest.raises(DiedBeforeReady) as caught:
        yard.start_script(_ROBBED_ONCE, request=request)
    assert any("Address already in use" in line for line in caught.value.tail)


def test_another_server_that_comes_up_on_the_port_is_not_taken_for_ours(yard, answering):
    def steal(port):
        answering(listening(port))

    yard.write("dist/idle.py", "import time; time.sleep(60)")
    thief = StealingFacts(yard.machine.facts, steal)
    yard.machine = replace(yard.machine, facts=thief)
    request = replace(yard.request, port=free_port(), is_port_fixed=True)
    thief.port = request.port
    yard.give_up_once_answered()
    with pytest.raises(NeverReady, match=f"another process than ours: PID {os.getpid()}"):
        yard.start(sys.executable, "dist/idle.py", request=request)


class StealingFacts:
    """Looks at the build, and lets another server take the port right then."""

    def __init__(self, real, steal):
        self._real, self._steal, self.port = real, steal, None

    def __getattr__(self, name):
        return getattr(self._real, name)

    def build(self, worktree, entry):
        self._steal(self.port)
        return self._real.build(worktree, entry)


def test_of_twenty_parallel_starts_one_starts_and_the_others_say_who_has_it(yard):
    yard.write("dist/serve.py", GUARDED)

    def one(_):
        try:
            return yard.start(sys.executable, "dist/serve.py")
        except StartUnderWay as refused:
            return refused

    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(one, range(20)))
    fresh = [one for one in results if not isinstance(one, StartUnderWay) and not one.was_up]
    refused = [one for one in results if isinstance(one, StartUnderWay)]
    assert len(fresh) == 1
    assert all(f"PID {os.getpid()} since" in one.message for one in refused)
    assert len(yard.marked()) == 1
    yard.stop()


def test_starting_again_says_that_it_is_up(yard):
    first = yard.start_script()
    again = yard.start_script()
    assert again.was_up
    assert again.record == first.record
    assert again.events[0].detail == {"fault": None}
    yard.stop()


def test_a_native_command_runs_directly(yard):
    yard.write("serve.sh", f"#!/bin/sh\ncd dist && exec {sys.executable} serve.py\n").chmod(0o755)
    yard.write("dist/serve.py", GUARDED)
    started = yard.start("./serve.sh")
    assert started.record.entry_mode == "direct"
    assert [one.pid for one in started.record.exposure] == [started.held.pid]
    yard.stop(held=started.held)


def test_a_console_script_is_started_behind_a_shim(yard):
    script = yard.write("dist/gateway", f"#!{sys.executable}\n{GUARDED}")
    script.chmod(0o755)
    started = yard.start(str(script))
    assert started.record.entry_mode == "shim"
    assert hits(yard, started) == ()
    yard.stop(held=started.held)
