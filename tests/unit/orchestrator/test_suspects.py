"""What looks like a gateway, and what only has its words."""

import pytest

from orchestrator.suspects import suspicions
from tests.fakes_orchestrator import process

RECORDED = {23456: "default"}


def suspected(command, ports=(), **changes):
    words = tuple(command.split(" "))
    one = process(7, argv=words, name=words[0].rpartition("/")[2], **changes)
    found = suspicions([one], ports={7: ports}, recorded_ports=RECORDED, spared={8})
    return found[0].why if found else None


@pytest.mark.parametrize(
    ("command", "ports", "why"),
    [
        ("node dist/serve.js", (), "runs `dist/serve.js`"),
        ("/usr/bin/node /home/me/wt/dist/serve.mjs --x", (), "runs `dist/serve.mjs`"),
        ("python3 -m bench.simulator --port 1", (), "runs `bench.simulator`"),
        ("vim dist/serve.js", (), None),
        ("grep -r dist/serve.js .", (), None),
        ("node /opt/tsserver.js", (), None),
        ("node server.js", (3000,), "listens, and `node serve` is in its command line"),
        ("postgres -D data/dist", (5432,), None),
        ("redis-server *:6379", (6379,), None),
        ("ruby app.rb", (4001,), "listens on 4001, the usual port of LLMGateway"),
        ("ruby app.rb", (9, 23456), "listens on 23456, the port of `default`, which is on record"),
        ("ruby app.rb", (9,), None),
        ("python3 -m litellm --config x", (9,), "listens, and `litellm` is in its command line"),
    ],
)
def test_a_suspicion_says_why(command, ports, why):
    assert suspected(command, ports) == why


def test_what_is_known_already_ended_or_has_no_command_line_is_no_suspect():
    assert suspected("node dist/serve.js", state="zombie") is None
    one = process(8, argv=("node", "dist/serve.js"))
    kernel = process(9, argv=None, name="kworker")
    assert suspicions([one, kernel], ports={}, recorded_ports={}, spared={8}) == ()
