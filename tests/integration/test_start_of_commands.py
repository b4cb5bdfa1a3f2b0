"""What a command loads before it does anything: names of modules, no times.

Loading is most of what a command costs, and of what a person waits for before the first request.
What is loaded too late costs more: an import between two requests delays whatever arrives meanwhile.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench_process import ROOT
from tests.patience import PATIENCE_S
from tests.simulator_process import running_simulator

pytestmark = pytest.mark.integration

TOLD_BY = """
import json, runpy, sys
told, (path, module, *sys.argv[1:]) = [], sys.argv[1:]
def hook(event, args):
    if event == "import":
        told.append(args[0])
    elif event == "socket.connect":
        told.append("(connects)")
sys.addaudithook(hook)
try:
    runpy.run_module(module, run_name="__main__", alter_sys=True)
finally:
    with open(path, "w") as file:
        json.dump(told, file)
"""
CONNECTS = "(connects)"

LIBRARIES = frozenset(
    {"httpx", "httpcore", "h11", "h2", "jinja2", "rich", "numpy", "scipy", "ray", "yaml", "re2"}
)
"""For a page, a list through a proxy, HTTP/2 or an extra: no command loads them at its start."""
CLIENT = frozenset({"asyncio", "httptools", "brotli", "bench.client.chat_client", "bench.runner"})
"""What measures: of no command that starts or looks at gateways."""
REPORTS = frozenset({"bench.report", "bench.document", "bench.summary", "bench.app.rendering"})
MAIL = frozenset({"http.client", "email.parser"})
RARE = frozenset(
    {
        "bench.agent.loop",
        "bench.agent.tools",
        "bench.catalogue.merging",
        "bench.cli.resuming",
        "bench.cluster",
        "bench.external",
        "bench.fleet",
        "bench.runner.shared",
        "bench.sandbox",
        "bench.usercases",
        "bench.cases.shortest_path",
        "bench.cases.problem",
    }
)
"""Of coding tasks, user cases, other suites, load processes, other cases."""


def loaded(folder: Path, module: str, words: Sequence[str]) -> tuple[list[str], int]:
    """Run a command and return what it tried to load, in order, and its exit status."""
    path = folder / "loaded.json"
    homes = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CONFIG", "DATA", "STATE")}
    ended = subprocess.run(
        [sys.executable, "-P", "-c", TOLD_BY, str(path), module, *words],
        cwd=folder,
        env={
            **os.environ,
            **homes,
            "PYTHONPATH": str(ROOT),
            "BENCHMARK_OUTPUT_DIR": str(folder / "out"),
            "LOCAL_TEST_KEY": "test-token",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert path.exists(), ended.stderr.decode()
    told: list[str] = json.loads(path.read_text())
    return told, ended.returncode


@pytest.mark.parametrize(
    ("module", "words", "unwanted"),
    [
        pytest.param("orchestrator", ["--help"], CLIENT | REPORTS | MAIL | RARE, id="help"),
        pytest.param("orchestrator", ["--version"], CLIENT | REPORTS | MAIL | RARE, id="version"),
        pytest.param(
            "orchestrator", ["config", "show"], CLIENT | REPORTS | MAIL | RARE, id="config"
        ),
        pytest.param("orchestrator", ["ps"], CLIENT | REPORTS | MAIL | RARE, id="ps"),
        pytest.param("orchestrator", ["status"], CLIENT | REPORTS | MAIL | RARE, id="status"),
        pytest.param("orchestrator", ["stop"], CLIENT | REPORTS | MAIL | RARE, id="stop"),
        pytest.param(
            "orchestrator", ["start", "--help"], CLIENT | REPORTS | MAIL | RARE, id="start"
        ),
        pytest.param("orchestrator", ["run", "--help"], CLIENT | REPORTS | MAIL | RARE, id="run"),
        pytest.param("bench", ["bench", "--help"], CLIENT | REPORTS | MAIL | RARE, id="bench"),
        pytest.param("bench.simulator", ["--help"], REPORTS | {"click"}, id="simulator"),
        pytest.param("bench.fleet", [], REPORTS | MAIL | RARE - {"bench.fleet"}, id="load-process"),
    ],
)
def test_a_command_loads_nothing_that_it_does_not_need(tmp_path, module, words, unwanted):
    told, _ = loaded(tmp_path, module, words)
    assert told
    assert (LIBRARIES | unwanted) & set(told) == set()


def test_a_run_loads_only_what_it_needs_before_its_first_request_and_nothing_while_it_measures(
    tmp_path,
):
    with running_simulator(tmp_path) as simulator:
        address = ("--url", simulator.url, "--api-key-env", "LOCAL_TEST_KEY", "--yes")
        load = ("--case", "fixed_output_stream", "-c", "4", "-n", "12", "--max-tokens", "4")
        words = ["bench", "demo-large", *address, *load, "--no-archive"]
        told, status = loaded(tmp_path, "bench", words)
    assert status == 0
    first, last = told.index(CONNECTS), len(told) - told[::-1].index(CONNECTS)
    assert (LIBRARIES | MAIL | RARE | REPORTS) & set(told[:last]) == set()
    assert "bench.client.chat_client" in told[first:last]
    after = told[last:]
    assert after[: after.index("bench.app.rendering")] == []
