"""Hold a running program to its limits: time, output, and what its groups count."""

import os
import select
import signal
import time

from bench.warden.accounting import Account
from bench.warden.folder import Folder
from bench.warden.frames import ENDED, STARTED, Frames
from bench.warden.looking import descendants, memory, tasks
from bench.warden.order import Order, Refused

_CHUNK = 65_536
_TURN_MS = 50
_SETUP_S = 20.0
_MOST_RETURNED = 32 * 1024 * 1024


class Watch:
    """One program from fork to the last byte."""

    def __init__(self, order: Order, account: Account, folder: Folder) -> None:
        self._order = order
        self._account = account
        self._folder = folder
        self._frames = Frames()
        self._kept: dict[int, bytearray] = {}
        self._output = 0
        self._ended: dict[str, object] | None = None
        self._killed: str | None = None
        self._files: dict[str, bytes] = {}
        self._returned = 0
        self._first = 0
        self._orphan: int | None = None
        self._deadline_ns = time.perf_counter_ns() + int(_SETUP_S * 1e9)
        self._began_ns: int | None = None
        self._next_look_ns = 0

    def run(self, first: int, out: int, err: int, report: int) -> dict[str, object]:
        """Watch until the walled side has ended; return the facts.

        Args:
            first: PID of the first process of the walled side.
            out: Standard output, to read.
            err: Standard error, to read.
            report: What the first process tells.

        Raises:
            Refused: Nothing was run.
        """
        self._first = first
        self._kept = {out: bytearray(), err: bytearray()}
        try:
            self._follow(out, err, report)
            return self._result(out, err)
        finally:
            self._kill("over")
            os.waitpid(first, 0)

    def _follow(self, out: int, err: int, report: int) -> None:
        """Read all three to their ends: those come when no process of the walled side is left."""
        open_ends = {out, err, report}
        poll = select.poll()
        for descriptor in open_ends:
            poll.register(descriptor, select.POLLIN)
        poll.register(0, 0)  # only its end matters
        while open_ends:
            for descriptor, _ in poll.poll(_TURN_MS):
                if descriptor == 0:
                    poll.unregister(0)
                    self._kill("given_up")
                elif not self._take(descriptor, report):
                    poll.unregister(descriptor)
                    os.close(descriptor)
                    open_ends.discard(descriptor)
            self._judge()

    def _take(self, descriptor: int, report: int) -> bool:
        """Read once; return whether more may come."""
        received = os.read(descriptor, _CHUNK)
        if descriptor == report:
            self._hear(received)
        else:
            room = max(0, self._order.output_bytes - self._output)
            self._kept[descriptor] += received[:room]
            self._output += len(received)
            if self._output > self._order.output_bytes:
                self._kill("output")
        return bool(received)

    def _hear(self, received: bytes) -> None:
        self._returned += len(received)
        try:
            frames = self._frames.feed(received)
        except ValueError:
            self._kill("report")
            return
        if self._returned > _MOST_RETURNED:
            self._kill("report")
        for kind, content in frames:
            self._note(kind, content)

    def _note(self, kind: bytes, content: bytes) -> None:
        now_ns = time.perf_counter_ns()
        if kind == b"R":
            raise Refused(content.decode(errors="replace"))
        if kind == b"S":
            self._began_ns = now_ns
            self._deadline_ns = now_ns + int(self._order.wall_s * 1e9)
            if self._order.is_alone:  # elsewhere it is a number of another namespace
                (self._orphan,) = STARTED.unpack(content)
        elif kind == b"E":
            status, cpu_ns, began_ns, ended_ns, is_full = ENDED.unpack(content)
            self._ended = {
                "status": status,
                "cpu_ns": cpu_ns,
                "duration_ns": ended_ns - began_ns,
                "full": is_full,
            }
            self._deadline_ns = now_ns + int(_SETUP_S * 1e9)
        elif kind == b"F":
            path, _, data = content.partition(b"\0")
            self._files[path.decode(errors="replace")] = data

    def _judge(self) -> None:
        now_ns = time.perf_counter_ns()
        if now_ns >= self._deadline_ns:
            self._kill("wall" if self._began_ns is not None else "setup")
        elif now_ns >= self._next_look_ns and self._killed is None:
            self._next_look_ns = now_ns + _TURN_MS * 1_000_000
            excess = self._excess()
            if excess:
                self._kill(excess)

    def _excess(self) -> str | None:
        """Return what is used too much of."""
        if self._account.refused_processes():
            return "processes"
        if self._account.memory_kills():
            return "memory"
        if self._folder.holds_too_much():
            return "files"
        return self._seen_excess()

    def _seen_excess(self) -> str | None:
        """Return the same of what no control group counts."""
        is_open = {"memory", "pids"} - set(self._account.held)
        pids = descendants(self._first) if is_open else []
        if "pids" in is_open and tasks(pids) > self._order.processes:
            return "processes"
        limit = self._order.memory_bytes
        return "memory" if "memory" in is_open and memory(pids, limit) > limit else None

    def _kill(self, why: str) -> None:
        """End everything; the first reason stands. What ended by itself already keeps its end."""
        if self._killed is None and self._ended is None:
            self._killed = why
        # Not reaped yet: the number is still its own.
        is_leashed = self._order.walls != "seatbelt"
        os.kill(self._first, signal.SIGKILL if is_leashed else signal.SIGTERM)
        self._end_orphan()

    def _end_orphan(self) -> None:
        """End the program where no PID namespace did it: with its parent gone it is our child."""
        if self._orphan is None:
            return
        os.waitid(os.P_PID, self._first, os.WEXITED | os.WNOWAIT)
        try:
            os.waitid(os.P_PID, self._orphan, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # reaped before: the number may be a stranger's by now
            return
        os.kill(self._orphan, signal.SIGKILL)
        os.waitpid(self._orphan, 0)
        self._orphan = None

    def _result(self, out: int, err: int) -> dict[str, object]:
        if self._began_ns is None:
            raise Refused("the sandbox could not be made in time")
        kills = self._account.memory_kills()
        if self._ended is None and self._killed is None:
            self._killed = "memory" if kills else "lost"
        watched_ns = time.perf_counter_ns() - self._began_ns
        ended = self._ended or {
            "status": None,
            "cpu_ns": 0,
            "duration_ns": watched_ns,
            "full": False,
        }
        return ended | {
            "killed": self._killed,
            "out": bytes(self._kept[out]),
            "err": bytes(self._kept[err]),
            "cut": self._output > self._order.output_bytes,
            "files": self._files,
            "memory_kills": kills,
            "refused_processes": self._account.refused_processes(),
        }
