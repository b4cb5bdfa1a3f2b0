"""A server that echoes the key everywhere, and everything that a run leaves behind or says."""

import json
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.bench_process import Bench
from tests.echo_server import KEY, SPELLINGS, EchoServer, echo_server, everything, found_in

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


ASKED = (
    ("chat", "litellm"),
    ("chat", "llmgateway"),
    ("messages", "plain"),
    ("responses", "portkey"),
)


@dataclass
class Ran:
    """A run to its end."""

    bench: Bench
    server: EchoServer
    code: int
    told: dict[str, object]
    said: str


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Let all runs happen at once: most of each is the start of an interpreter."""
    with ExitStack() as stack:
        begun = []
        for api, dialect in ASKED:
            server = stack.enter_context(echo_server(api))
            bench = Bench(folder=tmp_path_factory.mktemp(dialect), url=server.url, token=KEY)
            stack.callback(bench.end_all)
            words = ("--url", server.url, "--api-key-env", "LOCAL_TEST_KEY", "--yes", "--api", api)
            many = ("--runs", "4", "--dialect", dialect, "--case", CASES, "--debug", "-vv")
            begun.append((bench, server, bench.start("bench", "m", *words, *many, "--json")))
        yield {
            asked: Ran(bench, server, *bench.finish(process))
            for asked, (bench, server, process) in zip(ASKED, begun, strict=True)
        }


@pytest.mark.parametrize("asked", ASKED, ids="-".join)
def test_a_key_that_a_server_echoes_is_nowhere(runs, asked):
    ran = runs[asked]
    assert ran.server.posts > 10, ran.said
    assert ran.server.on_command_lines == []
    assert ran.told["files"], ran.said
    assert ran.code in {0, 5}
    written = {path.suffix for path in ran.bench.output.iterdir() if path.name[0] != "."}
    assert written == {".json", ".jsonl", ".md", ".html", ".csv"}
    assert list((ran.bench.folder / "data").rglob("*.jsonl")), "no archive to look into"
    # What was said is there, masked: the echo did arrive.
    assert ran.bench.journal.read_text().count("[secret]") > 20
    assert leaks(ran.bench, json.dumps(ran.told), ran.said) == {}


def test_whoever_looks_at_such_a_run_again_sees_no_key(runs):
    bench = runs[ASKED[0]].bench
    begun = [bench.start(*each, "--debug", "-vv", "--json") for each in _looks(bench)]
    again = [bench.finish(process) for process in begun]
    # By itself: it writes to where the others read.
    again.append(bench.do("resume", str(bench.journal), "--debug", "-vv"))
    assert 2 not in [code for code, _, _ in again], again
    assert all(told for _, told, _ in again)
    assert leaks(bench, *(json.dumps(told) + said for _, told, said in again)) == {}


def _looks(bench):
    journal = str(bench.journal)
    return (
        ("render", journal, "--output", str(bench.folder / "again")),
        ("show", journal),
        ("show", journal, "--failed"),
        ("show", journal, "--billing"),
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
