"""The watcher on real processes: each way to end and to hang has its class."""

import signal
import socket
import subprocess
import sys
import threading

import pytest

from orchestrator.watch import Watcher
from tests.patience import PATIENCE_S, until
from tests.yard import GUARDED

pytestmark = pytest.mark.integration

SELF_ENDING = """
import os, threading, time
from server import serve
def end():
    while not os.path.exists("go"):
        time.sleep(0.02)
    {how}
if __name__ == "__main__":
    threading.Thread(target=end, daemon=True).start()
    serve()
"""
# Answers health, then closes its listener and lives on.
DEAF = """
import os, threading, time, http.server
from server import Handler
if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while not os.path.exists("go"):
        time.sleep(0.02)
    server.shutdown(); server.server_close()
    time.sleep(600)
"""
TWIN = """
import socket, sys
twin = socket.socket()
twin.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
twin.bind(("127.0.0.1", int(sys.argv[1])))
twin.listen()
print("up", flush=True)
sys.stdin.read()
"""
SHARING = GUARDED.replace(
    "    serve()",
    "    import server, http.server, socket\n"
    "    def bind(self):\n"
    # As servers do: the port may have been another test's, whose last connections still fade.
    "        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
    "        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)\n"
    "        self.socket.bind(self.server_address)\n"
    "        self.server_name, self.server_port = self.server_address\n"
    "    http.server.HTTPServer.server_bind = bind\n"
    "    serve()",
)


@pytest.fixture
def watch(yard):
    made = []

    def begin(started):
        noticed = threading.Event()
        watcher = Watcher(yard.machine, started, lambda _: noticed.set())
        made.append(watcher)
        return watcher, noticed

    yield begin
    for watcher in made:
        watcher.close()


def explained(watcher):
    """Ask until something is wrong."""
    return until(lambda: watcher.explain(None))


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGTERM, "gateway_killed"),
        (signal.SIGKILL, "gateway_killed"),
        (signal.SIGINT, "gateway_crash"),
        (signal.SIGABRT, "gateway_crash"),
    ],
)
def test_a_signal_is_noticed_with_its_number(yard, watch, number, name):
    # Python turns SIGINT into KeyboardInterrupt, then ends itself by SIGINT again.
    started = yard.start_script()
    watcher, noticed = watch(started)
    assert watcher.explain(None) is None
    started.held.send(number)
    assert noticed.wait(PATIENCE_S)
    end = watcher.exited()
    assert end.exit.signal == number
    expected = "gateway_killed" if number == signal.SIGINT else name
    assert end.incident_class == expected
    assert watcher.explain(None).incident_class == expected
    yard.stop(held=started.held)


@pytest.mark.parametrize(
    ("how", "code", "name"),
    [("os._exit(0)", 0, "gateway_stopped"), ("os._exit(1)", 1, "gateway_crash")],
)
def test_an_exit_by_itself_is_noticed_with_its_code(yard, watch, how, code, name):
    started = yard.start_script(SELF_ENDING.format(how=how))
    watcher, noticed = watch(started)
    (yard.worktree / "go").touch()
    assert noticed.wait(PATIENCE_S)
    end = watcher.exited()
    assert (end.exit.code, end.exit.signal, end.incident_class) == (code, None, name)
    yard.stop(held=started.held)


def test_a_suspended_gateway_is_told_apart_from_a_hung_one(yard, watch):
    started = yard.start_script()
    watcher, _ = watch(started)
    started.held.send(signal.SIGSTOP)
    trouble = explained(watcher)
    assert trouble.incident_class == "gateway_suspended"
    watcher.expect_end()
    yard.stop(held=started.held)


def test_alive_without_a_listener_is_draining_or_hung(yard, watch):
    started = yard.start_script(DEAF)
    watcher, _ = watch(started)
    (yard.worktree / "go").touch()
    trouble = explained(watcher)
    assert trouble.incident_class == "gateway_draining_or_hung"
    watcher.expect_end()
    yard.stop(held=started.held)


def test_a_twin_that_shares_the_port_took_it(yard, watch):
    started = yard.start_script(SHARING)
    watcher, _ = watch(started)
    assert watcher.explain(None) is None
    with subprocess.Popen(
        [sys.executable, "-c", TWIN, str(started.record.port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as twin:
        assert twin.stdout is not None
        twin.stdout.readline()
        trouble = watcher.explain(None)
        twin.communicate(timeout=PATIENCE_S)
    assert (trouble.incident_class, trouble.detail["pids"]) == ("port_taken", [twin.pid])
    watcher.expect_end()
    yard.stop(held=started.held)


def test_the_owner_of_one_connection_is_found_among_twins(yard):
    started = yard.start_script(SHARING)
    theirs = ("127.0.0.1", started.record.port)
    with socket.create_connection(theirs, timeout=PATIENCE_S) as connection:
        ours = connection.getsockname()
        owners = until(lambda: yard.machine.sockets.peers(ours, theirs, ()))
    assert owners == {started.held.pid}
    yard.stop(held=started.held)
