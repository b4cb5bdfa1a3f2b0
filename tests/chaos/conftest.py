"""How long and how wide: `scripts/test-chaos --seconds 120 --gateways 50 --seed 1`."""

import pytest

from tests.chaos.disorder import Size

_TOLD = pytest.StashKey[list[str]]()
_OPTIONS = {"seconds": 120.0, "gateways": 50, "seed": 20_260_101}


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, default in _OPTIONS.items():
        parser.addoption(f"--{name}", type=type(default), default=default)


def pytest_configure(config):
    config.stash[_TOLD] = []


def pytest_terminal_summary(terminalreporter, config):
    if config.stash[_TOLD]:
        terminalreporter.section("what was done, and how it ended")
        for line in config.stash[_TOLD]:
            terminalreporter.line(line)


@pytest.fixture
def tell(request):
    """Say something at the end of the session: what no test is to judge."""
    return request.config.stash[_TOLD].append


@pytest.fixture
def size(request) -> Size:
    return Size(**{name: request.config.getoption(f"--{name}") for name in _OPTIONS})
