"""The `llmgateway` preset on a gateway of its shape: guarded entry, chunks, services, env file."""

import json
import os
import shutil
import signal
import socket
import socketserver
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.cut_journal import cut_before_last_trial
from tests.free_port import free_port
from tests.gateway_standin.build import build_standin, commit
from tests.simulator_process import running_simulator

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        shutil.which("node") is None and os.environ.get("CI") != "true",
        reason="needs Node 20 or newer; with CI=true its absence is a failure",
    ),
]

MODEL = ("sim-ttft5-itl1-n8", "--case", "seeded_grounded_unknown")


@contextmanager
def a_service():
    """Something that accepts connections, as a database's port does."""

    class Accept(socketserver.BaseRequestHandler):
        def handle(self):  # type: ignore[explicit-override]
            pass

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Accept) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture
def services():
    with a_service() as database, a_service() as redis:
        yield {
            "DATABASE_URL": f"postgres://gateway:hidden-password@127.0.0.1:{database}/db",
            "REDIS_HOST": "127.0.0.1",
            "REDIS_PORT": str(redis),
        }


@pytest.fixture
def worktree(tmp_path, services):
    return build_standin(tmp_path / "tree", env=services)


@pytest.fixture
def command(tmp_path, worktree):
    line = CommandLine(tmp_path / "home", worktree)
    yield line
    assert line.records() == []
    assert line.leftovers() == []


POINTED = """
[gateway]
preset = "llmgateway"
upstream = "simulated"
[gateway.point.env]
STANDIN_UPSTREAM = "{upstream_base_url}"
STANDIN_UPSTREAM_KEY = "{upstream_token}"
"""


@pytest.fixture
def pointed(command):
    """The stand-in, told by a trusted file how it is pointed at the simulator."""
    (command.cwd / "gateway-bench.toml").write_text(POINTED)
    commit(command.cwd, "describe it")
    assert command("trust").code == 0
    return command


def test_the_whole_job_behind_a_renamed_entry_whose_guard_holds(pointed):
    done = pointed("run", *MODEL, "--json")
    assert (done.code, done.told["status"]) == (0, "done")
    gateway = done.gateway
    assert gateway["entry"] == str(pointed.cwd / "dist/serve.js")
    assert gateway["entryMode"] == "shim"
    assert gateway["exposure"] == []
    assert gateway["build"]["isDirty"] is False
    assert len(gateway["build"]["commit"]) == 40
    assert gateway["exit"]["signal"] == signal.SIGTERM
    assert "hidden-password" not in done.out + done.err


def test_missing_services_are_named_from_the_env_file_and_nothing_is_started(command):
    lost = free_port()
    env = (command.cwd / ".env").read_text().replace("REDIS_PORT=", f"REDIS_PORT={lost}\nX=")
    (command.cwd / ".env").write_text(env.replace("/db", "/db"))
    done = command("run", *MODEL, "--preset", "llmgateway", "--yes", "--json")
    assert (done.code, done.told["reason"]) == (3, "services_missing")
    assert f"Redis at 127.0.0.1:{lost}: nothing listens there" in done.told["headline"]
    assert "PostgreSQL" not in done.told["headline"]
    assert list(command.state.glob("*.log")) == []


def test_a_health_that_says_ok_while_the_database_is_down_is_not_ready(command):
    lost = free_port()
    done = command(
        "start",
        "--preset",
        "llmgateway",
        "--ready-timeout",
        "3s",
        "--json",
        DATABASE_URL=f"postgres://127.0.0.1:{lost}/db",
    )
    assert (done.code, done.told["reason"]) == (3, "services_missing")
    (command.cwd / "gateway-bench.toml").write_text(
        "[gateway]\npreset = 'llmgateway'\nservices = []\n"
    )
    assert command("trust").code == 0
    done = command(
        "start",
        "--ready-timeout",
        "6s",
        "--json",
        DATABASE_URL=f"postgres://127.0.0.1:{lost}/db",
    )
    assert (done.code, done.told["reason"]) == (3, "never_ready")
    assert "HTTP 200 whose `health.status` is error, not ok" in done.told["headline"]


def test_its_own_upstream_may_cost_money_so_it_is_asked_about(command, services, tmp_path):
    done = command("run", *MODEL, "--preset", "llmgateway", "--json")
    assert (done.code, done.told["status"]) == (7, "refused")
    assert done.gateway["stopped"] is True


def test_with_a_yes_the_upstream_of_its_own_configuration_is_measured(command, tmp_path):
    with running_simulator(tmp_path) as simulator:
        with (command.cwd / ".env").open("a") as file:
            file.write(f"STANDIN_UPSTREAM={simulator.base_url}\n")
        done = command("run", *MODEL, "--preset", "llmgateway", "--yes", "--json")
        assert (done.code, done.told["status"]) == (0, "done")
        assert simulator.wait_for_records(2)


def test_the_exported_port_is_taken_and_the_one_of_dotenv_is_only_a_wish(pointed):
    port = free_port()
    with (pointed.cwd / ".env").open("a") as file:
        file.write(f"GATEWAY_PORT={port}\n")
    wished = pointed("run", *MODEL, "--json")
    assert (wished.code, wished.gateway["port"]) == (0, port)
    with socket.create_server(("127.0.0.1", port)):
        other = pointed("run", *MODEL, "--json")
        assert other.code == 0
        assert other.gateway["port"] != port
        refused = pointed("run", *MODEL, "--json", GATEWAY_PORT=str(port))
        assert (refused.code, refused.told["reason"]) == (3, "port_taken")


def test_a_run_of_another_build_is_not_gone_on_with(pointed):
    done = pointed("run", *MODEL, "--json")
    journal = Path(done.told["files"][-1])
    header = json.loads(cut_before_last_trial(journal).read_bytes().splitlines()[0])
    assert header["launch"]["build"]["commit"] == done.gateway["build"]["commit"]
    with (pointed.cwd / "dist/serve.js").open("a") as file:
        file.write("// rebuilt\n")
    (pointed.cwd / "README").write_text("x")
    commit(pointed.cwd, "second")
    rebuilt = pointed("resume", str(journal), "--json")
    assert (rebuilt.code, rebuilt.told["reason"]) == (3, "build_differs")
    for what in ("the commit was ", "the tree was ", "the entry file was "):
        assert what in rebuilt.told["headline"]
    toml = pointed.cwd / "gateway-bench.toml"
    toml.write_text(POINTED.replace("[gateway]", "[gateway]\nargs = ['x']", 1))
    assert pointed("trust").code == 0
    described = pointed("resume", str(journal), "--json")
    assert (described.code, described.told["reason"]) == (3, "build_differs")
    assert "its description differs in: command" in described.told["headline"]


def test_prepare_and_teardown_surround_the_run_and_teardown_runs_after_a_failure_too(pointed):
    toml = pointed.cwd / "gateway-bench.toml"
    toml.write_text(
        POINTED.replace("[gateway]", "[gateway]\nprepare = 'touch prepared'\n", 1).replace(
            "prepare =", "teardown = 'mv prepared torn'\nprepare =", 1
        )
    )
    assert pointed("trust").code == 0
    done = pointed("run", *MODEL)
    assert done.code == 0
    assert "prepare: touch prepared" in done.err
    assert (pointed.cwd / "torn").exists()
    (pointed.cwd / "torn").unlink()
    failed = pointed("run", *MODEL, "--ready-timeout", "1s", "--health", "/nowhere")
    assert failed.code == 3
    assert (pointed.cwd / "torn").exists()
