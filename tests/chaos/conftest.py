"""How long and how wide: `scripts/test-chaos --seconds 120 --gateways 50 --seed 1`."""

import pytest

from tests.chaos.disorder import Size

_OPTIONS = {"seconds": 120.0, "gateways": 50, "seed": 20_260_101}


def pytest_addoption(parser: pytest.Parser) -> None:
    for name, default in _OPTIONS.items():
        parser.addoption(f"--{name}", type=type(default), default=default)


@pytest.fixture
def size(request) -> Size:
    return Size(**{name: request.config.getoption(f"--{name}") for name in _OPTIONS})
