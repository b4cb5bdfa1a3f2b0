"""The seeded cases on another version of Python, with 32 bits and another C library."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
PYODIDE = ROOT / ".real" / "pyodide" / "node_modules" / "pyodide"
PROGRAM = ROOT / "tests" / "real" / "pyodide" / "digests.mjs"
SAFETY_STOP_S = 600


def test_a_thousand_instances_of_each_case_are_the_same_there(tell):
    node = shutil.which("node")
    if node is None or not PYODIDE.exists():
        missing = "Python as WebAssembly is not installed: run scripts/test-real"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    done = subprocess.run(
        [node, str(PROGRAM), str(PYODIDE), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=SAFETY_STOP_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["bits"] == 32
    tell(f"cases built by Python {told['python']} on {told['machine']}")
    here = json.loads((ROOT / "tests" / "golden" / "case-digests.json").read_bytes())
    assert told["digests"] == here
