"""Find out what this machine's sandbox holds: by trying to get out of it, not by asking versions.

One program of ours looks around behind the walls, a second one starts as many processes as it can,
a third one takes as much memory as it can.
"""

import json
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from bench.sandbox.levels import Seen, protections
from bench.sandbox.program import Limits, Outcome, Program, Protections

Walls = Literal["namespaces", "landlock", "seatbelt"]
Run = Callable[[Program, Walls], tuple[Outcome, Mapping[str, Any]]]

_LOOK_AROUND = """
import json, os, socket, sys
port, canary, parent = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def works(attempt):
    try:
        attempt()
    except OSError:
        return False
    return True
def connect():
    socket.create_connection(("127.0.0.1", port), 1).close()
def pair():
    for one in socket.socketpair():
        one.close()
print(json.dumps({
    "connects": works(connect),
    "socket": works(lambda: socket.socket().close()),
    "pair": works(pair),
    "reads": works(lambda: open(canary).close()),
    "environ": works(lambda: open(f"/proc/{parent}/environ").close()),
    "writes": works(lambda: open(os.path.join(os.path.dirname(canary), "written"), "w").close()),
    "signals": works(lambda: os.kill(parent, 0)),
    "chroot": works(lambda: os.chroot("/")),
}))
"""
_START_MANY = """
import os
started = 0
try:
    for _ in range(40):
        if os.fork() == 0:
            os.read(0, 1)
            import time
            time.sleep(60)
        started += 1
except OSError:
    pass
print(started, flush=True)
os._exit(0)
"""
_TAKE_MUCH = """
import os
taken = []
for _ in range(40):
    taken.append(bytearray(os.urandom(1) * (8 << 20)))
print(len(taken))
"""
_FEW = 6
_LITTLE_MB = 128


def find_out(run: Run) -> Protections:
    """Return what the strongest walls hold that could be put up."""
    reasons = []
    for walls in _candidates():
        seen = _try(run, walls)
        if isinstance(seen, str):
            reasons.append(f"{walls}: {seen}")
            continue
        return protections(seen, reasons)
    why = "; ".join(reasons) or f"nothing known for {sys.platform}"
    return Protections(level="none", walls=None, items=(), why=why)


def _candidates() -> Iterable[Walls]:
    if sys.platform == "darwin":  # pragma: no cover
        return ("seatbelt",)
    return ("namespaces", "landlock")


def _try(run: Run, walls: Walls) -> Seen | str:
    """Return what was seen behind the walls, or why they could not be put up."""
    with (
        tempfile.TemporaryDirectory(prefix="gateway-bench-probe-") as folder,
        _listener() as server,
    ):
        canary = Path(folder, "canary")
        canary.write_text("seen")
        port = str(server.getsockname()[1])
        look, facts = run(
            Program(
                language="python",
                argv=("look.py", port, str(canary), str(os.getpid())),
                files={"look.py": _LOOK_AROUND.encode()},
            ),
            walls,
        )
        has_written = canary.with_name("written").exists()
    if look.end == "refused":
        return look.stderr.decode(errors="replace")
    found: dict[str, bool] = {}
    with suppress(ValueError):
        found = json.loads(look.stdout)
    if not found:
        last = look.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"Python does not run behind them ({look.end}{': ' + last[0] if last else ''})"
    return Seen(
        walls=walls,
        reaches=frozenset(
            name
            for name, works in (found | {"writes": found["writes"] or has_written}).items()
            if works
        ),
        counted=facts.get("counted", {}),
        starts_too_many=_starts_too_many(run, walls),
        takes_too_much=_takes_too_much(run, walls),
        is_root=os.geteuid() == 0,
    )


def _starts_too_many(run: Run, walls: Walls) -> bool:
    limits = Limits(processes=_FEW, wall_s=5.0)
    end, _ = run(_program(_START_MANY, limits), walls)
    if end.end == "process_limit":
        return False
    started = end.stdout.strip()
    return not started.isdigit() or int(started) > _FEW


def _takes_too_much(run: Run, walls: Walls) -> bool:
    limits = Limits(memory_mb=_LITTLE_MB, wall_s=5.0)
    end, _ = run(_program(_TAKE_MUCH, limits), walls)
    return end.end != "memory_limit"


def _program(code: str, limits: Limits) -> Program:
    return Program(
        language="python", argv=("try.py",), files={"try.py": code.encode()}, limits=limits
    )


def _listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))
