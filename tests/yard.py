"""A place to start real gateways in, which proves at the end that none of them is left."""

import os
import shutil
import signal
import sys
import tempfile
import threading
import uuid
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from orchestrator import system
from orchestrator.entry import read_command
from orchestrator.lifecycle import Launch, Machine, Started, StartRequest, Stopped
from orchestrator.ports import HealthAnswer, HealthQuestion, ProcessInfo
from orchestrator.readiness import HealthCheck
from orchestrator.records import Instance
from orchestrator.starting import start
from orchestrator.stopping import stop
from tests.patience import PATIENCE_S
from tests.untraced import untraced

NODE = shutil.which("node")

SERVER = """
import http.server, os, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"status": "ok"}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

def serve(port=None):
    address = ("127.0.0.1", port or int(os.environ["PORT"]))
    http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""
"""A module `server` that scripts import from beside them; so the import path is tested too."""

GUARDED = "from server import serve\nif __name__ == '__main__':\n    serve()\n"


class OnceAnswered:
    """The probe and the clock of a start whose time is over once something has answered.

    A limit in seconds is too short for a busy machine, or makes every other wait for all of it.
    """

    def __init__(self, machine: Machine) -> None:
        self._probe, self._clock = machine.probe, machine.clock
        self._answered = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clock, name)

    def ask(self, question: HealthQuestion, pids: Collection[int]) -> HealthAnswer:
        answer = self._probe.ask(question, pids)
        if answer.status is not None:
            self._answered.set()
        return answer

    def now_ns(self) -> int:
        over = int(PATIENCE_S * 1e9) if self._answered.is_set() else 0
        return self._clock.now_ns() + over


class Yard:
    """A worktree whose every name is one that people kill by, and a quiet state folder."""

    def __init__(self) -> None:
        # Not pytest's folder: it holds the test's name, and with it words like "gateway".
        self.root = Path(tempfile.mkdtemp(prefix="y")).resolve()
        self.worktree = self.root / "shop-gateway"
        (self.worktree / "dist").mkdir(parents=True)
        self.machine = system.machine(self.root / "st")
        self.run_id = uuid.uuid4().hex
        self.instance = Instance(worktree=self.worktree, name="default")
        self.request = StartRequest(
            instance=self.instance,
            run_id=self.run_id,
            fingerprint={"command": "one"},
            ready_timeout_s=PATIENCE_S,
            settle_s=0.2,
        )
        self.held: list[Started] = []
        self.write("dist/server.py", SERVER)

    def write(self, name: str, text: str) -> Path:
        path = self.worktree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def give_up_once_answered(self) -> None:
        """Have a start wait for as long as it takes to hear something, and no longer."""
        heard = OnceAnswered(self.machine)
        self.machine = replace(self.machine, probe=heard, clock=heard)

    def launch(self, *command: str, **changes: Any) -> Launch:
        health = changes.pop("health", HealthCheck(path="/"))
        environment = changes.pop("environment", {})
        usual = Launch(
            program=read_command(command, self.worktree),
            folder=self.worktree,
            environment=untraced(os.environ),  # no line of ours runs in it
            health=health,
        )
        return replace(usual, environment={**usual.environment, **environment}, **changes)

    def start(self, *command: str, request: StartRequest | None = None, **changes) -> Started:
        def at(port: int) -> Launch:
            words = [word.replace("{port}", str(port)) for word in command]
            launch = self.launch(*words, **changes)
            return replace(launch, environment={**launch.environment, "PORT": str(port)})

        started = start(self.machine, request or self.request, at)
        self.held.append(started)
        return started

    def start_script(self, text: str = GUARDED, **changes) -> Started:
        self.write("dist/serve.py", text)
        return self.start(sys.executable, "dist/serve.py", **changes)

    def stop(self, **more: Any) -> Stopped:
        return stop(self.machine, self.instance, **more)

    def marked(self, *run_ids: str) -> list[ProcessInfo]:
        wanted = {self.run_id, *run_ids}
        return [
            one
            for one in self.machine.table.everyone()
            if one.marker in wanted and one.state != "zombie"
        ]

    def close(self) -> list[str]:
        """End what a test left, and say what that was."""
        left = self.marked()
        for one in left:
            held = self.machine.holder.hold(one.pid)
            if held is not None:
                seen = self.machine.table.look(one.pid)
                if isinstance(seen, ProcessInfo) and seen.identity == one.identity:
                    held.send(signal.SIGKILL)
                held.close()
        for started in self.held:
            started.held.close()
        shutil.rmtree(self.root)
        return [one.command for one in left]
