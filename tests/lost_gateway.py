"""A run whose gateway is lost in the middle, and what has to be told of it."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.command_line import CommandLine, Done
from tests.killable_gateway import SECRET, act, build_killable
from tests.patience import PATIENCE_S, until

MODEL = "sim-ttft100-itl20-n20"
RUNS = 12


class Scene:
    """One run of its own, in a folder whose name says nothing."""

    def __init__(self, *, url: str = "", upstream: str = "own") -> None:
        # Not pytest's folder: it holds the test's name.
        self.root = Path(tempfile.mkdtemp(prefix="y")).resolve()
        self.tree = build_killable(self.root / "tree", upstream=upstream, url=url)
        self.command = CommandLine(self.root / "home", self.tree, SECRET_KEY=SECRET)
        assert self.command("trust").code == 0

    def begin(self, group: Path | None = None) -> subprocess.Popen[str]:
        """Begin the run; in a control group from its first moment, if one is given."""
        words = ("--case", "fixed_output_stream", "--runs", str(RUNS), "--no-key")
        return self.command.begin("run", MODEL, *words, "--json", group=group)

    def lines(self) -> list[dict[str, Any]]:
        found = list(self.command.out.glob("*.jsonl"))
        # The last line may be half written.
        return [json.loads(one) for file in found for one in file.read_bytes().split(b"\n")[:-1]]

    def measured(self, job: subprocess.Popen[str], count: int = 4) -> None:
        def enough() -> bool:
            assert job.poll() is None, job.communicate()
            return len([one for one in self.lines() if one["type"] == "trial"]) >= count

        until(enough)

    def record(self, *, of_simulator: bool = False) -> dict[str, Any]:
        (found,) = (
            one
            for one in self.command.records()
            if one["name"].endswith("-upstream") is of_simulator
        )
        return found

    @property
    def pid(self) -> int:
        return int(self.record()["identity"]["pid"])

    def reports(self) -> dict[str, str]:
        return {
            one.name.removeprefix(one.stem.removesuffix("-timings")): one.read_text()
            for one in self.command.out.iterdir()
            if one.suffix in {".md", ".html"}
        }

    def close(self) -> None:
        assert self.command.records() == []
        assert self.command.leftovers() == []
        shutil.rmtree(self.root)


def sending(number: int) -> Callable[[Scene, subprocess.Popen[str]], None]:
    return lambda scene, _job: os.kill(scene.pid, number)


def doing(what: str) -> Callable[[Scene, subprocess.Popen[str]], None]:
    return lambda scene, _job: act(scene.tree, scene.pid, what)


STRANGER = """
import http.server, socket, sys

class Server(http.server.HTTPServer):
    def server_bind(self):
        while True:
            try:
                return super().server_bind()
            except OSError:
                pass

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"choices": [{"index": 0, "message": {"content": "of a stranger"}, "finish_reason": "stop"}]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

print("waits", flush=True)
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
open("taken", "w").close()
server.serve_forever()
"""


def let_a_stranger_wait(scene: Scene, job: subprocess.Popen[str]) -> None:
    """Have somebody wait for the gateway's port, who ends with the job."""
    until(lambda: scene.lines() or job.poll() is not None)
    stranger = subprocess.Popen(
        [sys.executable, "-c", STRANGER, str(scene.record()["port"])],
        cwd=scene.tree,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert stranger.stdout is not None
    stranger.stdout.readline()

    def leave() -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            job.wait(PATIENCE_S)
        stranger.kill()
        stranger.communicate()

    threading.Thread(target=leave).start()


class Unavailable:
    """Answers everything with 503, where a provider was."""

    def __init__(self, port: int) -> None:
        while True:
            try:
                self.socket = socket.create_server(("127.0.0.1", port))
                break
            except OSError:
                time.sleep(0.001)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection, contextlib.suppress(OSError):
                    connection.recv(1 << 20)
                    connection.sendall(
                        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n"
                        b"content-type: application/json\r\nconnection: close\r\n\r\n{}"
                    )

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


def bench_of(job: subprocess.Popen[str]) -> int:
    """Return the PID of the measuring process of a job."""
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    (found,) = (
        int(pid)
        for pid in children
        if b"\0-m\0bench\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    return found


def the_loss(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the one incident that ended the run; notes of a busy machine may lie beside it."""
    incidents = (one for one in records if one["type"] == "incident")
    (found,) = (one for one in incidents if one["class"].startswith(("gateway_", "port_")))
    return found


def origin_ns(records: list[dict[str, Any]]) -> float:
    """Return the monotonic reading at offset 0."""
    trial = next(
        one["trial"] for one in records if one["type"] == "trial" and one["trial"]["sentAtNs"]
    )
    return float(trial["sentAtNs"] - trial["startedOffsetMs"] * 1e6)


def check_nothing_was_sent_after_the_notice(records: list[dict[str, Any]]) -> None:
    incident = the_loss(records)
    place = records.index(incident)
    assert [one["type"] for one in records[place:] if one["type"] == "started"] == []
    begun = [
        origin_ns(records) + one["offsetMs"] * 1e6 for one in records if one["type"] == "started"
    ]
    assert max(begun) < incident["noticedNs"]


def check_touched_trials(records: list[dict[str, Any]], told: dict[str, Any], document) -> None:
    """What the incident touched is marked, counted, and in no figure."""
    incident = the_loss(records)
    touched = {one["id"] for one in document["trials"] if one["invalidated"]}
    assert touched == set(incident["touchedTrials"])
    whole = [one for one in document["trials"] if not one["invalidated"] and not one["warmup"]]
    since_ms = ((incident["sinceNs"] or incident["atNs"]) - origin_ns(records)) / 1e6
    assert all(one["finishedOffsetMs"] <= since_ms for one in whole)
    assert all(one["response"]["error"] is None for one in whole)
    (summary,) = document["summary"]["targets"]
    blocks = [summary["performance"][kind] for kind in ("warm", "cold")]
    figures = [block["totalMs"]["count"] for block in blocks if block and block["totalMs"]]
    assert told["done"] == len(whole) == sum(figures)
    assert summary["reliability"]["successRate"] == 1
    assert len(document["notRun"]) == RUNS + 1 - len(document["trials"])


def check_every_report_opens_with_it(scene: Scene, done: Done, says: str) -> None:
    reports = scene.reports()
    assert set(reports) == {".md", "-timings.md", ".html"}
    for name, text in reports.items():
        top = text[: text.index("<table") if name == ".html" else text.index("\n# ")]
        assert says in top, name
    lines = done.err.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("INCOMPLETE"))
    paragraph = " ".join(line.strip() for line in lines[first + 1 : first + 4])
    assert says in paragraph
    assert paragraph.startswith("!! ")
