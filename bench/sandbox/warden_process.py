"""The warden as a child process: order in, facts out; giving up is closing its input."""

import marshal
import os
import select
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Self

_ROOT = str(Path(__file__).resolve().parent.parent.parent)
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from bench.warden.__main__ import main; main()"
)
_LENGTH = 8
_PATIENCE_S = 60.0
"""Above the program's own limit: the warden ends by itself long before."""
_CHUNK = 1 << 16
_MOST_SAID = 4_000


class WardenProcess:
    """One warden for one order. ``result`` blocks; ``give_up`` may come from another thread."""

    def __init__(self, order: Mapping[str, object]) -> None:
        self._order = marshal.dumps(dict(order))
        wall_s = order["wall_s"]
        self._patience_s = _PATIENCE_S + (wall_s if isinstance(wall_s, int | float) else 0)
        self._closing = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, _ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"LANG": "C.UTF-8"},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.give_up()

    def give_up(self) -> None:
        """End the program; ``result`` returns soon after."""
        with self._closing:
            if self._process.stdin:
                self._process.stdin.close()

    def result(self) -> dict[str, Any]:
        """Hand over the order, wait, and return the facts; a fault of ours is a refusal."""
        self._hand_over()
        out, err = self._read()
        status = self._process.wait()
        try:
            facts = marshal.loads(out)  # noqa: S302 - written by our own process, not by the program
        except (EOFError, ValueError, TypeError):
            said = err.decode(errors="replace").strip().splitlines()
            why = f"its keeper ended with {status}{f': {said[-1]}' if said else ''}"
            return {"refused": why}
        return dict(facts)

    def _hand_over(self) -> None:
        assert self._process.stdin  # noqa: S101 - a pipe was asked for
        try:
            view = memoryview(len(self._order).to_bytes(_LENGTH, "little") + self._order)
            while view:
                view = view[self._process.stdin.write(view) or 0 :]
        except (BrokenPipeError, ValueError):  # it ended, or we gave up: the result says which
            return

    def _read(self) -> tuple[bytes, bytes]:
        """Read both streams to their end, for a bounded time."""
        assert self._process.stdout  # noqa: S101 - a pipe was asked for
        assert self._process.stderr  # noqa: S101 - a pipe was asked for
        streams = {
            stream.fileno(): stream for stream in (self._process.stdout, self._process.stderr)
        }
        read = {number: bytearray() for number in streams}
        poll = select.poll()
        for number in streams:
            poll.register(number, select.POLLIN)
        deadline_ns = perf_counter_ns() + int(self._patience_s * 1e9)
        open_ends = set(streams)
        while open_ends:
            left_ms = (deadline_ns - perf_counter_ns()) // 1_000_000
            ready = poll.poll(max(0, left_ms))
            if not ready:
                self._process.kill()  # what it walled in is killed by the kernel with it
                deadline_ns = perf_counter_ns() + int(_PATIENCE_S * 1e9)
            for number, _ in ready:
                received = os.read(number, _CHUNK)
                read[number] += received
                if not received:
                    poll.unregister(number)
                    open_ends.discard(number)
        for stream in streams.values():
            stream.close()
        out, err = (bytes(content) for content in read.values())
        return out, err[:_MOST_SAID]
