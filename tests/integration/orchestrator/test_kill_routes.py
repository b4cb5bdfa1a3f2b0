"""Every way in which a gateway is lost in the middle of a run tells its own story."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import SAFETY_STOP_S, CommandLine, Done
from tests.killable_gateway import SECRET, act, build_killable
from tests.memory_limit import limited_memory, memory_group
from tests.simulator_process import running_simulator

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        shutil.which("node") is None and os.environ.get("CI") != "true",
        reason="needs Node 20 or newer; with CI=true its absence is a failure",
    ),
]

MODEL = "sim-ttft50-itl10-n20"
RUNS = 12
AT_ONCE = 4
"""Runs side by side: each mostly waits for its gateway."""


class Scene:
    """One run of its own, in a folder whose name says nothing."""

    def __init__(self, *, url: str = "", upstream: str = "own") -> None:
        # Not pytest's folder: it holds the test's name.
        self.root = Path(tempfile.mkdtemp(prefix="y")).resolve()
        self.tree = build_killable(self.root / "tree", upstream=upstream, url=url)
        self.command = CommandLine(self.root / "home", self.tree, SECRET_KEY=SECRET)
        assert self.command("trust").code == 0

    def begin(self, *more: str) -> subprocess.Popen[str]:
        words = ("--case", "fixed_output_stream", "--runs", str(RUNS), "--no-key", *more)
        return self.command.begin("run", MODEL, *words, "--json")

    def lines(self) -> list[dict[str, Any]]:
        found = list(self.command.out.glob("*.jsonl"))
        # The last line may be half written.
        return [json.loads(one) for file in found for one in file.read_bytes().split(b"\n")[:-1]]

    def measured(self, job: subprocess.Popen[str], count: int = 4) -> None:
        deadline = time.monotonic() + SAFETY_STOP_S
        while sum(one["type"] == "trial" for one in self.lines()) < count:
            assert job.poll() is None, job.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)

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


@dataclass(frozen=True)
class Route:
    """A way to lose the gateway, and the story that is told of it."""

    lose: Callable[[Scene, subprocess.Popen[str]], None]
    kind: str
    ends: dict[str, Any]
    """Of the gateway's process, as the result has it; a key that is not here is not asked."""
    says: str
    is_resumed: bool = False


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
server.serve_forever()
"""


def with_a_stranger(
    lose: Callable[[Scene, subprocess.Popen[str]], None],
) -> Callable[[Scene, subprocess.Popen[str]], None]:
    """Lose the gateway while somebody waits for its port; who ends with the job."""

    def route(scene: Scene, job: subprocess.Popen[str]) -> None:
        port = str(scene.record()["port"])
        stranger = subprocess.Popen(
            [sys.executable, "-c", STRANGER, port], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        assert stranger.stdout is not None
        stranger.stdout.readline()
        lose(scene, job)

        def leave() -> None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(SAFETY_STOP_S)
            stranger.kill()
            stranger.communicate()

        threading.Thread(target=leave).start()

    return route


ROUTES = {
    "sigterm": Route(
        sending(signal.SIGTERM), "gateway_killed", {"signal": 15}, "was ended by SIGTERM"
    ),
    "sigkill": Route(
        sending(signal.SIGKILL), "gateway_killed", {"signal": 9}, "was ended by SIGKILL", True
    ),
    "sigint": Route(sending(signal.SIGINT), "gateway_killed", {"signal": 2}, "was ended by SIGINT"),
    "abort": Route(doing("abort"), "gateway_crash", {"signal": 6}, "was ended by SIGABRT"),
    "uncaught error": Route(
        doing("throw"),
        "gateway_crash",
        {"code": 1, "signal": None},
        "exited with status 1 although nobody asked us to stop it, with the uncaught error",
    ),
    "exit 0": Route(doing("exit0"), "gateway_stopped", {"code": 0}, "exited with status 0"),
    "exit 1": Route(doing("exit1"), "gateway_crash", {"code": 1}, "exited with status 1"),
    "sigstop": Route(
        sending(signal.SIGSTOP), "gateway_suspended", {"signal": 15}, "is suspended", True
    ),
    "no listener": Route(
        doing("close"), "gateway_draining_or_hung", {}, "lives but no longer listens on port"
    ),
    "replaced": Route(
        with_a_stranger(sending(signal.SIGKILL)),
        "gateway_killed",
        {"signal": 9},
        "was ended by SIGKILL",
    ),
    "port taken": Route(with_a_stranger(doing("close")), "port_taken", {}, "answers on its port"),
}


@dataclass(frozen=True)
class Played:
    """How a route went."""

    scene: Scene
    lost_ns: int
    done: Done


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("s")) as running:
        yield running


@pytest.fixture(scope="module")
def plays(request, simulator):
    """Begin every selected route, a few side by side; each test waits for its own."""

    def play(route: Route) -> Played:
        scene = Scene(url=simulator.base_url)
        job = scene.begin()
        scene.measured(job)
        lost_ns = time.perf_counter_ns()
        route.lose(scene, job)
        return Played(scene, lost_ns, scene.command.end(job))

    wanted = {
        item.callspec.params["name"]
        for item in request.session.items
        if item.originalname == test_a_lost_gateway_tells_how.__name__
    }
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {name: pool.submit(play, ROUTES[name]) for name in ROUTES if name in wanted}


def the_only(records: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = (one for one in records if one["type"] == kind)
    return found


def origin_ns(records: list[dict[str, Any]]) -> float:
    """Return the monotonic reading at offset 0."""
    trial = next(
        one["trial"] for one in records if one["type"] == "trial" and one["trial"]["sentAtNs"]
    )
    return float(trial["sentAtNs"] - trial["startedOffsetMs"] * 1e6)


def check_nothing_was_sent_after_the_notice(records: list[dict[str, Any]]) -> None:
    incident = next(one for one in records if one["type"] == "incident")
    place = records.index(incident)
    assert [one["type"] for one in records[place:] if one["type"] == "started"] == []
    begun = [
        origin_ns(records) + one["offsetMs"] * 1e6 for one in records if one["type"] == "started"
    ]
    assert max(begun) < incident["noticedNs"]


def check_touched_trials(records: list[dict[str, Any]], told: dict[str, Any], document) -> None:
    """What the incident touched is marked, counted, and in no figure."""
    incident = next(one for one in records if one["type"] == "incident")
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


@pytest.mark.parametrize("name", list(ROUTES))
def test_a_lost_gateway_tells_how(name, plays: dict[str, Future[Played]]):
    route, played = ROUTES[name], plays[name].result()
    scene, done = played.scene, played.done
    assert (done.code, done.told["reason"], done.told["status"]) == (4, "gateway", "incomplete")
    records = scene.lines()
    incident = the_only(records, "incident")
    assert incident["incidentClass"] == route.kind
    assert route.says in incident["summary"]
    assert played.lost_ns <= incident["noticedNs"]
    assert incident["atNs"] <= incident["noticedNs"]
    assert {key: done.gateway["exit"][key] for key in route.ends} == route.ends
    check_nothing_was_sent_after_the_notice(records)
    document = json.loads(next(scene.command.out.glob("*.json")).read_bytes())
    check_touched_trials(records, done.told, document)
    check_every_report_opens_with_it(scene, done, route.says)
    everything = [one.read_text() for one in scene.command.out.iterdir()]
    assert not any(SECRET in text for text in (done.out, done.err, *everything))
    if route.is_resumed:
        resumed = scene.command("resume", done.told["files"][-1], "--json")
        assert (resumed.code, resumed.told["done"], resumed.told["status"]) == (0, RUNS, "done")
    scene.close()


def bench_of(job: subprocess.Popen[str]) -> int:
    """Return the PID of the measuring process of a job."""
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    (found,) = (
        int(pid)
        for pid in children
        if b"\0-m\0bench\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    return found


def test_a_kill_by_port_hits_the_client_too_and_both_are_told(simulator):
    scene = Scene(url=simulator.base_url)
    job = scene.begin()
    scene.measured(job)
    # `lsof -ti:PORT | xargs kill -9` names whoever is connected, servers and clients alike.
    for pid in (scene.pid, bench_of(job)):
        os.kill(pid, signal.SIGKILL)
    done = scene.command.end(job)
    assert (done.code, done.told["reason"]) == (4, "client_killed")
    records = scene.lines()
    assert {one["incidentClass"] for one in records if one["type"] == "incident"} == {
        "gateway_killed",
        "client_killed",
    }
    assert records[-1]["type"] == "footer"
    check_nothing_was_sent_after_the_notice(records)
    for text in scene.reports().values():
        assert "was ended by SIGKILL" in text
        assert "The measuring process was ended by SIGKILL" in text
    scene.close()


@pytest.mark.parametrize("way", ["killed", "answers 503"])
def test_a_provider_that_is_down_is_no_incident_of_the_gateway(way):
    scene = Scene(upstream="simulated")
    job = scene.begin()
    scene.measured(job)
    simulator = scene.record(of_simulator=True)
    os.kill(simulator["identity"]["pid"], signal.SIGKILL)
    instead = Unavailable(simulator["port"]) if way == "answers 503" else None
    done = scene.command.end(job)
    if instead is not None:
        instead.close()
    assert (done.code, done.told["reason"]) == (5, "provider_down")
    records = scene.lines()
    assert [one for one in records if one["type"] == "incident"] == []
    codes = {one["trial"]["response"]["error"]["code"] for one in records
             if one["type"] == "trial" and one["trial"]["response"]["error"]}  # fmt: skip
    assert (
        "http_503" in codes
        if way == "answers 503"
        else codes <= {"http_502", "stream_incomplete", "connect_reset"}
    )
    check_provider_is_named(scene, done)
    scene.close()


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


def check_provider_is_named(scene: Scene, done: Done) -> None:
    for name, text in scene.reports().items():
        top = text[: text.index("<table") if name == ".html" else text.index("\n# ")]
        assert f"The provider behind {MODEL} failed: the last " in top, name
        assert "The gateway was watched and lived" in top, name
    assert f"!! The provider behind {MODEL} failed: the last " in done.err
    assert "provider down" in done.told["headline"]
    assert done.told["next"] is None or "resume" not in done.told["next"]


@pytest.mark.skipif(memory_group() is None, reason="needs a memory control group of its own")
def test_a_gateway_that_memory_ran_out_for_is_told_apart_from_a_kill(simulator):
    scene = Scene(url=simulator.base_url)
    with limited_memory(300 << 20) as group:
        job = scene.begin()
        group.take(job.pid)  # before it starts anything: what it starts is in there too
        scene.measured(job)
        act(scene.tree, scene.pid, "hoard")
        done = scene.command.end(job)
        assert (done.code, done.told["reason"]) == (4, "gateway")
        incident = the_only(scene.lines(), "incident")
        assert incident["incidentClass"] == "gateway_oom"
        assert "was ended by SIGKILL when memory ran out" in incident["summary"]
        assert done.gateway["exit"]["signal"] == signal.SIGKILL
        check_every_report_opens_with_it(scene, done, "when memory ran out")
    scene.close()
