"""What answers is the started gateway, or the start fails: every known way to be fooled."""

import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from orchestrator.errors import NeverReady, PortTaken
from orchestrator.records import Instance
from tests.free_port import free_port
from tests.patience import PATIENCE_S
from tests.yard import GUARDED, Yard

pytestmark = pytest.mark.integration

QUICK = {"ready_timeout_s": 1.5}

# Listens beside others on one port, and answers as the gateway does.
TWIN = """
import http.server, socket, sys

def bind(self):
    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    self.socket.bind(self.server_address)
    self.server_name, self.server_port = self.server_address

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "16")
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}')

    def log_message(self, *words):
        pass

http.server.HTTPServer.server_bind = bind
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("up", flush=True)
server.serve_forever()
"""
# Waits for its twin before it listens itself, on the same port.
SHARING = """
import http.server, os, socket, subprocess, sys, time
import server

def bind(self):
    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    self.socket.bind(self.server_address)
    self.server_name, self.server_port = self.server_address

if __name__ == "__main__":
    http.server.HTTPServer.server_bind = bind
    open("port", "w").write(os.environ["PORT"])
    while not os.path.exists("twin"):
        time.sleep(0.02)
    server.serve()
"""
SIX = GUARDED.replace(
    "    serve()",
    "    import http.server, os, server, socket\n"
    "    http.server.ThreadingHTTPServer.address_family = socket.AF_INET6\n"
    "    http.server.ThreadingHTTPServer(\n"
    "        ('::1', int(os.environ['PORT'])), server.Handler).serve_forever()",
)
ANSWERS = """
import http.server, os

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = {body!r}.encode()
        self.send_response({status})
        self.send_header("location", "/login")
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
# Hands its listener to a child that never accepts, and dies.
HEIR = """
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
listener.set_inheritable(True)
if os.fork() == 0:
    print(listener.getsockname()[1], os.getpid(), flush=True)
    sys.stdout.close()
    os.close(1)
    time.sleep(600)
os._exit(0)
"""


@pytest.fixture
def elsewhere():
    made = Yard()
    yield made
    left = made.close()
    assert left == []


def fixed(yard, port):
    return replace(yard.request, port=port, is_port_fixed=True, **QUICK)


def test_the_gateway_of_another_worktree_is_not_taken_for_ours(yard, elsewhere):
    other = elsewhere.start_script()
    with pytest.raises(PortTaken) as caught:
        yard.start_script(request=fixed(yard, other.record.port))
    assert f"PID {other.held.pid}" in caught.value.message
    assert str(elsewhere.worktree) in caught.value.message
    assert yard.marked() == []
    elsewhere.stop(held=other.held)


def test_two_instances_of_one_worktree_are_told_apart(yard):
    first = yard.start_script()
    second = replace(
        yard.request, instance=Instance(worktree=yard.worktree, name="second"),
        run_id=yard.run_id + "2", port=first.record.port, is_port_fixed=True,
    )  # fmt: skip
    with pytest.raises(PortTaken, match=f"PID {first.held.pid}"):
        yard.start_script(request=second)
    yard.stop(held=first.held)


def test_a_port_that_another_server_shares_is_not_ours_whoever_answers(yard):
    yard.write("dist/serve.py", SHARING)
    twins: list[subprocess.Popen[bytes]] = []

    class Facts:
        """Lets the twin come up between our look at the port and the gateway's bind."""

        def __getattr__(self, name):
            return getattr(real, name)

        def build(self, worktree, entry):
            twin = subprocess.Popen(
                [sys.executable, "-c", TWIN, str(request.port)], stdout=subprocess.PIPE
            )
            assert twin.stdout is not None
            twin.stdout.readline()
            twins.append(twin)
            yard.write("twin", "")
            return real.build(worktree, entry)

    real = yard.machine.facts
    yard.machine = replace(yard.machine, facts=Facts())
    request = replace(yard.request, port=free_port(), is_port_fixed=True)
    yard.give_up_once_answered()
    with pytest.raises(NeverReady) as caught:
        yard.start(sys.executable, "dist/serve.py", request=request)
    (twin,) = twins
    twin.kill()
    twin.communicate()
    assert f"another process than ours: PID {twin.pid}" in caught.value.message or (
        f"another process than ours listens on the same port: PID {twin.pid}"
        in caught.value.message
    )


def test_a_server_on_the_other_loopback_is_not_ready(yard):
    with socket.socket(socket.AF_INET6) as trial:
        try:
            trial.bind(("::1", 0))
        except OSError:
            pytest.skip("no ::1 here")
    with pytest.raises(NeverReady, match="connection refused"):
        yard.start_script(SIX, request=replace(yard.request, **QUICK))


def test_a_listener_whose_owner_is_dead_is_named_by_who_inherited_it(yard):
    parent = subprocess.Popen([sys.executable, "-c", HEIR], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert select.select([parent.stdout], [], [], PATIENCE_S)[0]
    port, heir = (int(word) for word in parent.stdout.readline().split())
    parent.communicate(timeout=PATIENCE_S)
    try:
        # A connection is taken by the kernel: that proves nothing.
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S).close()
        with pytest.raises(PortTaken, match=f"PID {heir}"):
            yard.start_script(request=fixed(yard, port))
    finally:
        os.kill(heir, signal.SIGKILL)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        pytest.param(302, "", "HTTP 302 instead of 200", id="a redirect"),
        pytest.param(401, "no", "HTTP 401 instead of 200", id="locked"),
        pytest.param(404, "no", "HTTP 404 instead of 200", id="nothing there"),
        pytest.param(
            200, "\n<!DOCTYPE html><title>App</title>",
            "HTTP 200 with a web page instead of a health answer", id="a page for every path",
        ),
    ],
)  # fmt: skip
def test_an_answer_that_is_no_health_is_not_ready(yard, status, body, said):
    text = ANSWERS.format(status=status, body=body)
    yard.give_up_once_answered()
    with pytest.raises(NeverReady) as caught:
        yard.start_script(text)
    assert said in caught.value.message
