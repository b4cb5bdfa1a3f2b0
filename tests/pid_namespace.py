"""Run a script in a PID namespace of its own, where a kill by pattern can hit nothing else."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S

_UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


@cache
def _works() -> bool:
    try:
        return subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def needs_namespace() -> pytest.MarkDecorator:
    """Skip where no PID namespace can be made; root can on most machines."""
    return pytest.mark.skipif(
        not _works(), reason="needs `unshare --pid --mount-proc`, which this user may not here"
    )


def run_inside(
    script: str, given: dict[str, Any], environment: dict[str, str], *, status: int = 0
) -> dict[str, Any]:
    """Run a Python script as PID 1 of a new namespace; return the object that it prints.

    Args:
        script: Finds ``given`` as a variable. It is sent on stdin: no command line shows it.
        given: JSON.
        environment: The whole one, less PATH.
        status: With which it has to exit.
    """
    folder = Path(sys.executable).parent
    source = f"import json\ngiven = json.loads({json.dumps(json.dumps(given))})\n{script}"
    done = subprocess.run(
        [*_UNSHARE, Path(sys.executable).name, "-c", "import sys;exec(sys.stdin.read())"],
        input=source,
        env={**environment, "PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == status, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told
