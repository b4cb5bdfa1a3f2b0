"""The options of a Ray cluster, where it can't be used."""

import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.patience import PATIENCE_S
from tests.simulator_process import TOKEN, running_simulator

pytestmark = pytest.mark.integration
BENCH = (sys.executable, "-m", "bench", "bench", "sim-n1", "-c", "2", "-n", "2")


def typed(tmp_path, url, *words):
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path), "SIMULATED_KEY": TOKEN}
    ended = subprocess.run(
        [*BENCH, "--url", url, *words],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
        timeout=PATIENCE_S,
    )
    return ended.returncode, ended.stderr


def test_an_address_that_is_none_is_refused_before_anything_is_asked(tmp_path):
    words = ("--engine", "ray", "--ray-address", "ray://h:1")
    code, stderr = typed(tmp_path, "http://127.0.0.1:9/v1", *words)
    assert code == 2
    assert "`HOST:PORT` of the cluster's head, or `auto`, is needed" in stderr


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    with running_simulator(tmp_path_factory.mktemp("simulator"), "--any-model") as running:
        yield running


def test_an_address_of_a_cluster_without_the_engine_says_what_it_needs(tmp_path, simulator):
    words = ("--ray-address", "127.0.0.1:6379", "--api-key-env", "SIMULATED_KEY")
    code, stderr = typed(tmp_path, simulator.base_url, *words)
    assert code == 2
    assert "`--ray-address` is of a Ray cluster: it needs `--engine ray`" in stderr


@pytest.mark.skipif(find_spec("ray") is not None, reason="Ray is installed here")
def test_without_ray_the_engine_says_how_to_get_it(tmp_path, simulator):
    words = ("--engine", "ray", "--api-key-env", "SIMULATED_KEY")
    code, stderr = typed(tmp_path, simulator.base_url, *words)
    assert code == 2
    assert "error: `--engine ray` needs Ray, which is not installed here" in stderr
    assert "pip install 'gateway-bench[ray]'" in stderr
