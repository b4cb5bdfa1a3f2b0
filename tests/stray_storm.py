"""Gateways of many worktrees, started and stopped at random while our own commands are killed."""

import random
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from orchestrator.cleaning import clean
from orchestrator.lifecycle import Machine
from orchestrator.removals import Wish, removals
from orchestrator.strays import Stray
from orchestrator.survey import survey
from orchestrator.system import machine
from orchestrator.verdicts import Verdict
from tests.command_line import CommandLine
from tests.patience import until

_ENTRY = """
import { createServer } from "node:http";
createServer((_, answer) => answer.end("{}")).listen(process.env.PORT, "127.0.0.1");
"""
_SHARE_KILLED = 0.3
_KILLED_WITHIN_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How much of it."""

    home: Path
    worktrees: int
    gateways: int
    """Of each worktree."""
    seconds: float
    workers: int
    seed: int


@dataclass(slots=True, kw_only=True)
class Tally:
    """What was done."""

    commands: int = 0
    killed: int = 0
    codes: dict[int, int]
    said: dict[str, str]
    """First line of an error of each code, by code and command."""


def grown(storm: Storm) -> list[CommandLine]:
    """Make the worktrees; return a command line in each."""
    made = []
    for number in range(storm.worktrees):
        folder = storm.home / f"tree{number}"
        (folder / ".git").mkdir(parents=True)
        (folder / "dist").mkdir()
        (folder / "dist" / "serve.mjs").write_text(_ENTRY)
        made.append(CommandLine(storm.home, folder))
    return made


def rage(storm: Storm, lines: list[CommandLine]) -> Tally:
    """Start and stop until the time is over."""
    tally, lock = Tally(codes={}, said={}), threading.Lock()
    ends = time.monotonic() + storm.seconds

    def work(seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < ends:
            line = draw.choice(lines)
            name = f"g{draw.randrange(storm.gateways)}"
            words: tuple[str, ...] = ("stop", name)
            if draw.random() < 0.6:
                words = ("start", "--name", name, "--entry", "dist/serve.mjs", "--health", "/")
            process = line.begin(*words)
            is_killed = draw.random() < _SHARE_KILLED
            if is_killed:
                _kill_within(process, draw.random() * _KILLED_WITHIN_S)
            done = line.end(process)
            code = done.code
            with lock:
                tally.commands += 1
                tally.killed += code == -signal.SIGKILL
                tally.codes[code] = tally.codes.get(code, 0) + 1
                if code > 0:
                    faults = [one for one in done.err.splitlines() if one.startswith("error")]
                    tally.said[f"{code} {words[0]}"] = next(iter(faults), done.err)

    threads = [
        threading.Thread(target=work, args=(storm.seed + number,))
        for number in range(storm.workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def _kill_within(process: "subprocess.Popen[str]", seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()


def ours(here: Machine) -> dict[int, str]:
    """Return every living process that carries the marker of this state folder."""
    root = str(here.state.root)
    return {
        one.pid: one.marker or ""
        for one in here.table.everyone()
        if one.state != "zombie" and (one.record_path or "").startswith(f"{root}/")
    }


def of_this_folder(here: Machine) -> tuple[Stray, ...]:
    """Return what a survey says of this state folder."""
    root = str(here.state.root)
    return tuple(
        one for one in survey(here, near=root) if (one.record_path or "").startswith(f"{root}/")
    )


def settle(storm: Storm) -> tuple[Machine, tuple[Stray, ...]]:
    """Look at what is left once no command of ours runs any more."""
    here = machine(storm.home / "state" / "gwb")

    def at_rest() -> tuple[tuple[Stray, ...]] | None:
        # What a killed command had begun may come to its end a moment later.
        before, listed = ours(here), of_this_folder(here)
        is_held = any(one.verdict is Verdict.HELD for one in listed)
        return None if is_held or ours(here) != before else (listed,)

    found = until(at_rest)
    assert found is not None
    return here, found[0]


def cleaned(here: Machine) -> list[str]:
    """Remove everything that is idle; return what could not be removed."""
    done = clean(here, removals(of_this_folder(here), Wish(older_than_s=0.0)), is_ended=_never)
    return [one.why for one in done if not one.is_done]


def _never() -> bool:
    return False
