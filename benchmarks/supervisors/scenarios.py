"""The faults: what is done to a tool and its server, and what is then seen. One function each.

Every word of a finding follows from what was seen in this very run; nothing is known in advance.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.supervisors.stage import Stage, kill, lives

_PROXY_PORT = 24_100
_AFTER_KILL_S = 5.0
_SETTLED_S = 1.0
_REASON = "DATABASE_URL is not set"
_STATUS = re.compile(r"\b(status|code|exited with)\D{0,12}\b3\b")
_PROXY = f"""
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.do_HEAD()
        self.wfile.write(b"ok")
    def do_HEAD(self):
        with open(sys.argv[1], "a") as notes:
            notes.write(json.dumps({{"what": "proxied"}}) + chr(10))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", {_PROXY_PORT}), Handler).serve_forever()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one tool did in one scenario."""

    is_right: bool
    words: str
    notice_ms: float | None = None
    """From the death of the server to the moment the job was told, or a new server was there."""
    stop_ms: float | None = None
    """From the end of the job to the end of the tool."""

    def as_dict(self) -> dict[str, object]:
        """Return it for JSON."""
        return asdict(self)


def old_server(stage: Stage) -> Finding:
    """A healthy server of another checkout listens on the port already."""
    old = stage.start_stranger("old")
    tool = stage.begin()
    if stage.wait_for_job(tool):
        return Finding(is_right=False, words=_ran_against(stage, "another checkout's server"))
    said = stage.said()
    who = "with its PID" if _names(said, old.pid) else "not whose it is"
    where = " and folder" if "elsewhere" in said else ""
    return Finding(is_right=lives(old.pid), words=f"refused: port in use, {who}{where}")


def proxy_answers(stage: Stage) -> Finding:
    """``HTTP_PROXY`` is set; the proxy answers 200 to everything; the server never listens."""
    proxy = subprocess.Popen([sys.executable, "-c", _PROXY, str(stage.notes)])
    stage.wait(lambda: _connects(_PROXY_PORT))
    tool = stage.begin()
    if stage.wait_for_job(tool):
        why = "only the proxy had answered" if stage.noted("proxied") else "health was not asked"
        return Finding(is_right=False, words=f"job ran, nothing listened: {why}")
    kill(proxy.pid)
    asked = "; the proxy had been asked" if stage.noted("proxied") else ""
    return Finding(is_right=True, words=f"not ready{_refusal(stage, tool)}{asked}")


def dies_after_ready(stage: Stage) -> Finding:
    """The server is killed (SIGKILL) while the job works."""
    tool = stage.begin()
    if not stage.wait_for_job(tool):
        return _never_ran(stage)
    (first,) = stage.servers()
    kill(first)
    killed_ns = time.monotonic_ns()
    stage.wait(lambda: stage.noted("job_told") or _reborn(stage), _AFTER_KILL_S)
    heard = stage.noted("job_told") or _reborn(stage)
    notice_ms = (int(heard[0]["atNs"]) - killed_ns) / 1e6 if heard else None
    stage.end_job(tool)
    told = bool(stage.noted("job_told"))
    names = bool(re.search(r"SIGKILL|signal 9|signal: 9", stage.said()))
    if told:
        words = f"job ended at once, exit {tool.returncode}"
        words += ", SIGKILL named" if names else ", cause not named"
        return Finding(is_right=tool.returncode != 0 and names, words=words, notice_ms=notice_ms)
    if _reborn(stage):
        words = f"started another server, job not told, exit {tool.returncode}"
        return Finding(is_right=False, words=words, notice_ms=notice_ms)
    noticed = "only at the end" if tool.returncode else "not noticed"
    return Finding(is_right=False, words=f"{noticed}: job ran on, exit {tool.returncode}")


def ready_then_dies(stage: Stage) -> Finding:
    """The server exits with 1 150 ms after it was ready: first answer, or its own word."""
    tool = stage.begin()
    if stage.wait_for_job(tool):
        stage.end_job(tool)
        by = stage.noted("answered")[-1]["by"]
        against = "a server that was gone" if by is None else "a server that kept dying"
        return Finding(is_right=False, words=f"job ran against {against}, exit {tool.returncode}")
    return Finding(is_right=True, words=f"not ready{_refusal(stage, tool)}")


