"""`logs`: the end of a log, and what comes after it until the gateway ends."""

import time
from pathlib import Path

import pytest

from orchestrator.records import LOG_LIMIT_BYTES
from tests.command_line import CommandLine
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.integration

TALKER = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
        print("\\x1b[31masked\\x1b[0m", self.path, flush=True)
    def log_message(self, *_):
        pass
print("begins with sk-abcdefghijklmnop and", os.environ["LOCAL_API_KEY"], flush=True)
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.fixture
def command(tmp_path_factory):
    tree = tmp_path_factory.mktemp("tree")
    (tree / ".git").mkdir()
    (tree / "talk.py").write_text(TALKER)
    line = CommandLine(tmp_path_factory.mktemp("home"), tree, LOCAL_API_KEY="plain-secret-value")
    yield line
    for record in line.records():
        line("stop", str(record["identity"]["pid"]))
    assert line.leftovers() == []


def test_a_log_is_followed_to_the_end_of_its_gateway_with_secrets_masked(command, tmp_path):
    started = command("start", "--entry", "talk.py", "--health", "/", "--json")
    assert started.code == 0, started.err
    log = started.gateway["log"]
    followed = command.begin("logs", "--follow", "-n", "1")
    deadline = time.monotonic() + PATIENCE_S
    assert followed.stdout is not None
    first = followed.stdout.readline()
    assert first.startswith("\ufffd[31masked\ufffd[0m /")
    with Path(log).open("a") as file:
        file.write("a torn li")
        file.flush()
        time.sleep(0.6)
        file.write("ne\n")
    assert followed.stdout.readline() == "a torn line\n"
    assert time.monotonic() < deadline
    assert command("stop").code == 0
    done = command.end(followed)
    assert done.code == 0
    assert "`default` (PID " in done.err
    assert "was ended by SIGTERM" in done.err

    after = command("logs", "-n", "100")
    assert after.code == 0
    assert "begins with sk-*** and [key]" in after.out
    assert "plain-secret-value" not in after.out
    assert after.err.startswith("`default` (PID ")


def test_a_log_that_is_too_large_is_emptied_after_its_lines_were_told(command):
    started = command("start", "--entry", "talk.py", "--health", "/", "--json")
    assert started.code == 0, started.err
    log = Path(started.gateway["log"])
    with log.open("ab") as file:
        file.truncate(LOG_LIMIT_BYTES + 1)
        file.write(b"\nthe last line\n")
    told = command("logs", "-n", "1")
    assert (told.code, told.out) == (0, "the last line\n"), told.err
    assert log.stat().st_size < LOG_LIMIT_BYTES
    assert log.with_name(f"{log.name}.1").read_bytes().endswith(b"\nthe last line\n")


def test_a_stream_is_no_object_and_a_log_of_nothing_is_said(command):
    both = command("logs", "-f", "--json")
    assert (both.code, both.told["headline"]) == (
        2,
        "`--follow` is a stream, `--json` one object: choose one",
    )
    none = command("logs")
    assert none.code == 2
    assert none.err == "error: no gateway `default` here\nhint: none is on record\n"
