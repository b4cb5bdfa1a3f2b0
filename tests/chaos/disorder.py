"""Ten worktrees, many gateways, many hands: commands at random, some of them killed half-way.

What is done and to whom is drawn from a seed; when it happens is the machine's business. Killed
are only commands that were begun here, and gateways on record in the state folder made here.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator import records, system
from orchestrator.ports import ProcessInfo
from orchestrator.records import GatewayRecord
from orchestrator.stopping import sweep
from tests.command_line import CommandLine
from tests.small_gateway import write_small_gateway

HANDS = 6
TREES = 10
_KILLED_SHARE = 0.4
_LONGEST_LIFE_S = 2.0
_ODDS = {
    "start": 50,
    "stop": 22,
    "status": 4,
    "ps": 4,
    "clean": 6,
    "exec": 6,
    "kill": 8,
}
"""What is done, by weight; ``kill`` ends a gateway from outside."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much of it."""

    seconds: float
    gateways: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Deed:
    """One thing to do."""

    what: str
    tree: Path
    name: str
    killed_after_s: float | None
    """``None`` = it may come to its end."""


@dataclass(kw_only=True)
class Disorder:
    """The place, and what happened in it."""

    root: Path
    size: Size
    done: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.line = CommandLine(self.root / "h", self.root)
        self.machine = system.machine(self.line.state)
        self._random = random.Random(self.size.seed)
        self._lock = threading.Lock()
        self.trees = _worktrees(self.root)
        self._stop_ns = 0

    def gateways(self) -> list[tuple[Path, str]]:
        """Every gateway that may be: worktree and name."""
        each = -(-self.size.gateways // TREES)
        return [(tree, f"n{at}") for tree in self.trees for at in range(each)]

    def unleash(self) -> None:
        """Let all hands do as they like for the time that was asked for."""
        self._stop_ns = time.perf_counter_ns() + int(self.size.seconds * 1e9)
        hands = [threading.Thread(target=self._hand) for _ in range(HANDS)]
        for hand in hands:
            hand.start()
        for hand in hands:
            hand.join()

    def marked(self) -> list[ProcessInfo]:
        """Living processes whose environment names a record in this state folder."""
        return [
            one
            for one in self.machine.table.everyone()
            if one.state != "zombie"
            and one.record_path is not None
            and one.record_path.startswith(str(self.line.state))
        ]

    def end_marked(self) -> None:
        """End what a failed test left, each by its identity."""
        sweep(self.machine, self.marked(), grace_s=0.0)

    def _hand(self) -> None:
        while time.perf_counter_ns() < self._stop_ns:
            with self._lock:
                deed = self._draw()
            if deed.what == "kill":
                self._kill_gateway()
            else:
                self._command(deed)

    def _draw(self) -> Deed:
        tree, name = self._random.choice(self.gateways())
        (what,) = self._random.choices(list(_ODDS), list(_ODDS.values()))
        life_s = self._random.uniform(0, _LONGEST_LIFE_S)
        is_killed = self._random.random() < _KILLED_SHARE
        return Deed(what=what, tree=tree, name=name, killed_after_s=life_s if is_killed else None)

    def _command(self, deed: Deed) -> None:
        process = self.line.begin(*_words(deed))
        if deed.killed_after_s is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(deed.killed_after_s)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                # Not to the end of its pipes: what it left behind may hold them.
                process.wait(30)
                for pipe in (process.stdout, process.stderr):
                    if pipe is not None:
                        pipe.close()
                self._note(f"{deed.what} killed")
                return
        ended = self.line.end(process)
        reason = json.loads(ended.out)["reason"] if ended.out.startswith("{") else ended.code
        self._note(f"{deed.what} {reason}")
        if ended.code not in (0, 3, 125):
            with self._lock:
                self.faults.append(f"{deed}: exit {ended.code}: {ended.out} {ended.err}")

    def _kill_gateway(self) -> None:
        for path in sorted(self.line.state.glob("*.json")):
            with suppress(OSError):
                record = records.decode(path.read_bytes())
                if isinstance(record, GatewayRecord) and self._is_chosen():
                    held = self.machine.holder.hold(record.identity.pid)
                    seen = self.machine.table.look(record.identity.pid)
                    is_it = isinstance(seen, ProcessInfo) and seen.identity == record.identity
                    if held is not None:
                        if is_it:
                            held.send(signal.SIGKILL)
                            self._note("gateway killed from outside")
                        held.close()
                    return

    def _is_chosen(self) -> bool:
        with self._lock:
            return self._random.random() < 1 / 8

    def _note(self, what: str) -> None:
        with self._lock:
            self.done[what] += 1


def _words(deed: Deed) -> tuple[str, ...]:
    described = ("--gateway", str(deed.tree), "--entry", "gateway_entry.py")
    match deed.what:
        case "start":
            return ("start", *described, "--name", deed.name, "--grace", "2s", "--json")
        case "stop" | "status":
            return (deed.what, deed.name, "--gateway", str(deed.tree), "--json")
        case "clean":
            where = ("--mine", "--gateway", str(deed.tree))
            return ("clean", *where, "--older-than", "0s", "--yes", "--json")
        case "exec":
            return ("exec", *described, "--grace", "2s", "--", "sleep", "0.3")
        case _:
            return ("ps", "--json")


def _worktrees(root: Path) -> list[Path]:
    """Make one repository with ten working trees, some of them one inside another."""
    first = root / "shop"
    first.mkdir()
    _git(first, "init", "-q", "-b", "main")
    write_small_gateway(first)
    _git(first, "add", ".")
    _git(first, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "one")
    trees = [first]
    for at in range(1, TREES):
        tree = (first / f"nested-{at}") if at % 5 == 0 else (root / f"shop-{at}")
        _git(first, "worktree", "add", "-q", "-b", f"b{at}", str(tree))
        trees.append(tree)
    return trees


def _git(folder: Path, *words: str) -> None:
    git = shutil.which("git") or "git"
    subprocess.run([git, "-C", str(folder), *words], check=True, capture_output=True)


class Strangers:
    """Servers that look like ours in every way but one: nobody of ours started them."""

    def __init__(self, trees: list[Path]) -> None:
        self.processes = [
            subprocess.Popen(
                [sys.executable, "gateway_entry.py"],
                cwd=tree,
                env={**os.environ, "PORT": "0"},
                start_new_session=True,
            )
            for tree in trees
        ]

    def ended(self) -> list[int]:
        """PIDs of those that are gone, which none may be."""
        return [one.pid for one in self.processes if one.poll() is not None]

    def close(self) -> None:
        for one in self.processes:
            one.kill()
            one.wait(30)
