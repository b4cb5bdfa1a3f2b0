"""The same hostile programs behind every wall of this machine: as root, and as an ordinary user."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.sandbox.probing import Walls
from tests.walled import Behind, readable_python, start_ordinary


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.sandbox)


@pytest.fixture(scope="session")
def _ordinary() -> Iterator[subprocess.Popen[bytes]]:
    python = readable_python()
    if python is None:
        pytest.skip("no Python of this version that an ordinary user may run with our packages")
    with start_ordinary(python) as server:
        yield server
        assert server.stdin
        server.stdin.close()


@pytest.fixture(
    params=[
        ("ourselves", "namespaces"),
        ("ordinary", "namespaces"),
        ("ourselves", "landlock"),
        ("ordinary", "landlock"),
    ],
    ids=["ourselves-namespaces", "ordinary-namespaces", "ourselves-landlock", "ordinary-landlock"],
)
def behind(request: pytest.FixtureRequest) -> Behind:
    """Run programs: each kind of walls, as whoever runs the tests and as an ordinary user."""
    user, walls = request.param
    server = None
    if user == "ordinary":
        if os.geteuid() != 0:
            pytest.skip("whoever runs the tests is an ordinary user already")
        server = request.getfixturevalue("_ordinary")
    one = Behind(walls, server=server)
    reason = _cannot(user, walls, one)
    if reason:
        pytest.skip(reason)
    return one


_REASONS: dict[tuple[str, str], str | None] = {}


def _cannot(user: str, walls: Walls, one: Behind) -> str | None:
    """Return why this machine has no such walls."""
    if (user, walls) not in _REASONS:
        tried = one.run("")
        refused = tried.end == "refused"
        _REASONS[user, walls] = tried.stderr.decode(errors="replace") if refused else None
    return _REASONS[user, walls]
