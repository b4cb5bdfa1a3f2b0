"""Without an address a cluster is started for the run, and nothing is left of it."""

import os
from pathlib import Path

import psutil
import pytest

from tests.ray.stage import MODEL, Command, ended, until
from tests.simulator_process import Simulator

pytestmark = pytest.mark.ray


def ray_processes() -> set[int]:
    return {
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] and "raylet" in " ".join(process.info["cmdline"])
    }


def test_a_cluster_of_our_own_ends_with_the_run(tmp_path: Path, simulator: Simulator):
    short = tmp_path / "t"
    short.mkdir()
    before = ray_processes()
    command = Command(folder=tmp_path / "run", environment=os.environ | {"TMPDIR": str(short)})
    process = command.begin(
        *("bench", MODEL, "--url", simulator.base_url, "--api-key-env", "SIMULATED_KEY", "--yes"),
        *("--include-deactivated", "--no-archive", "--engine", "ray", "--workers", "2"),
        *("-c", "4", "-n", "40"),
    )
    code, told, stderr = ended(process)
    assert (code, told["done"]) == (0, 40), stderr
    until(lambda: ray_processes() <= before, "the end of the cluster")
    assert list(short.iterdir()) == []
