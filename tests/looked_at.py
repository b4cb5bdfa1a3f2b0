"""What a started gateway says, and what a kill by pattern would hit of it."""

import http.client

from orchestrator.exposure import Exposure, exposed, patterns_for
from orchestrator.lifecycle import Started, session_of
from tests.patience import PATIENCE_S
from tests.yard import Yard


def ask(started: Started) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", started.record.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def hits(yard: Yard, started: Started) -> tuple[Exposure, ...]:
    """What a `pkill -f` of the usual patterns would hit, of all members."""
    patterns = patterns_for(
        entry=yard.worktree / "dist/serve.js",
        worktree=yard.worktree,
        more=("serve", "shop", "uvicorn", "app:app"),
    )
    session = session_of(yard.machine, started.record.identity, started.record.run_id)
    assert session
    return exposed(session, patterns)
