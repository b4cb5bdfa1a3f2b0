"""What a stop and a clean-up do where the state folder holds what it should not."""

import textwrap

import pytest

from orchestrator.system.state import DiskState
from tests.command_line import CommandLine
from tests.small_gateway import write_small_gateway

pytestmark = pytest.mark.integration

DESCRIBED = """
[gateway]
entry = "gateway_entry.py"
upstream = "simulated"
[[gateway.generate]]
name = "settings"
text = "{upstream_url}"
"""
CLEAN = ("clean", "--older-than", "0s", "--yes")


@pytest.fixture
def command(tmp_path_factory):
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    write_small_gateway(tree)
    line = CommandLine(home, tree)
    (tree / "gateway-bench.toml").write_text(textwrap.dedent(DESCRIBED))
    assert line("trust").code == 0
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def test_the_simulator_of_a_gateway_whose_record_can_not_be_read_is_left_alone(command):
    assert command("start").code == 0
    of = {one["name"]: one for one in command.records()}
    path = command.state / f"{of['default']['id']}.json"
    good = path.read_bytes()
    path.write_bytes(b"")
    for words in (("stop",), ("stop", str(of["default-upstream"]["identity"]["pid"]))):
        done = command(*words, "--json")
        assert (done.code, done.told["reason"]) == (3, "record_unreadable")
        assert str(path) in done.told["headline"]
    done = command(*CLEAN)
    assert done.code == 0, done.err
    assert "was left alone: the record of its gateway can't be read" in done.err
    path.write_bytes(good)
    assert command("status").code == 0
    assert command("stop").code == 0
    assert command.records() == []


def test_the_port_of_a_start_that_was_killed_is_let_go_of_and_that_of_one_under_way_is_not(command):
    state = DiskState(command.state)
    held = state.lock("24001.port", "a start of ours, PID 1")
    assert not isinstance(held, str)
    (command.state / "24002.port").write_text("a start of ours, PID 2")
    (command.state / "other.port").write_text("not ours")
    early = command("clean", "--yes")
    assert early.out == "0 gateways removed\n"
    done = command(*CLEAN)
    assert done.out == "0 gateways and 1 file removed\n"
    left = {one.name for one in command.state.glob("*.port")}
    assert left == {"24001.port", "other.port"}
    held.release()
