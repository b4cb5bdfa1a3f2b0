"""start, status, logs and stop of gateways that live on between the commands."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine

pytestmark = pytest.mark.integration


@pytest.fixture
def command(tmp_path):
    folder = tmp_path / "tree"
    (folder / ".git").mkdir(parents=True)
    line = CommandLine(tmp_path / "home", folder)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def test_what_is_up_is_left_alone_and_what_is_down_is_no_error(command):
    assert command("status").code == 3
    first = command("start", "--preset", "demo", "--json")
    assert (first.code, first.told["reason"]) == (0, "started")
    again = command("start", "--preset", "demo", "--json")
    assert (again.code, again.told["reason"]) == (0, "was_up")
    assert again.gateway["pid"] == first.gateway["pid"]
    assert again.told["runId"] == first.told["runId"]

    status = command("status", "--json")
    assert (status.code, status.gateway["state"]) == (0, "ready")
    assert status.gateway["exposure"] == []
    assert command("logs").code == 0

    stopped = command("stop", "--json")
    assert (stopped.code, stopped.told["reason"]) == (0, "stopped")
    assert stopped.gateway["exit"]["code"] == 0
    down = command("stop", "--json")
    assert (down.code, down.told["reason"]) == (0, "was_down")
    by_pid = command("stop", str(stopped.gateway["pid"]), "--json")
    assert (by_pid.code, by_pid.told["reason"]) == (0, "was_down")
    assert by_pid.told["detail"]["last"]["pid"] == stopped.gateway["pid"]
    assert down.told["headline"] == "no gateway is up here"
    assert [
        one.name for one in command.state.iterdir() if one.suffix in {".json", ".py", ".d"}
    ] == []


def test_several_without_a_name_are_listed_and_nothing_is_stopped(command):
    first = command("start", "--preset", "demo", "--name", "one", "--json")
    second = command("start", "--preset", "demo", "--name", "two", "--json")
    assert first.gateway["port"] != second.gateway["port"]
    done = command("stop")
    assert done.code == 2
    assert done.err.startswith("error: 2 gateways could be meant:\n  ")
    assert "hint: name one: `gateway-bench stop NAME` or `gateway-bench stop PID`" in done.err
    assert command("status", "one").code == 0
    assert command("stop", "one").code == 0
    by_pid = command("stop", str(second.gateway["pid"]), "--json")
    assert (by_pid.code, by_pid.gateway["name"]) == (0, "two")


def test_the_same_name_with_another_description_is_refused(command):
    assert command("start", "--preset", "demo").code == 0
    done = command("start", "--preset", "demo", "--port", "29999", "--json")
    assert (done.code, done.told["reason"]) == (3, "another_is_up")


def test_the_environment_is_told_by_names_only(command):
    done = command(
        "start", "--preset", "demo", "--json", LLM_GATEWAY_API_KEY="production-secret-1", X="1"
    )
    assert "LLM_GATEWAY_API_KEY" in done.told["detail"]["environment"]["dropped"]
    assert "PORT" in done.told["detail"]["environment"]["added"]
    assert "production-secret-1" not in done.out + done.err
    inside = Path(f"/proc/{done.gateway['pid']}/environ").read_bytes()
    assert b"production-secret-1" not in inside


def test_config_show_tells_value_and_origin_and_masks(command):
    (command.cwd / "gateway-bench.toml").write_text(
        "[gateway]\npreset = 'demo'\n[gateway.env]\nMY_API_KEY = 'abcdef123456'\n"
    )
    done = command("config", "show", "--grace", "3s", GATEWAY_PORT="23456")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "port = 23456 (env GATEWAY_PORT)" in lines
    assert "grace = 3s (flag)" in lines
    assert "health.path = /health (preset demo)" in lines
    assert any(line.startswith("env = MY_API_KEY=***") for line in lines)
    assert "[bench]" in lines
    told = command("config", "show", "--json").told
    assert told["detail"]["gateway"]["upstream"] == {"value": "embedded", "origin": "preset demo"}
