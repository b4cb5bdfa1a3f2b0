"""Every way in which a gateway is lost in the middle of a run tells its own story."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from tests.command_line import Done
from tests.killable_gateway import SECRET, act
from tests.lost_gateway import (
    MODEL,
    RUNS,
    Scene,
    Unavailable,
    bench_of,
    check_every_report_opens_with_it,
    check_nothing_was_sent_after_the_notice,
    check_touched_trials,
    doing,
    let_a_stranger_wait,
    sending,
    the_loss,
)
from tests.memory_limit import limited_memory, memory_group
from tests.simulator_process import running_simulator

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        shutil.which("node") is None and os.environ.get("CI") != "true",
        reason="needs Node 20 or newer; with CI=true its absence is a failure",
    ),
]

AT_ONCE = 4
"""Runs side by side: each mostly waits for its gateway."""


@dataclass(frozen=True)
class Route:
    """A way to lose the gateway, and the story that is told of it."""

    lose: Callable[[Scene, subprocess.Popen[str]], None]
    kind: str
    ends: dict[str, Any]
    """Of the gateway's process, as the result has it; a key that is not here is not asked."""
    says: str
    is_resumed: bool = False
    has_heir: bool = False
    """Somebody else waits for its port."""


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
        sending(signal.SIGKILL),
        "gateway_killed",
        {"signal": 9},
        "was ended by SIGKILL",
        has_heir=True,
    ),
    "port taken": Route(doing("give"), "port_taken", {}, "answers on its port", has_heir=True),
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
        if route.has_heir:
            let_a_stranger_wait(scene, job)
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


@pytest.mark.parametrize("name", list(ROUTES))
def test_a_lost_gateway_tells_how(name, plays: dict[str, Future[Played]]):
    route, played = ROUTES[name], plays[name].result()
    scene, done = played.scene, played.done
    assert (done.code, done.told["reason"], done.told["status"]) == (4, "gateway", "incomplete")
    records = scene.lines()
    incident = the_loss(records)
    assert incident["class"] == route.kind
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


def test_a_kill_by_port_hits_the_client_too_and_both_are_told(simulator):
    scene = Scene(url=simulator.base_url)
    job = scene.begin()
    scene.measured(job)
    # `lsof -ti:PORT | xargs kill -9` names whoever is connected, servers and clients alike.
    # At once: neither may meet the other one's death first.
    gateway, client = scene.pid, bench_of(job)
    os.kill(client, signal.SIGSTOP)
    for pid in (gateway, client):
        os.kill(pid, signal.SIGKILL)
    done = scene.command.end(job)
    assert (done.code, done.told["reason"]) == (4, "client_killed")
    records = scene.lines()
    told = {one["class"] for one in records if one["type"] == "incident"}
    assert {"gateway_killed", "client_killed"} <= told
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
    simulator, client = scene.record(of_simulator=True), bench_of(job)
    os.kill(client, signal.SIGSTOP)  # it asks nobody until the other one is there
    os.kill(simulator["identity"]["pid"], signal.SIGKILL)
    instead = Unavailable(simulator["port"]) if way == "answers 503" else None
    os.kill(client, signal.SIGCONT)
    done = scene.command.end(job)
    if instead is not None:
        instead.close()
    assert (done.code, done.told["reason"]) == (5, "provider_down")
    records = scene.lines()
    told = [one["class"] for one in records if one["type"] == "incident"]
    assert not any(one.startswith(("gateway_", "port_")) for one in told)
    codes = {one["trial"]["response"]["error"]["code"] for one in records
             if one["type"] == "trial" and one["trial"]["response"]["error"]}  # fmt: skip
    assert (
        "http_503" in codes
        if way == "answers 503"
        else codes <= {"http_502", "stream_incomplete", "connect_reset"}
    )
    check_provider_is_named(scene, done)
    scene.close()


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
        job = scene.begin(group=group.members_file)
        scene.measured(job)
        act(scene.tree, scene.pid, "hoard")
        done = scene.command.end(job)
        assert (done.code, done.told["reason"]) == (4, "gateway")
        incident = the_loss(scene.lines())
        assert incident["class"] == "gateway_oom"
        assert "was ended by SIGKILL when memory ran out" in incident["summary"]
        assert done.gateway["exit"]["signal"] == signal.SIGKILL
        check_every_report_opens_with_it(scene, done, "when memory ran out")
    scene.close()
