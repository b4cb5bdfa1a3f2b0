import errno
import json

import click
import msgspec
import pytest

from bench.cli.entry import run
from bench.cli.outcome import MAX_BYTES, CommandObject, Outcome, encode_outcome
from bench.errors import BenchError, Refused


@click.group()
def group() -> None:
    """Commands that end in every way."""


@group.command()
@click.option("--json", "as_json", is_flag=True)
@click.option("--debug", is_flag=True)
@click.argument("way")
@click.pass_obj
def end(console, way, as_json, debug):
    console.keep_secret("sk-secret-1")
    ending = ENDINGS.get(way)
    if isinstance(ending, BaseException):
        raise ending
    return ending


ENDINGS = {
    "well": Outcome(headline="all done", text="/a/b.json", files=("/a/b.json",)),
    "refused": Refused("no `sk-secret-1`", hint="say yes"),
    "own": BenchError("broken"),
    "unexpected": ValueError("sk-secret-1 is odd"),
    "interrupted": KeyboardInterrupt(),
    "files": OSError(errno.EMFILE, "Too many open files", "some.py"),
    "memory": MemoryError(),
    "threads": RuntimeError("can't start new thread"),
    "abort": click.Abort(),
    "code": 3,
}


@pytest.fixture(autouse=True)
def data_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


ENDS = [
    pytest.param(["end", "well"], 0, "", id="well"),
    pytest.param(["end", "refused"], 7, "error: no `[key]`\nhint: say yes\n", id="refused"),
    pytest.param(["end", "own"], 1, "error: broken\n", id="deliberate"),
    pytest.param(
        ["end", "files"],
        5,
        "error: this machine's own limit: too many open files\n"
        "hint: raise the limit on open files (`ulimit -n`), then type the command again\n",
        id="no-files",
    ),
    *(
        pytest.param(
            ["end", way],
            5,
            "error: this machine's own limit: no more memory is given to this process\n"
            "hint: raise its limit (`ulimit -v`), or end what needs the memory\n",
            id=f"no-{way}",
        )
        for way in ("memory", "threads")
    ),
    pytest.param(["end", "interrupted"], 130, "error: interrupted\n", id="interrupted"),
    pytest.param(["end", "abort"], 130, "error: interrupted\n", id="abort"),
    pytest.param(["end", "code"], 3, "", id="bare-code"),
    pytest.param(["end", "nothing"], 0, "", id="nothing-returned"),
    pytest.param(["end", "--help"], 0, "", id="help"),
    pytest.param(
        ["end"],
        2,
        "error: missing argument 'WAY'\nhint: `gateway-bench end --help` shows how it is used\n",
        id="usage",
    ),
]


@pytest.mark.parametrize(("argv", "code", "said"), ENDS)
def test_each_end_has_its_code_and_its_sentence(capsys, argv, code, said):
    assert run(group, argv) == code
    assert capsys.readouterr().err == said


def test_an_unknown_command_is_a_usage_error(capsys):
    assert run(group, ["ende", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["reason"] == "usage_fault"


@pytest.mark.parametrize("way", ["well", "refused", "own", "unexpected", "interrupted", "code"])
def test_json_is_one_object_of_the_shipped_shape_on_every_end(capsys, way):
    code = run(group, ["end", way, "--json"])
    out = capsys.readouterr().out
    made = msgspec.json.decode(out, type=CommandObject)
    assert made.command == "end"
    assert made.exit_code == code
    assert "sk-secret-1" not in out


def test_a_usage_error_prints_the_object_too(capsys):
    assert run(group, ["end", "--json", "--nope"]) == 2
    made = msgspec.json.decode(capsys.readouterr().out, type=CommandObject)
    assert made.status == "failed"
    assert "--nope" in made.headline


def test_words_after_two_dashes_ask_for_nothing(capsys):
    assert run(group, ["end", "well", "--", "--json"]) == 2
    assert capsys.readouterr().out == ""


def test_an_unexpected_fault_leaves_a_file_and_shows_no_traceback(capsys, data_home):
    assert run(group, ["end", "unexpected"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    (path,) = (data_home / "gateway-bench" / "faults").iterdir()
    assert str(path) in said
    told = path.read_text()
    assert "ValueError" in told
    assert "sk-secret-1" not in told


def test_debug_shows_the_traceback(capsys):
    assert run(group, ["end", "unexpected", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert run(group, ["end", "refused", "--debug"]) == 7
    assert "Traceback" in capsys.readouterr().err


def test_a_fault_file_goes_to_the_temporary_folder_when_the_data_folder_takes_none(
    capsys, tmp_path, monkeypatch
):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(blocked))
    assert run(group, ["end", "unexpected", "--json"]) == 1
    (path,) = json.loads(capsys.readouterr().out)["files"]
    assert not path.startswith(str(tmp_path))


def test_the_object_stays_under_8_kb_and_says_what_it_left_out():
    outcome = Outcome(headline="h" * 9_000, detail={"many": ["x" * 50] * 900, "few": [1], "n": 1})
    encoded = encode_outcome("c", outcome)
    assert len(encoded) < MAX_BYTES
    made = msgspec.json.decode(encoded, type=CommandObject)
    assert made.truncated
    assert made.detail["n"] == 1
    assert made.detail["few"] == [1]


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(Outcome(detail={"text": "x" * 9_000}), id="one-long-text"),
        pytest.param(Outcome(files=("/" + "f" * 3_000,) * 4), id="long-paths"),
        pytest.param(Outcome(headline="\0" * 9_000), id="headline-that-grows-when-escaped"),
    ],
)
def test_anything_fits_under_8_kb(outcome):
    made = msgspec.json.decode(encode_outcome("c", outcome), type=CommandObject)
    assert made.truncated