def ignores_signals(stage: Stage) -> Finding:
    """The server ignores SIGTERM, SIGINT and SIGHUP."""
    return _stopped(stage)


def escaped_grandchild(stage: Stage) -> Finding:
    """A grandchild in a session of its own holds the port and ignores SIGTERM."""
    return _stopped(stage)


def launcher_killed(stage: Stage) -> Finding:
    """The tool itself is killed (SIGKILL); then the same command is typed again."""
    tool = stage.begin()
    if not stage.wait_for_job(tool):
        return _never_ran(stage)
    _kill_tool(stage, tool)
    time.sleep(_SETTLED_S)
    left = stage.servers()
    said_before = len(stage.said())
    answered = len(stage.noted("answered"))
    again = stage.begin()
    stage.wait(lambda: len(stage.noted("answered")) > answered or again.poll() is not None)
    runs_again = len(stage.noted("answered")) > answered
    served_by = (stage.noted("answered")[-1]["by"] or {}).get("pid") if runs_again else None
    stage.end_job(again)
    named = bool(left) and _names(stage.said()[said_before:], left[0])
    return _after_crash(stage, left=left, served_by=served_by, runs_again=runs_again, named=named)


def _after_crash(
    stage: Stage, *, left: list[int], served_by: int | None, runs_again: bool, named: bool
) -> Finding:
    if not left:
        return Finding(is_right=runs_again, words="server gone with it")
    words = "server left behind; next run "
    if served_by in left:
        words += "used it unasked"
    elif runs_again:
        words += "got a new one"
    else:
        words += "refused and named it" if named else "refused"
    removed = _clean_up(stage, left)
    words += f"; {removed}"
    return Finding(is_right=named and removed == "own command removed it", words=words)


def foreign_pkill(stage: Stage) -> Finding:
    """Another checkout runs ``pkill -f dist/serve.js``."""
    tool = stage.begin()
    if not stage.wait_for_job(tool):
        return _never_ran(stage)
    before = stage.servers()
    subprocess.run(["pkill", "-f", "dist/serve.js"], check=False)  # noqa: S607  # found by PATH
    time.sleep(_SETTLED_S)
    hit = []
    if any(not lives(pid) for pid in before):
        hit.append("server")
    if tool.poll() is not None and not stage.noted("job_told"):
        hit.append("the tool itself")
    if not hit:
        return Finding(is_right=True, words="nothing hit")
    again = ", another one started unasked" if _reborn(stage) else ""
    return Finding(is_right=False, words=f"{' and '.join(hit)} killed{again}")


def reused_pid(stage: Stage) -> Finding:
    """After a crash of both, a stranger has the server's PID; then the tool cleans up."""
    tool = stage.begin()
    if not stage.wait_for_job(tool):
        return _never_ran(stage)
    wanted = [*stage.servers(), *_kill_tool(stage, tool)]
    for pid in stage.servers():
        kill(pid)
    if stage.tool.cleanup is None:
        return Finding(is_right=True, words="keeps no PID; nothing to clean up with")
    stage.wait(lambda: not any(_exists(pid) for pid in wanted))
    strangers = [_with_pid(pid) for pid in wanted]
    done = stage.start(stage.tool.cleanup)
    stage.wait(lambda: done.poll() is not None)
    hit = [one.pid for one in strangers if one.poll() is not None]
    if hit:
        return Finding(is_right=False, words="a stranger with the old PID was killed")
    return Finding(is_right=True, words=f"stranger left alone, exit {done.returncode}")


def exits_at_once(stage: Stage) -> Finding:
    """The server writes a reason and exits with 3."""
    begin = time.perf_counter()
    tool = stage.begin()
    ran = stage.wait_for_job(tool)
    if ran:
        return Finding(is_right=False, words="job ran without a server")
    took_s = time.perf_counter() - begin
    said = stage.said()
    has_reason, has_status = _REASON in said, bool(_STATUS.search(said))
    words = f"refused after {took_s:.1f} s: "
    words += "reason shown" if has_reason else "reason not shown"
    words += ", status 3 named" if has_status else ", status not named"
    return Finding(is_right=has_reason and has_status, words=words)


