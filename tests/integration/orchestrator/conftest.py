"""Real processes in a yard of their own."""

import pytest

from tests.yard import Yard


@pytest.fixture
def yard():
    made = Yard()
    yield made
    left = made.close()
    assert left == [], "a process of this test was still running"
