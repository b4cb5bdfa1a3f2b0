"""A built worktree whose gateway ends, hangs or gives way in every manner, on demand.

Its entry is `dist/serve.js`, the name that people kill by. SIGUSR2 makes it read the file `action`
in its folder and do what that says.
"""

import os
import signal
from pathlib import Path

_ENTRY = """
import { existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { pathToFileURL } from "node:url";

const server = createServer((incoming, response) => {
  if (incoming.url === "/health") return void response.end("ok");
  const url = new URL(process.env.UPSTREAM + incoming.url.replace(/^\\/v1/, ""));
  const headers = { ...incoming.headers, host: url.host, authorization: "Bearer test-token" };
  const outgoing = request(url, { method: incoming.method, headers }, (back) => {
    response.writeHead(back.statusCode, back.headers);
    back.pipe(response);
    back.on("error", () => response.destroy());
  });
  outgoing.on("error", (error) => {
    if (!response.headersSent) response.writeHead(502);
    response.end(JSON.stringify({ error: { message: String(error), type: "upstream_error" } }));
  });
  incoming.pipe(outgoing);
});

const hoard = [];
const actions = {
  exit0: () => process.exit(0),
  exit1: () => process.exit(1),
  abort: () => process.abort(),
  throw: () => {
    throw new TypeError(`no provider for ${process.env.SECRET_KEY}`);
  },
  // The timer: with nothing left to wait for, Node would end.
  close: () => setInterval(() => {}, 1000) && server.close(),
  // With a request under way, so that nobody comes to the port before its next owner.
  give: () => server.once("request", () => {
    actions.close();
    while (!existsSync("taken")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  }),
  hoard: () => setInterval(() => hoard.push(Buffer.alloc(8 << 20, 1)), 1),
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.on("SIGUSR2", () => actions[readFileSync("action", "utf8")]());
  server.listen(Number(process.env.PORT), "127.0.0.1");
}
"""
SECRET = "s3cr3t-of-the-gateway"  # noqa: S105  a value to look for in what is written


def build_killable(worktree: Path, *, upstream: str = "simulated", url: str = "") -> Path:
    """Make the worktree with its description.

    Args:
        worktree: Made here.
        upstream: ``simulated``: the job brings its own simulator; ``own``: the one at ``url``.
        url: With ``/v1``.
    """
    (worktree / "dist").mkdir(parents=True)
    (worktree / ".git").mkdir()
    (worktree / "dist" / "serve.js").write_text(_ENTRY)
    (worktree / "package.json").write_text('{"type": "module"}')
    table = "point.env" if upstream == "simulated" else "env"
    place = "{upstream_base_url}" if upstream == "simulated" else url
    free = "" if upstream == "simulated" else 'upstream_free = "a simulator"\n'
    (worktree / "gateway-bench.toml").write_text(
        f'[gateway]\ncommand = "node"\nentry = "dist/serve.js"\nupstream = "{upstream}"\n{free}'
        f'[gateway.{table}]\nUPSTREAM = "{place}"\n'
    )
    return worktree


def act(worktree: Path, pid: int, what: str) -> None:
    """Have the gateway do something."""
    (worktree / "action").write_text(what)
    os.kill(pid, signal.SIGUSR2)
