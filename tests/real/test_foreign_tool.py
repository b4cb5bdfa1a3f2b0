"""An npm benchmark tool measures a gateway that `exec` has up for it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.command_line import CommandLine

pytestmark = pytest.mark.real

TOOL = Path(__file__).parents[2] / ".real" / "autocannon" / "node_modules" / ".bin" / "autocannon"


def test_autocannon_gets_the_address_and_its_status_is_ours(tmp_path_factory, tell):
    if not TOOL.exists() or shutil.which("node") is None:
        missing = "autocannon is not installed: run scripts/test-real"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    home, tree = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("tree")
    command = CommandLine(home, tree)
    words = (
        *(str(TOOL), "-c", "2", "-d", "1", "-j", "-m", "POST"),
        *("-H", "content-type=application/json", "-H", "authorization=Bearer test-token"),
        *("-b", '{"model":"demo-small","messages":[{"role":"user","content":"hello"}]}'),
        "{base_url}/chat/completions",
    )
    done = command("exec", "--preset", "demo", "--", *words)
    assert done.code == 0, done.err
    measured = json.loads(done.out[done.out.index("{") :])
    assert measured["2xx"] > 0
    assert measured["non2xx"] == 0
    assert measured["url"].endswith("/v1/chat/completions")
    tell(f"exec: autocannon sent {measured['2xx']} requests in {measured['duration']} s")
    assert command.records() == []
    assert command.leftovers() == []
