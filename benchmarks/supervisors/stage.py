"""One experiment's folder, server, job and evidence."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.supervisors.install import NODE_BIN, PEERS, PROPS
from benchmarks.supervisors.tools import GRACE_S, READY_S, Place, Tool

PORT = 24_001
# Longer than any tool waits for a server, and for a stubborn one to end.
LONGEST_S = 40.0
_TURN_S = 0.005


class Stage:
    """A checkout with the server in it, a tool that keeps it, and what both left behind.

    Args:
        tool: Which one.
        fault: Of the server; see ``props/serve.js``.
        environ: Beside the usual variables.
    """

    def __init__(
        self, tool: Tool, fault: str = "", environ: Mapping[str, str] | None = None
    ) -> None:
        self.tool = tool
        # Neutral names: what is typed is found by patterns, the folder must not be.
        self.root = Path(tempfile.mkdtemp(prefix="x"))
        self.checkout = self.root / "shop"
        self.notes = self.root / "notes"
        self.finish = self.root / "finish"
        self.output = self.root / "output"
        self.notes.touch()
        (self.checkout / "dist").mkdir(parents=True)
        shutil.copy(PROPS / "serve.js", self.checkout / "dist" / "serve.js")
        for name in tool.props:
            shutil.copy(PROPS / name, self.checkout / name.replace(".txt", ".py"))
        job = (sys.executable, str(PROPS / "job.py"), str(self.notes), str(self.finish), str(PORT))
        self.place = Place(
            checkout=self.checkout, port=PORT, url=f"http://127.0.0.1:{PORT}/health", job=job
        )
        self.environ = {**_quiet_environment(self.root), **self._of_server("ours", fault)}
        self.environ |= {"JOB": json.dumps(job), "SERVER_URL": self.place.url}
        self.environ |= {"READY_BY": tool.ready_by, **(environ or {})}

    def _of_server(self, mark: str, fault: str) -> dict[str, str]:
        return {"PORT": str(PORT), "MARK": mark, "FAULT": fault, "NOTES": str(self.notes)}

    def begin(self) -> subprocess.Popen[bytes]:
        """Start the tool with its job."""
        return self.start(self.tool.command(self.place))

    def start(self, argv: tuple[str, ...]) -> subprocess.Popen[bytes]:
        """Start a command as a terminal would, its output kept."""
        with self.output.open("ab") as output:
            return subprocess.Popen(
                argv,
                cwd=self.checkout,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def start_stranger(self, mark: str) -> subprocess.Popen[bytes]:
        """Start a healthy server of another checkout on the port, and wait until it listens."""
        folder = self.root / "elsewhere" / "dist"
        folder.mkdir(parents=True)
        shutil.copy(PROPS / "serve.js", folder / "serve.js")
        environ = {**self.environ, **self._of_server(mark, "")}
        argv = [self.environ["NODE"], "dist/serve.js"]
        server = subprocess.Popen(argv, cwd=folder.parent, env=environ)
        self.wait(lambda: self.noted("listening"))
        return server

    def wait(self, is_so: Callable[[], object], limit_s: float = LONGEST_S) -> float | None:
        """Wait until something is so; return the seconds it took, ``None`` = never."""
        begin = time.perf_counter()
        while True:
            if is_so():
                return time.perf_counter() - begin
            if time.perf_counter() - begin > limit_s:
                return None
            time.sleep(_TURN_S)

    def noted(self, what: str, **more: object) -> list[dict[str, Any]]:
        """Return what server and job noted under one name, oldest first."""
        lines = (json.loads(line) for line in self.notes.read_text().splitlines())
        wanted = {"what": what, **more}
        return [line for line in lines if wanted.items() <= line.items()]

    def wait_for_job(self, tool: subprocess.Popen[bytes]) -> bool:
        """Wait until the job runs and has asked; False = the tool ended without."""
        self.wait(lambda: self.noted("answered") or tool.poll() is not None)
        return bool(self.noted("answered"))

    def end_job(self, tool: subprocess.Popen[bytes]) -> float | None:
        """Let the job end; return how long the tool then takes to end, ``None`` = for ever."""
        self.finish.touch()
        return self.wait(lambda: tool.poll() is not None)

    def said(self) -> str:
        """Return everything that was written to the terminal."""
        return self.output.read_text(errors="replace")

    def servers(self) -> list[int]:
        """Return the PIDs of our servers that live."""
        born = [line["pid"] for line in self.noted("born", mark="ours")]
        return [pid for pid in dict.fromkeys(born) if lives(pid)]

    def answers(self) -> dict[str, Any] | None:
        """Ask who listens on the port."""
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=2)
        try:
            connection.request("GET", "/health")
            told: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
        return told

    def is_port_taken(self) -> bool:
        """Say whether somebody listens on the port."""
        with socket.socket() as trial:
            return trial.connect_ex(("127.0.0.1", PORT)) == 0

    def close(self) -> None:
        """Remove the folder; the processes die with the namespace."""
        shutil.rmtree(self.root, ignore_errors=True)


def lives(pid: int) -> bool:
    """Say whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pid: int) -> None:
    """End a process of this namespace at once, if it is there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _quiet_environment(root: Path) -> dict[str, str]:
    """Return a person's environment, with every state folder inside the experiment."""
    home = root / "home"
    home.mkdir()
    return {
        "PATH": f"{NODE_BIN}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "NODE": shutil.which("node") or "node",
        "LANG": "C.UTF-8",
        "XDG_STATE_HOME": str(root / "state"),
        "XDG_DATA_HOME": str(root / "data"),
        "PM2_HOME": str(root / "pm2"),
        "PM2_DISABLE_VERSION_CHECK": "true",
        "NODE_PATH": str(PEERS / "node_modules"),
        "WAIT_ON_TIMEOUT": f"{READY_S}000",
        "READY_S": str(READY_S),
        "GRACE_S": str(GRACE_S),
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
