"""Options and fixtures that every test may use."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast examples are made says something about the machine, which others use too.
# What CI tries is the same each time: a failure there is of the change, and new ones come up here.
settings.register_profile(
    "shared",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("shared")

GOLDEN = Path(__file__).parent / "golden"


def pytest_configure() -> None:
    # Begun in the background or under `nohup`, these are ignored, and every process that a test
    # starts would inherit that.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is rendered now to tests/golden; read the difference before committing it",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a check that a text equals the golden file of that name."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="")
        assert path.read_bytes().decode() == text, f"`pytest --update-golden` rewrites {name}"

    return check
