"""The tools, each used as its own manual shows: keep a server, run one command, stop the server.

Settings are the defaults but for two, where a tool has them: 5 s for the server to be ready, 3 s
between asking it to stop and killing it.
"""

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.supervisors.install import NODE_BIN, PROPS, PYTHON

READY_S = 5
GRACE_S = 3
SERVER = "dist/serve.js"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a tool is told."""

    checkout: Path
    port: int
    url: str
    job: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One way to keep a server while a command runs."""

    name: str
    release: str
    command: Callable[[Place], tuple[str, ...]]
    ready_by: Literal["answer", "word"] = "answer"
    """What it waits for: a healthy answer, or the server's own word (a log line, a message)."""
    props: tuple[str, ...] = ()
    """Files that it needs in the checkout; ``.txt`` becomes ``.py`` there."""
    cleanup: tuple[str, ...] | None = None
    """Its own command to remove what a crash left; ``None`` = it keeps nothing to remove it by."""
    daemon: str | None = None
    """File, below ``PM2_HOME``, with the PID of a daemon that is the real supervisor."""


def _ours(place: Place) -> tuple[str, ...]:
    words = (*_OURS, "exec", "--entry", SERVER, "--port", str(place.port))
    limits = ("--ready-timeout", f"{READY_S}s", "--grace", f"{GRACE_S}s")
    return (*words, *limits, "--", *place.job)


def _start_server_and_test(place: Place) -> tuple[str, ...]:
    program = str(NODE_BIN / "start-server-and-test")
    return (program, f"node {SERVER}", place.url, shlex.join(place.job))


def _mirakuru(place: Place) -> tuple[str, ...]:
    return (str(PYTHON), str(PROPS / "with_mirakuru.txt"), place.url, *place.job)


def _xprocess(place: Place) -> tuple[str, ...]:
    del place
    return (str(PYTHON), "-m", "pytest", "-q", "-s", "test_with_xprocess.py")


def _playwright(place: Place) -> tuple[str, ...]:
    del place
    return (str(NODE_BIN / "playwright"), "test")


def _pm2(place: Place) -> tuple[str, ...]:
    return ("sh", str(PROPS / "with_pm2.sh"), *place.job)


_OURS = (sys.executable, "-m", "orchestrator")

OURS = Tool(
    name="gateway-bench",
    release="this",
    command=_ours,
    cleanup=(*_OURS, "clean", "--yes", "--older-than", "0s"),
)
TOOLS = (
    OURS,
    Tool(name="start-server-and-test", release="2.1.5", command=_start_server_and_test),
    Tool(
        name="Playwright webServer",
        release="1.65.1",
        command=_playwright,
        props=("playwright.config.js", "job.spec.js"),
    ),
    Tool(name="mirakuru", release="3.1.0", command=_mirakuru),
    Tool(
        name="pm2",
        release="7.0.4",
        ready_by="word",
        command=_pm2,
        cleanup=("pm2", "kill"),
        daemon="pm2.pid",
    ),
    Tool(
        name="pytest-xprocess",
        release="1.0.2",
        ready_by="word",
        command=_xprocess,
        props=("test_with_xprocess.txt",),
        cleanup=(str(PYTHON), "-m", "pytest", "--xkill"),
    ),
)
