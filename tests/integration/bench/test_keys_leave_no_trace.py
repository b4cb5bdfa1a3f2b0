"""A server that echoes the key everywhere, and everything that a run leaves behind or says."""

import json

import pytest

from tests.bench_process import Bench
from tests.echo_server import KEY, SPELLINGS, echo_server, everything, found_in

pytestmark = pytest.mark.integration
CASES = "fixed_output_stream,tool_selection_exact,multilingual_instruction_german"


def leaks(bench, *texts):
    """Return where the key can be read: files, their names, what was said."""
    found = {f"said {number}": found_in(text, KEY) for number, text in enumerate(texts)}
    for path in bench.folder.rglob("*"):
        found[f"name of {path.name[:60]}"] = found_in(path.name, KEY)
        if path.is_file():
            found[str(path)] = found_in(path.read_bytes().decode(errors="replace"), KEY)
    return {place: ways for place, ways in found.items() if ways}


@pytest.mark.parametrize("spell", SPELLINGS, ids=range(len(SPELLINGS)))
def test_the_look_finds_every_spelling(spell):
    assert found_in(f"<{spell(KEY)}>", KEY)
    assert not found_in(f"<{spell('sk-other/+0123456789abcdefg')}>", KEY)


@pytest.mark.parametrize(
    ("api", "dialect"),
    [("chat", "litellm"), ("chat", "llmgateway"), ("messages", "plain"), ("responses", "portkey")],
)
def test_a_key_that_a_server_echoes_is_nowhere(tmp_path, api, dialect):
    with echo_server(api) as server:
        bench = Bench(folder=tmp_path, url=server.url, token=KEY)
        words = ("--url", server.url, "--api-key-env", "LOCAL_TEST_KEY", "--yes", "--api", api)
        many = ("--runs", "4", "--dialect", dialect, "--case", CASES, "--debug", "-vv")
        code, told, said = bench.finish(bench.start("bench", "m", *words, *many, "--json"))
        assert server.posts > 10, said
        assert server.on_command_lines == []
    assert told["files"], said
    assert code in {0, 5}
    written = {path.suffix for path in bench.output.iterdir() if path.name[0] != "."}
    assert written == {".json", ".jsonl", ".md", ".html", ".csv"}
    assert list((tmp_path / "data").rglob("*.jsonl")), "no archive to look into"
    # What was said is there, masked: the echo did arrive.
    assert bench.journal.read_text().count("[secret]") > 20
    assert leaks(bench, json.dumps(told), said) == {}
    if dialect != "litellm":
        return
    again = [bench.do(*each, "--debug", "-vv") for each in _looks(bench)]
    assert leaks(bench, *(json.dumps(told) + said for _, told, said in again)) == {}


def _looks(bench):
    journal = str(bench.journal)
    return (
        ("render", journal, "--output", str(bench.folder / "again")),
        ("show", journal),
        ("show", journal, "--failed"),
        ("show", journal, "--billing"),
        ("resume", journal),
    )


@pytest.mark.parametrize("command", ["bench", "models"])
def test_a_key_in_the_names_of_models_is_in_no_message(tmp_path, command):
    with echo_server("chat") as server:
        bench = Bench(folder=tmp_path, url=server.url, token=KEY)
        words = ("--url", server.url, "--api-key-env", "LOCAL_TEST_KEY", "--debug", "-vv")
        more = ("sk-echo", "--yes") if command == "bench" else ()
        _, told, said = bench.finish(bench.start(command, *more, *words, "--json"))
        assert server.posts == 0
    assert leaks(bench, json.dumps(told), said) == {}


def test_what_is_echoed_has_every_spelling():
    assert set(found_in(everything(KEY), KEY)) >= {"plain", "base64", "hex"}
