"""A gateway with a time to live or an idle time ends by itself, and says why afterwards."""

import http.client
import json
import time
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.patience import until
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration


@pytest.fixture
def command(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    line = CommandLine(tmp_path_factory.mktemp("home"), tree)
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def wait_until_gone(command, name):
    until(lambda: all(one["name"] != name for one in command.records()))
    # Its minder ends right after it.
    until(lambda: not command.leftovers())


def test_both_limits_end_it_and_a_connection_keeps_an_idle_one_up(command):
    # Its idle time begins with a connection open: a slow machine would connect after three seconds.
    started = command("start", "--preset", "demo", "--idle-stop", "1h", "--json")
    assert started.code == 0
    line = http.client.HTTPConnection("127.0.0.1", started.gateway["port"])
    line.connect()
    assert command("start", "--preset", "demo", "--idle-stop", "3s").code == 0
    (record,) = command.records()
    minder = record["minder"]["pid"]
    shown = Path(f"/proc/{minder}/cmdline").read_bytes().decode()
    for word in ("gateway", "serve", "dist", "orchestrator", command.cwd.name):
        assert word not in shown
    parent = Path(f"/proc/{minder}/stat").read_text().rpartition(")")[2].split()[1]
    assert int(parent) == record["adopter"]["pid"]

    # In use for longer than its idle time.
    begun = time.monotonic()
    while time.monotonic() - begun < 4:
        assert command.records(), "it was stopped under a connection"
        time.sleep(0.2)
    status = command("status", "--json")
    assert status.gateway["connections"] == 1
    assert status.gateway["idleLeftS"] > 2
    used_ns = json.loads(next(command.state.glob("*.seen")).read_bytes())["usedNs"]
    line.close()
    wait_until_gone(command, "default")
    assert time.perf_counter_ns() - used_ns >= 3e9
    down = command("status", "--json")
    assert down.code == 3
    assert down.told["detail"]["last"]["because"] == "nobody had been connected for 3s"
    told = command("status")
    assert "because nobody had been connected for 3s; it exited with status 0" in told.out


def test_a_start_again_gives_new_limits_and_a_lease_is_told(command):
    words = ("start", "--preset", "demo", "--ttl")
    first = command(*words, "1h")
    assert first.code == 0
    assert "ends      in 59m" in first.err
    again = command(*words, "2s", "--json")
    assert again.told["reason"] == "was_up"
    (record,) = command.records() or (None,)
    if record is not None:  # else it has ended already
        assert record["lease"]["ttlS"] == 2.0
    wait_until_gone(command, "default")
    ended = command("logs", "--json")
    assert ended.code == 0
    assert ended.told["detail"]["lines"]
    assert json.loads(next(command.state.glob("*.end")).read_bytes())["because"] == (
        "its time to live of 2s was over"
    )


def test_its_teardown_is_run_in_the_callers_environment(command):
    entry = write_small_gateway(command.cwd)
    (command.cwd / "gateway-bench.toml").write_text(
        f"[gateway]\nentry = '{entry}'\nteardown = [['sh', '-c', 'echo $SHOP > torn']]\n"
    )
    assert command("trust").code == 0
    assert command("start", "--ttl", "1s", SHOP="open").code == 0
    wait_until_gone(command, "default")
    assert (command.cwd / "torn").read_text() == "open\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--ttl", "soon"), "`--ttl` is 'soon', must be a duration such as"),
        (("--idle-stop", "10ms"), "`--idle-stop` is `10ms`, must be at least `1s`"),
    ],
)
def test_a_limit_that_is_none_starts_nothing(command, words, sentence):
    done = command("start", "--preset", "demo", *words)
    assert done.code == 2
    assert sentence in done.err
