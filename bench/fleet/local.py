"""Load processes on this machine: spawned, spoken to over a socket pair, ended by their own handle."""

import asyncio
import errno
import pickle
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence

from bench.errors import LoadProcessLost
from bench.executor import Equipment, Whereabouts
from bench.fleet.frames import framed, read_frame
from bench.model.fleet import Order, Report, Setup, decode_report, encode

_LEAVING_S = 10.0
"""A process that was dismissed and has not ended by then is killed."""
_STATUS_S = 2.0
"""How long the status of a process is waited for whose line has ended."""
_OWN_LIMITS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Whoever meets one says that it is this machine's own limit, and what to do: ``bench.cli``."""


class LocalProcess:
    """One spawned load process."""

    def __init__(self, child: "subprocess.Popen[bytes]", number: int) -> None:
        self.child = child
        self._number = number
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def whereabouts(self) -> Whereabouts:
        """Where it runs."""
        return Whereabouts(
            number=self._number, pid=self.child.pid, host=platform.node(), shares_clock=True
        )

    async def open(self, ours: socket.socket, equipment: Equipment, setup: Setup) -> None:
        """Take over this end of the line and hand over secrets and setup."""
        self._reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        self._writer.write(framed(pickle.dumps(equipment)))
        await self.tell(setup)

    async def tell(self, order: Order) -> None:
        """Hand over one word."""
        if self._writer is None:
            raise LoadProcessLost(self._number, "it was never spoken to")
        try:
            self._writer.write(framed(encode(order)))
            await self._writer.drain()
        except OSError as fault:
            raise LoadProcessLost(self._number, await self._status()) from fault

    async def hear(self) -> Report:
        """Return the next word."""
        word = None if self._reader is None else await read_frame(self._reader)
        if word is None:
            raise LoadProcessLost(self._number, await self._status())
        return decode_report(word)

    async def close(self) -> None:
        """Close the line, which ends it, and return when it has ended."""
        if self._writer is not None:
            self._writer.close()
        try:
            await asyncio.to_thread(self.child.wait, _LEAVING_S)
        except subprocess.TimeoutExpired:
            self.child.kill()  # a child that nobody has waited for: the PID is still its own
            await asyncio.to_thread(self.child.wait)

    async def _status(self) -> str:
        try:
            code = await asyncio.to_thread(self.child.wait, _STATUS_S)
        except subprocess.TimeoutExpired:
            return "it closed its line"
        if code < 0:
            return f"it was killed by {signal.Signals(-code).name}"
        return f"it ended with exit code {code}"


class LocalExecutor:
    """``bench.executor.Executor`` on this machine."""

    def __init__(self) -> None:
        self._processes: list[LocalProcess] = []

    async def start(self, setups: Sequence[Setup], equipment: Equipment) -> Sequence[LocalProcess]:
        """Spawn one process for each setup."""
        for setup in setups:
            try:
                await self._start_one(setup, equipment)
            except OSError as fault:
                await self.close()
                if fault.errno in _OWN_LIMITS:
                    raise
                raise LoadProcessLost(setup.number, f"it did not start: {fault}") from fault
        return tuple(self._processes)

    async def close(self) -> None:
        """End what still runs and return when all are gone."""
        for process in self._processes:
            await process.close()
        self._processes.clear()

    async def _start_one(self, setup: Setup, equipment: Equipment) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                child = _spawned(theirs.fileno())
            except OSError:
                ours.close()
                raise
        process = LocalProcess(child, setup.number)
        self._processes.append(process)
        await process.open(ours, equipment, setup)


def _spawned(descriptor: int) -> "subprocess.Popen[bytes]":
    """Start one load process with its end of the line; nothing is measured at that time."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench.fleet", str(descriptor)],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
