"""Fixtures of the tests on a Ray cluster."""

from collections.abc import Iterator

import pytest

from tests.ray.stage import KEY, SeveralNodes, running_cluster
from tests.simulator_process import Simulator, running_simulator


@pytest.fixture(scope="module")
def cluster() -> Iterator[SeveralNodes]:
    with running_cluster(nodes=3, processors=1) as running:
        yield running


@pytest.fixture
def simulator(tmp_path) -> Iterator[Simulator]:
    with running_simulator(tmp_path, "--any-model", "--token", KEY) as running:
        yield running
