"""The job's end of the line."""

import json
import os

import pytest

from orchestrator.link import Asked, JobLink, JournalMade, Measured, parse


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param({"type": "journal", "path": "/x"}, JournalMade(path="/x"), id="journal"),
        pytest.param(
            {"type": "ask", "id": 3, "trial": "t|c|r1", "code": "connect_reset", "localPort": 9},
            Asked(id=3, trial="t|c|r1", code="connect_reset", local_port=9),
            id="a question",
        ),
        pytest.param(
            {"type": "ask", "id": 3, "trial": "t", "code": None, "localPort": None},
            Asked(id=3, trial="t", code=None, local_port=None),
            id="a question about a closed connection of unknown fault",
        ),
        pytest.param({"type": "measured", "reason": "done"}, Measured(reason="done"), id="the end"),
        pytest.param({"type": "weather"}, None, id="a newer bench says more"),
        pytest.param(["type"], None, id="no object"),
    ],
)
def test_lines_become_messages(line, message):
    assert parse(json.dumps(line).encode()) == message


def test_what_is_no_json_is_ignored():
    assert parse(b"\xff{") is None


@pytest.fixture
def pair():
    link = JobLink()
    theirs = os.dup(link.child_descriptor)
    link.child_has_it()
    yield link, theirs
    link.close()
    os.close(theirs)


def test_messages_are_put_together_over_reads(pair):
    link, theirs = pair
    line = b'{"type":"measured","reason":"done"}\n'
    os.write(theirs, line + line[:10])
    assert link.receive() == (Measured(reason="done"),)
    os.write(theirs, line[10:])
    assert link.receive() == (Measured(reason="done"),)


def test_a_child_that_is_gone_closes_the_line_and_sending_is_no_error(pair):
    link, theirs = pair
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, theirs)
    os.close(null)
    assert link.receive() == ()
    assert link.is_closed
    link.send({"type": "outcome"})


def test_sent_messages_are_one_line_each(pair):
    link, theirs = pair
    link.send({"type": "hello", "runId": "r"})
    assert os.read(theirs, 100) == b'{"type":"hello","runId":"r"}\n'
