"""How each kind of key is read, and how a wrong value is told."""

from pathlib import Path

import pytest

from orchestrator import settings
from orchestrator.settings import EnvFile, GeneratedFile, Service, Unreadable

BASE = Path("/written/here")


@pytest.mark.parametrize(
    ("raw", "milliseconds"),
    [
        pytest.param("500ms", 500.0, id="milliseconds"),
        pytest.param("1.5s", 1500.0, id="a fraction of seconds"),
        pytest.param("2m", 120_000.0, id="minutes"),
        pytest.param("1h", 3_600_000.0, id="hours"),
        pytest.param(250, 250.0, id="a bare number is milliseconds"),
        pytest.param("250", 250.0, id="a bare text is milliseconds"),
    ],
)
def test_a_duration_takes_units(raw, milliseconds):
    assert settings.duration(raw, BASE) == milliseconds


@pytest.mark.parametrize(
    ("parser", "raw", "must"),
    [
        pytest.param(settings.duration, "soon", "must be a duration", id="no duration"),
        pytest.param(settings.duration, True, "must be a duration", id="a boolean is no duration"),
        pytest.param(settings.port, "http", "must be a port from 1 to 65535", id="no port"),
        pytest.param(settings.port, 0, "must be a port from 1 to 65535", id="port 0"),
        pytest.param(settings.port, 65536, "must be a port from 1 to 65535", id="port too high"),
        pytest.param(settings.port, True, "must be a port from 1 to 65535", id="true is no port"),
        pytest.param(settings.status, 99, "must be an HTTP status", id="no status"),
        pytest.param(settings.text, "  ", "must be a text", id="empty text"),
        pytest.param(settings.argv, "a 'b", "no command: No closing quotation", id="open quote"),
        pytest.param(settings.argv, 3, "must be a command", id="number as command"),
        pytest.param(settings.argv, "x {prot}", "`{prot}` is no place", id="unknown place"),
        pytest.param(settings.commands, 3, "must be a command", id="number as commands"),
        pytest.param(settings.strings, 3, "must be a list of texts", id="number as list"),
        pytest.param(settings.variable, "A-B", "must be the name of a variable", id="hyphen"),
        pytest.param(settings.patterns, ["("], "no regular expression", id="open bracket"),
        pytest.param(settings.entry_mode, "copy", "must be one of shim", id="no entry mode"),
        pytest.param(settings.upstream, "localhost:3", "must be `simulated`", id="no scheme"),
        pytest.param(settings.string_table, [1], "must be a table", id="list as table"),
        pytest.param(settings.string_table, {"A": [1]}, "must be a text", id="list in a table"),
        pytest.param(settings.services, "redis", "must be a list of tables", id="text as services"),
        pytest.param(settings.services, [{"tcp": "a:1"}], "has no `name`", id="nameless service"),
        pytest.param(settings.services, [{"name": "x"}], "no address", id="service nowhere"),
        pytest.param(
            settings.services, [{"name": "x", "tcp": "here"}], "must be a port", id="no port in it"
        ),
        pytest.param(
            settings.services, [{"name": "x", "tpc": "a:1"}], "known are name, tcp", id="mistyped"
        ),
        pytest.param(
            settings.generated_files,
            [{"name": "../x", "text": "y"}],
            "must be a plain file name",
            id="a file outside of the folder",
        ),
        pytest.param(
            settings.generated_files,
            [{"name": "x", "text": "{model}"}],
            "`{model}` is no place",
            id="a model outside of the repeated part",
        ),
    ],
)
def test_a_wrong_value_says_what_it_must_be(parser, raw, must):
    with pytest.raises(Unreadable) as fault:
        parser(raw, BASE)
    assert must in str(fault.value)


def test_a_command_is_split_as_a_shell_would():
    assert settings.argv("node 'a b.js' --port={port}", BASE) == ("node", "a b.js", "--port={port}")


def test_commands_may_be_one_text_or_a_list_of_texts_and_lists():
    assert settings.commands("pnpm build", BASE) == (("pnpm", "build"),)
    assert settings.commands(["a b", ["c", "d e"]], BASE) == (("a", "b"), ("c", "d e"))


def test_paths_count_from_where_they_were_written():
    assert settings.path("x/y", BASE) == BASE / "x/y"
    assert settings.env_files(["?.env", "/abs"], BASE) == (
        EnvFile(path=BASE / ".env", optional=True),
        EnvFile(path=Path("/abs")),
    )


def test_names_of_variables_may_be_one_text_with_commas():
    assert settings.variables("PORT, GATEWAY_PORT", BASE) == ("PORT", "GATEWAY_PORT")


def test_a_table_takes_numbers_and_booleans_as_written():
    assert settings.string_table({"A": 1, "B": True, "C": "x"}, BASE) == {
        "A": "1",
        "B": "true",
        "C": "x",
    }


def test_an_upstream_address_loses_its_last_slash():
    assert settings.upstream("http://127.0.0.1:9/v1/", BASE) == "http://127.0.0.1:9/v1"


def test_services_and_generated_files_become_records():
    assert settings.services([{"name": "Redis", "tcp": "127.0.0.1:6379"}], BASE) == (
        Service(name="Redis", tcp="127.0.0.1:6379"),
    )
    made = settings.generated_files(
        [{"name": "c.yaml", "text": "{each_model}", "each_model": "- {model_json}"}], BASE
    )
    assert made == (GeneratedFile(name="c.yaml", text="{each_model}", each_model="- {model_json}"),)


def test_every_executing_key_is_a_key():
    assert set(settings.KEYS) >= settings.EXECUTING
    assert set(settings.KEYS) >= settings.MERGED
