"""Every way a gateway may be written: it runs as its author meant, and its words are out of sight."""

import json
import sys
from pathlib import Path

import pytest

from orchestrator.lifecycle import find, session_of
from tests.looked_at import ask, hits
from tests.native_gateway import CC, build_native_gateway
from tests.yard import NODE

pytestmark = pytest.mark.integration
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler")


LISTEN = (
    "createServer((q, r) => r.end(JSON.stringify(process.argv.slice(1))))"
    ".listen(Number(process.env.PORT), '127.0.0.1');\n"
)
GUARDS = {
    "unguarded ESM": ("serve.mjs", "import { createServer } from 'node:http';\n" + LISTEN),
    "guarded ESM by its name": (
        "serve.mjs",
        "import { createServer } from 'node:http';\n"
        "if (process.argv[1].endsWith('serve.mjs')) " + LISTEN,
    ),
    "unguarded CJS": ("serve.cjs", "const { createServer } = require('node:http');\n" + LISTEN),
    "guarded CJS": (
        "serve.cjs",
        "const { createServer } = require('node:http');\nif (require.main === module) " + LISTEN,
    ),
    "guarded ESM with top-level await": (
        "serve.mjs",
        "import { createServer } from 'node:http';\nimport { realpathSync } from 'node:fs';\n"
        "import { fileURLToPath } from 'node:url';\nawait new Promise((r) => setTimeout(r, 10));\n"
        "if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) " + LISTEN,
    ),
}


@needs_node
@pytest.mark.parametrize("kind", GUARDS)
def test_a_node_entry_serves_whatever_its_guard(yard, kind):
    name, text = GUARDS[kind]
    entry = yard.write(f"dist/{name}", text)
    started = yard.start("node", f"dist/{name}", "--for", "shop")
    assert json.loads(ask(started)) == [str(entry), "--for", "shop"]
    assert (started.record.entry_mode, started.record.exposure) == ("shim", ())
    assert hits(yard, started) == ()
    yard.stop(held=started.held)


@needs_node
def test_the_page_s_own_way_is_one_mode(yard):
    """`echo 'import "./serve.js";' > dist/bench-serve.js`, for an entry without a guard."""
    yard.write("package.json", '{"type": "module"}')
    yard.write("dist/serve.js", "import { createServer } from 'node:http';\n" + LISTEN)
    started = yard.start("node", "dist/serve.js", entry_mode="import")
    beside = yard.worktree / "dist/bench-serve.js"
    assert json.loads(ask(started)) == [str(beside)]
    assert started.record.entry_mode == "import"
    (leader,) = started.record.exposure
    assert (leader.pid, leader.pattern) == (started.held.pid, started.record.exposure[0].pattern)
    yard.stop(held=started.held)
    assert not beside.exists()


CLUSTER = """
const cluster = require('node:cluster'), http = require('node:http');
if (cluster.isPrimary) {
  cluster.fork(); cluster.fork();
  process.on('SIGTERM', () => { cluster.disconnect(() => process.exit(0)); });
} else {
  process.on('SIGTERM', () => require('node:fs').appendFileSync('termed', process.pid + ' '));
  http.createServer((q, r) => r.end(String(process.pid)))
    .listen(Number(process.env.PORT), '127.0.0.1');
}
"""


@needs_node
def test_sigterm_is_the_master_s_alone_and_its_workers_end_as_it_says(yard):
    yard.write("dist/serve.cjs", CLUSTER)
    started = yard.start("node", "dist/serve.cjs")
    session = session_of(yard.machine, started.record.identity, started.record.run_id)
    assert len(session) == 3
    assert int(ask(started)) in {one.pid for one in session} - {started.held.pid}
    assert hits(yard, started) == ()
    done = yard.stop(held=started.held, grace_s=30)
    assert not done.was_killed
    assert done.ending.exit.code == 0
    assert not (yard.worktree / "termed").exists()
    assert yard.marked() == []


@needs_node
@pytest.mark.parametrize("kind", ["link", "wrapper"])
def test_an_npm_package_is_started_by_the_file_behind_its_command(yard, kind):
    entry = yard.write(
        "node_modules/shop/serve.mjs",
        "#!/usr/bin/env node\nimport { createServer } from 'node:http';\n"
        "import { pathToFileURL } from 'node:url';\n"
        "if (import.meta.url === pathToFileURL(process.argv[1]).href) " + LISTEN,
    )
    command = yard.worktree / "node_modules/.bin/shop-gateway"
    command.parent.mkdir()
    if kind == "link":
        entry.chmod(0o755)
        command.symlink_to("../shop/serve.mjs")
    else:
        command.write_text(
            '#!/bin/sh\nbasedir=$(dirname "$0")\n\nif [ -x "$basedir/node" ]; then\n'
            '  exec "$basedir/node"  "$basedir/../shop/serve.mjs" "$@"\nelse\n'
            '  exec node  "$basedir/../shop/serve.mjs" "$@"\nfi\n'
        )
        command.chmod(0o755)
    started = yard.start("node_modules/.bin/shop-gateway", "--for", "shop")
    assert json.loads(ask(started)) == [str(entry), "--for", "shop"]
    assert (started.record.entry, started.record.entry_mode) == (str(entry), "shim")
    assert hits(yard, started) == ()
    yard.stop(held=started.held)


@needs_cc
def test_a_native_program_by_a_link_shows_neither_its_path_nor_its_name(yard):
    program = build_native_gateway(yard.worktree / "shop-serve")
    started = yard.start("./shop-serve", entry_mode="link")
    seen = yard.machine.table.look(started.held.pid)
    assert seen.argv == (str(yard.root / "st" / f"{yard.instance.id}.run"),)
    assert seen.name == f"{yard.instance.id}.run"
    assert Path(f"/proc/{started.held.pid}/exe").resolve() == program
    assert hits(yard, started) == ()
    yard.stop(held=started.held)
    assert not (yard.root / "st" / f"{yard.instance.id}.run").is_symlink()


@needs_cc
def test_a_native_program_as_it_is_is_told_as_exposed_before_any_request(yard):
    build_native_gateway(yard.worktree / "dist/serve")
    started = yard.start("dist/serve")
    assert started.record.entry_mode == "direct"
    assert [one.pid for one in started.record.exposure] == [started.held.pid]
    kept = find(yard.machine, yard.instance)
    assert kept is not None
    assert kept.exposure == started.record.exposure
    yard.stop(held=started.held)


def test_a_python_module_with_spawned_children_shows_nothing(yard):
    yard.write("dist/__init__.py", "")
    yard.write(
        "dist/gateway.py",
        "import multiprocessing, os, time\nfrom dist.server import serve\n"
        "def rest():\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    multiprocessing.set_start_method('spawn')\n"
        "    multiprocessing.Process(target=rest, daemon=True).start()\n    serve()\n",
    )
    started = yard.start(sys.executable, "-m", "dist.gateway")
    assert len(started.record.members) >= 2
    assert hits(yard, started) == ()
    yard.stop(held=started.held)
    assert yard.marked() == []
