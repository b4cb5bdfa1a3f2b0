"""`exec` as it is typed, and what its ends are worth; nothing is started here."""

import json
from pathlib import Path
from typing import Any

import click
import pytest

from bench.cli.entry import run
from bench.cli.manners import Manners, json_file
from orchestrator.bringing import Up
from orchestrator.cli.exec_command import OWN_FAILURE, outcome_of
from orchestrator.cli.group import cli
from orchestrator.environment import GatewayEnvironment
from orchestrator.errors import NotStopped
from orchestrator.events import Trouble
from orchestrator.executing import ErrandEnd, guest_environment, guest_words
from orchestrator.launching import Surroundings
from orchestrator.lifecycle import Started, Stopped
from orchestrator.taking_down import Down
from tests.fakes_orchestrator import FakeHeld, FakeLock, FakeMachine
from tests.unit.orchestrator.test_attaching import wanted
from tests.unit.orchestrator.test_minding import record

KILLED = Trouble(
    incident_class="gateway_killed", at_ns=1, summary="The gateway was ended by SIGKILL.", detail={}
)
STOPPED = Down(stopped=Stopped(ending=None, was_down=False), fault=None)
LEFT = Down(stopped=None, fault=NotStopped([7]))


def up(**flags: Any) -> Up:
    machine = FakeMachine()
    return Up(
        wanted=wanted(**flags),
        started=Started(record=record(), held=FakeHeld(machine.table, machine.clock, 4242)),
        near=Surroundings(
            caller={"GWB_RUN": "x", "GATEWAY_API_KEY_ENV": "OLD", "HOME": "/h"},
            generated=Path("/state/x.d"),
        ),
        environment=GatewayEnvironment(values={}, added=(), dropped=(), shadowed=(), replaced=()),
        hold=FakeLock({}, "use"),
    )


def end(status: int, **changes: Any) -> ErrandEnd:
    usual: dict[str, Any] = {
        "trouble": None,
        "was_ended_by_us": False,
        "may_go_on": False,
        "down": STOPPED,
    }
    return ErrandEnd(up=up(), status=status, **{**usual, **changes})


@pytest.mark.parametrize(
    ("ended", "code", "reason", "of_class"),
    [
        pytest.param(end(0), 0, "done", None, id="fine"),
        pytest.param(end(41), 41, "command_failed", None, id="its own status"),
        pytest.param(end(-9), 137, "command_failed", None, id="a signal, as a shell has it"),
        pytest.param(end(0, down=None), 0, "done", None, id="attached"),
        pytest.param(end(0, down=LEFT), 125, "not_stopped", 3, id="something is left"),
        pytest.param(end(5, down=LEFT), 5, "command_failed", None, id="its failure goes first"),
        pytest.param(end(0, trouble=KILLED), 125, "gateway_killed", 4, id="the gateway is lost"),
        pytest.param(
            end(-15, trouble=KILLED, was_ended_by_us=True),
            *(125, "gateway_killed", 4),
            id="and the command was ended for it",
        ),
        pytest.param(end(3, trouble=KILLED, may_go_on=True), 3, "command_failed", None, id="on"),
    ],
)
def test_what_an_end_is_worth(ended, code, reason, of_class):
    said: list[str] = []
    made = outcome_of(ended, ("wrk", "-c2"), said.append)
    assert (made.exit_code, made.reason, made.detail["class"]) == (code, reason, of_class)
    assert (f"class: {reason} ({of_class})" in said) is (of_class is not None)


def test_a_gateway_that_was_lost_is_in_the_headline():
    made = outcome_of(end(-15, trouble=KILLED), ("wrk",), print)
    assert made.headline == "`wrk` was ended by SIGTERM; the gateway was ended by SIGKILL"
    assert made.status == "incomplete"


def test_only_our_own_places_are_filled():
    words = guest_words(("{url}/x", "{base_url}", "{port}", "{model}", '{"a": 1}'), up())
    assert words == (
        "http://127.0.0.1:20001/x",
        "http://127.0.0.1:20001/v1",
        "20001",
        "{model}",
        '{"a": 1}',
    )


def test_the_environment_names_the_key_and_holds_nothing_of_ours():
    made = guest_environment(up(preset="demo", upstream=None))
    assert made == {
        "HOME": "/h",
        "GATEWAY_URL": "http://127.0.0.1:20001",
        "GATEWAY_BASE_URL": "http://127.0.0.1:20001/v1",
        "GATEWAY_PORT": "20001",
        "GATEWAY_API_KEY_ENV": "LOCAL_DEMO_API_KEY",
        "LOCAL_DEMO_API_KEY": "test-token",
    }
    assert "GATEWAY_API_KEY_ENV" not in guest_environment(up())


@pytest.mark.parametrize(
    ("words", "sentence", "of_class"),
    [
        (("--preset", "demo", "--", "no-such-program"), "no program at", "entry_missing (3)"),
        (("--preset", "demo"), "no command: type it after `--`", "usage_fault (2)"),
        (("--preset", "demo", "true"), "type `--` before the command", "usage_fault (2)"),
        (("--preset", "nix", "--", "true"), "no preset `nix`", "unknown_preset (2)"),
        (("--nonsense", "--", "true"), "no such option", "usage_fault (2)"),
        (
            ("--attach", "1", "--entry", "x", "--", "true"),
            "`--entry` is not for",
            "usage_fault (2)",
        ),
    ],
)
@pytest.mark.parametrize("name", ["exec", "with"])
def test_what_goes_wrong_in_us_is_never_the_status_of_a_command(
    capsys, tmp_path, name, words, sentence, of_class
):
    file = tmp_path / "o.json"
    assert run(cli, [name, f"--json={file}", *words]) == OWN_FAILURE
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.endswith(f"class: {of_class}\n")
    said = json.loads(file.read_bytes())
    assert f"{said['reason']} ({said['detail']['class']})" == of_class


class Passing(click.Command):
    """A command that passes another one's status on."""

    manners = Manners(own_failure=125, json_goes_to_file=True)


def test_a_bug_of_ours_is_our_own_failure_too(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    def broken():
        raise ZeroDivisionError

    assert run(Passing("exec", callback=broken), []) == 125
    assert "class: unexpected (1)" in capsys.readouterr().err


def test_an_object_that_can_not_be_written_is_no_silent_success(capsys):
    command = Passing("exec", params=[click.Option(["--json", "path"])], callback=lambda path: 0)
    assert run(command, ["--json", "/nowhere/o.json"]) == 1
    assert "error: `/nowhere/o.json` could not be written: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["--json", "a"], Path("a")),
        (["-x", "--json=b"], Path("b")),
        (["--json"], None),
        (["-x"], None),
    ],
)
def test_where_the_object_goes(words, file):
    assert json_file(Passing.manners, words) == file
    assert json_file(Manners(), words) is None