def never_ready(stage: Stage) -> Finding:
    """The server lives and never listens; the limit is 5 s."""
    tool = stage.begin()
    if stage.wait_for_job(tool):
        return Finding(is_right=False, words="job ran without a server")
    left = stage.servers()
    words = f"not ready{_refusal(stage, tool)}"
    return Finding(is_right=not left, words=words + (", server left behind" if left else ""))


SCENARIOS: dict[str, tuple[str, Callable[[Stage], Finding]]] = {
    "old-server": ("", old_server),
    "proxy": ("never", proxy_answers),
    "dies-after-ready": ("", dies_after_ready),
    "ready-then-dies": ("dies", ready_then_dies),
    "ignores-signals": ("stubborn", ignores_signals),
    "escaped-grandchild": ("escapes", escaped_grandchild),
    "launcher-killed": ("", launcher_killed),
    "foreign-pkill": ("", foreign_pkill),
    "reused-pid": ("", reused_pid),
    "exits-at-once": ("exits", exits_at_once),
    "never-ready": ("never", never_ready),
}
"""Name of each, with the server's fault."""

ENVIRONMENTS = {
    "proxy": dict.fromkeys(("HTTP_PROXY", "http_proxy"), f"http://127.0.0.1:{_PROXY_PORT}"),
}


def _stopped(stage: Stage) -> Finding:
    tool = stage.begin()
    if not stage.wait_for_job(tool):
        return _never_ran(stage)
    took_s = stage.end_job(tool)
    if took_s is None:
        return Finding(is_right=False, words="never ended")
    left, taken = stage.servers(), stage.is_port_taken()
    words = f"ended after {took_s:.1f} s, "
    words += "server left behind" if left else "server gone"
    words += ", port still taken" if taken else ", port free"
    return Finding(is_right=not left and not taken, words=words, stop_ms=took_s * 1000)


def _never_ran(stage: Stage) -> Finding:
    last = stage.said().strip().splitlines()[-1:] or ["nothing"]
    return Finding(is_right=False, words=f"the job never ran: {last[0][:80]}")


def _ran_against(stage: Stage, whose: str) -> str:
    by = stage.noted("answered")[-1]["by"]
    is_old = by is not None and by["mark"] == "old"
    return f"job ran against {whose}" if is_old else "job ran against its own"


def _refusal(stage: Stage, tool: subprocess.Popen[bytes]) -> str:
    """Say how a start that came to nothing was told."""
    said = f", exit {tool.returncode}" if tool.returncode is not None else ", still waiting"
    return said + ("" if stage.said().strip() else ", no word why")


def _names(said: str, pid: int) -> bool:
    return bool(re.search(rf"\b{pid}\b", said))


def _reborn(stage: Stage) -> list[dict[str, Any]]:
    """Return what servers after the first one noted."""
    return stage.noted("born", mark="ours")[1:]


def _kill_tool(stage: Stage, tool: subprocess.Popen[bytes]) -> list[int]:
    """Kill the tool, its daemon if it has one, and the job; return the daemon's PID."""
    daemons = []
    if stage.tool.daemon is not None:
        pid = int((stage.root / "pm2" / stage.tool.daemon).read_text())
        kill(pid)
        daemons.append(pid)
    kill(tool.pid)
    for line in stage.noted("job_up"):
        kill(line["pid"])
    tool.wait()
    return daemons


def _clean_up(stage: Stage, left: list[int]) -> str:
    if stage.tool.cleanup is None:
        return "no command to remove it"
    done = stage.start(stage.tool.cleanup)
    stage.wait(lambda: done.poll() is not None)
    survives = any(lives(pid) for pid in left)
    return "own command did not remove it" if survives else "own command removed it"


def _with_pid(wanted: int) -> subprocess.Popen[bytes]:
    """Start a process that has exactly this PID. Of a namespace of our own only."""
    while True:
        with open("/proc/sys/kernel/ns_last_pid", "w") as last:  # noqa: PTH123  # opened to write once
            last.write(str(wanted - 1))
        stranger = subprocess.Popen(["sleep", "60"])  # noqa: S607  # found by PATH
        if stranger.pid == wanted:
            return stranger
        os.kill(stranger.pid, signal.SIGKILL)
        stranger.wait()


def _exists(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")  # noqa: PTH110  # asked often


def _connects(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0
