"""What a person reads when a gateway can't be started: one message, the right exit code."""

import os
import re
import socket
import textwrap
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.free_port import free_port
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration


@pytest.fixture
def worktree(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def command(tmp_path, worktree):
    line = CommandLine(tmp_path / "home", worktree)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def test_an_entry_that_is_not_there_is_named_with_its_path(command, worktree):
    done = command("start", "--entry", "dist/serve.js")
    assert done.code == 3
    assert done.err.splitlines()[0] == f"error: no entry file at `{worktree}/dist/serve.js`"


def test_a_preset_says_how_its_entry_comes_to_be(command):
    done = command("start", "--preset", "portkey", "--json")
    assert (done.code, done.told["reason"]) == (3, "entry_missing")
    assert "node_modules/@portkey-ai/gateway/build/start-server.js" in done.told["headline"]
    assert "npm install" in done.told["next"]


def test_a_program_that_is_nowhere_is_named_with_where_it_was_looked_for(command):
    done = command("start", "--preset", "litellm", PATH="/nowhere")
    assert done.code == 3
    assert "no program at `litellm` in PATH" in done.err
    assert "GATEWAY_LITELLM" in done.err


def test_nothing_described_says_what_would_describe_it(command, worktree):
    done = command("start", "--json")
    assert (done.code, done.told["status"]) == (2, "failed")
    assert done.told["headline"] == (
        f"no gateway is described for `{worktree}`: neither a preset nor an entry nor a command"
    )


def test_an_unknown_preset_has_near_matches(command):
    done = command("run", "x", "--preset", "lite-llm")
    assert done.code == 2
    assert "`--preset` is `lite-llm`: one of " in done.err
    assert "; did you mean `litellm`?" in done.err
    started = command("start", "--preset", "lite-llm")
    assert started.code == 2
    assert "error: no preset `lite-llm` (flag); did you mean `litellm`?" in started.err


def test_a_taken_port_is_told_with_who_has_it_from_where_and_since_when(command, worktree):
    write_small_gateway(worktree)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = command("start", "--entry", "gateway_entry.py", "--port", str(port))
    assert done.code == 3
    told = done.err.splitlines()[0]
    me = f"PID {os.getpid()} `.*python.*` in `{re.escape(str(Path.cwd()))}` since 20"
    assert re.match(rf"error: port {port} is taken by {me}", told)


def test_a_gateway_that_exits_at_once_is_told_with_status_and_log(command, worktree):
    (worktree / "gateway_entry.py").write_text(
        "import sys\nprint('no database: password=hunter22')\nsys.exit(3)\n"
    )
    done = command("start", "--entry", "gateway_entry.py", "--health", "/")
    assert done.code == 3
    assert "the gateway exited with status 3" in done.err
    assert "| no database: password=***" in done.err
    assert "hunter22" not in done.err


def test_a_gateway_that_is_never_healthy_is_told_with_what_it_said(command, worktree):
    write_small_gateway(worktree)
    done = command("start", "--entry", "gateway_entry.py", "--ready-timeout", "6s", STATUS="503")
    assert done.code == 3
    assert "was not ready within 6 s; it heard: " in done.err
    assert "HTTP 503 instead of 200: `fine`" in done.err
    assert command.records() == []


def test_a_missing_service_is_named_before_anything_is_built_or_started(command, worktree):
    write_small_gateway(worktree)
    port = free_port()
    (worktree / "gateway-bench.toml").write_text(
        textwrap.dedent(f"""
        [gateway]
        entry = "gateway_entry.py"
        build = "touch built"
        [[gateway.services]]
        name = "Redis"
        tcp = "127.0.0.1:{port}"
        note = "docker compose up redis"
        """)
    )
    assert command("trust").code == 0
    done = command("start", "--json")
    assert (done.code, done.told["reason"]) == (3, "services_missing")
    assert done.told["headline"] == (
        f"the gateway needs what is not there: Redis at 127.0.0.1:{port}: nothing listens there "
        "(docker compose up redis)"
    )
    assert not (worktree / "built").exists()


def test_a_build_that_fails_is_told_with_its_last_lines(command, worktree):
    write_small_gateway(worktree)
    (worktree / "gateway-bench.toml").write_text(
        "[gateway]\nentry = 'gateway_entry.py'\nbuild = ['ls /no/such/place']\n"
    )
    assert command("trust").code == 0
    done = command("start")
    assert done.code == 3
    assert "`build` command `ls /no/such/place` exited with status" in done.err
    assert "| ls: " in done.err


def test_a_configuration_of_the_worktree_is_not_executed_before_somebody_agreed(command, worktree):
    write_small_gateway(worktree)
    toml = worktree / "gateway-bench.toml"
    toml.write_text("[gateway]\nentry = 'gateway_entry.py'\nbuild = 'touch built'\n")
    refused = command("start", "--json")
    assert (refused.code, refused.told["status"]) == (7, "refused")
    assert refused.told["headline"].splitlines() == [
        f"`{toml}` decides what would be executed, and this content is not trusted yet:",
        "  entry = gateway_entry.py",
        "  build = touch built",
    ]
    assert refused.told["next"] == f"look at it, then type `gateway-bench trust {worktree}`"
    assert not (worktree / "built").exists()
    assert command("trust", str(worktree)).code == 0
    assert command("start").code == 0
    assert (worktree / "built").exists()
    toml.write_text("[gateway]\nentry = 'gateway_entry.py'\nbuild = 'touch again'\n")
    assert command("start", "--name", "other").code == 7


def test_several_faults_of_the_configuration_come_together(command, worktree):
    (worktree / "gateway-bench.toml").write_text("[gateway]\nprot = 1\ngrace = 'soon'\n")
    done = command("config", "show")
    assert done.code == 2
    assert "2 settings are wrong:" in done.err
    assert "`prot`" in done.err
    assert "`grace`" in done.err
