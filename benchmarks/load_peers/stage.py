"""One tool, one time: its whole process tree timed and weighed, the server as the witness."""

import os
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.load_peers.mock import Mock, Pace, running
from benchmarks.load_peers.tools import Order, Tool

_SAMPLE_S = 0.25
_LONGEST_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a command took, its children with it."""

    spawned_ns: int
    ended_ns: int
    status: int
    cpu_s: float
    peak_rss_mb: float
    """Largest sum over the tree, sampled four times a second: shared pages count in each."""
    processes: int
    """Most at one time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One run of one tool."""

    requests: int
    connections: int
    requests_per_s: float
    cpu_us: float
    """Of the tool, per request, its start included."""
    start_s: float
    """From its exec to the first request at the server."""
    tail_s: float
    """From the server's last byte to the tool's exit."""
    peak_rss_mb: float
    processes: int
    ttft_ms: tuple[float, ...]
    """As the tool reports them, request by request; empty where it says none."""
    server_ttft_ms: float
    ceiling: float
    """Requests a second of which the server would be capable on one core."""


def run(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Cost:
    """Run a command to its end, output into ``folder/out.txt``.

    Raises:
        TimeoutError: It did not end within five minutes; it was killed, its children with it.
    """
    began = time.perf_counter_ns()
    with (folder / "out.txt").open("wb") as out:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    scale = _Scale(process.pid)
    try:
        _, status, used = _waited(process.pid)
    finally:
        ended = time.perf_counter_ns()
        process.returncode = 0
        scale.stop()
    return Cost(
        spawned_ns=began,
        ended_ns=ended,
        status=os.waitstatus_to_exitcode(status),
        cpu_s=used.ru_utime + used.ru_stime,
        peak_rss_mb=scale.peak_bytes / 1e6,
        processes=scale.most,
    )


def finding(pace: Pace, tool: Tool, *, streams: int, requests: int) -> Finding:
    """Start a server of its own for one run of one tool, and judge the run by the server's log.

    Raises:
        RuntimeError: The tool ended with another status than 0, or sent nothing.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with running(pace) as mock:
            order = Order(url=mock.url, streams=streams, requests=requests, folder=folder)
            cost = run(tool.words(order), folder, tool.environment(order))
        if cost.status != 0 or not mock.served:
            last = (folder / "out.txt").read_text(errors="replace").splitlines()[-3:]
            msg = f"{tool.name}: status {cost.status}, {len(mock.served)} requests: {last}"
            raise RuntimeError(msg)
        return _judged(mock, cost, tuple(tool.ttft_ms(folder)) if tool.ttft_ms else ())


def _judged(mock: Mock, cost: Cost, ttft_ms: tuple[float, ...]) -> Finding:
    count = len(mock.served)
    return Finding(
        requests=count,
        connections=mock.connections,
        requests_per_s=mock.requests_per_s,
        cpu_us=1e6 * cost.cpu_s / count,
        start_s=(mock.began_ns - cost.spawned_ns) / 1e9,
        tail_s=(cost.ended_ns - mock.ended_ns) / 1e9,
        peak_rss_mb=cost.peak_rss_mb,
        processes=cost.processes,
        ttft_ms=ttft_ms,
        server_ttft_ms=mock.ttft_ms,
        ceiling=mock.ceiling,
    )


def _waited(pid: int) -> tuple[int, int, "resource.struct_rusage"]:
    deadline = time.monotonic() + _LONGEST_S
    while True:
        found = os.wait4(pid, os.WNOHANG)
        if found[0] == pid:
            return found
        if time.monotonic() > deadline:
            os.killpg(pid, 9)
            os.wait4(pid, 0)
            msg = f"no end after {_LONGEST_S:.0f} s"
            raise TimeoutError(msg)
        time.sleep(0.01)


class _Scale:
    """Weighs a process tree in a thread until told to stop."""

    def __init__(self, pid: int) -> None:
        self.peak_bytes = 0
        self.most = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._weigh_on, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _weigh_on(self) -> None:
        with suppress(psutil.NoSuchProcess):
            root = psutil.Process(self._pid)
            while not self._over.wait(_SAMPLE_S):
                self._weigh([root, *root.children(recursive=True)])

    def _weigh(self, tree: Sequence[psutil.Process]) -> None:
        total = 0
        for process in tree:
            with suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss
        self.peak_bytes = max(self.peak_bytes, total)
        self.most = max(self.most, len(tree))
