"""A repository whose gateway passes streams on with a known delay, which is part of its source.

Built by its description's `build` command into an ignored folder, as real ones are: a fresh working
tree holds nothing that could be started.

With `HOLD_FROM` and `HOLD` in its environment it passes on no question from that number on until the
file `HOLD` is there; `HOLD` + `.here` says that one waits. So a test meets the middle of a run.
"""

import subprocess
from pathlib import Path

_DESCRIPTION = """
[gateway]
build = [["python3", "build.py"]]
command = ["python3"]
entry = "dist/serve.py"
upstream = "simulated"
ready-timeout = "20s"

[gateway.point]
env = { UPSTREAM = "{upstream_url}" }
headers = { Authorization = "Bearer {upstream_token}" }
"""

_BUILD = """
import pathlib
pathlib.Path("dist").mkdir(exist_ok=True)
delay = pathlib.Path("delay.txt").read_text().strip()
if delay == "broken":
    raise SystemExit("this commit can't be built")
text = pathlib.Path("serve.txt").read_text().replace("{delay}", delay)
pathlib.Path("dist/serve.py").write_text(text)
"""

_SERVE = """
import asyncio, os
from itertools import count
from urllib.parse import urlsplit

DELAY_S = float(os.environ.get("DELAY_MS", "{delay}")) / 1e3
UPSTREAM = urlsplit(os.environ["UPSTREAM"])
HOLD_FROM, HOLD = int(os.environ.get("HOLD_FROM", "0")), os.environ.get("HOLD", "")
asked = count(1)


async def held_back():
    # Says that it is here, and stands still until it is let go.
    open(HOLD + ".here", "w").close()
    while not os.path.exists(HOLD):
        await asyncio.sleep(0.02)


async def relay(client, back):
    there, up = await asyncio.open_connection(UPSTREAM.hostname, UPSTREAM.port)

    async def forth():
        # One read is one request: those of a client that waits for answers are short.
        while data := await client.read(65536):
            if DELAY_S:
                await asyncio.sleep(DELAY_S)
            if HOLD_FROM and data.startswith(b"POST ") and next(asked) >= HOLD_FROM:
                await held_back()
            up.write(data)
        up.close()

    forward = asyncio.ensure_future(forth())
    while data := await there.read(65536):
        back.write(data)
    forward.cancel()
    back.close()


async def main():
    server = await asyncio.start_server(relay, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
"""


class DelayingGateway:
    """The repository, with one commit."""

    def __init__(self, folder: Path, *, delay_ms: str = "0") -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "gateway-bench.toml").write_text(_DESCRIPTION)
        (folder / "build.py").write_text(_BUILD)
        (folder / "serve.txt").write_text(_SERVE)
        (folder / ".gitignore").write_text("dist/\n.context/\n")
        self._git("init", "-q", "-b", "main")
        self.first = self.commit(delay_ms)

    def commit(self, delay_ms: str) -> str:
        """Commit another delay; return the commit."""
        (self.folder / "delay.txt").write_text(f"{delay_ms}\n")
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", f"Wait {delay_ms} ms")
        return self._git("rev-parse", "HEAD")

    def worktrees(self) -> list[str]:
        """Working trees that git knows."""
        listed = self._git("worktree", "list", "--porcelain").splitlines()
        return [line.removeprefix("worktree ") for line in listed if line.startswith("worktree ")]

    def _git(self, *words: str) -> str:
        command = ["git", "-C", str(self.folder), "-c", "user.name=t", "-c", "user.email=t@t"]
        done = subprocess.run([*command, *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()
