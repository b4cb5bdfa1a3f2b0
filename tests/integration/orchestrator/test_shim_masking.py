"""What a shim writes down of an uncaught error, run as a program of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.entry import ShimPlace, plan_entry, read_command
from tests.yard import NODE

pytestmark = pytest.mark.integration
SECRETS = {
    "SHOP_API_KEY": "key-0a1b2c3d",
    "aws_credentials": "credential-4e5f",
    "HTTPS_PROXY": "http://me:p%40ssword@127.0.0.1:3128",
    "CACHE": "redis://:hunter22@127.0.0.1/0",
}
TEXTS = ("key-0a1b2c3d", "credential-4e5f", "p%40ssword", "p@ssword", "hunter22")


def died_of(folder: Path, interpreter: str, name: str, source: str) -> str:
    """Run an entry through its shim; return the error that the shim wrote down."""
    entry = folder / name
    entry.write_text(source)
    plan = plan_entry(
        read_command([interpreter, str(entry)], folder),
        "shim",
        executable=Path(interpreter),
        place=ShimPlace(folder=folder, stem="0a1b2c3d"),
    )
    assert plan.shim is not None
    assert plan.exit_file is not None
    plan.shim.path.write_text(plan.shim.text)
    environ = {**os.environ, **SECRETS}
    done = subprocess.run(
        [str(plan.executable), *plan.argv[1:]], env=environ, capture_output=True, check=False
    )
    assert done.returncode == 1
    return str(json.loads(plan.exit_file.read_text())["error"])


PYTHON = f"raise LookupError('refused: ' + ' | '.join({TEXTS!r}) + ' at the till')\n"
JAVASCRIPT = f"throw new Error('refused: ' + {json.dumps(TEXTS)}.join(' | ') + ' at the till');\n"


@pytest.mark.parametrize(
    ("interpreter", "name", "source"),
    [
        pytest.param(sys.executable, "serve.py", PYTHON, id="python"),
        pytest.param(
            NODE or "",
            "serve.cjs",
            JAVASCRIPT,
            id="node",
            marks=pytest.mark.skipif(NODE is None, reason="node is not installed"),
        ),
    ],
)
def test_no_secret_of_the_gateways_environment_is_in_what_it_died_of(
    tmp_path, interpreter, name, source
):
    error = died_of(tmp_path, interpreter, name, source)
    told = error.split("refused: ")[-1]
    assert told.startswith("*** | *** | *** | *** | *** at the till")
