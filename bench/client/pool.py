"""Open connections between requests: which one the next request goes over."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bench.client.carrier import Carrier

_KEPT_IDLE_NS = 4_000_000_000
"""Servers close idle connections from 5 s on (uvicorn, Node); an older one is not trusted."""


class Pool:
    """HTTP/1.1 connections are taken out while they are used, HTTP/2 ones are shared.

    There is no limit on their number, so no request waits for one.
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._idle: list[Carrier] = []
        self._shared: list[Carrier] = []
        self._all: set[Carrier] = set()

    @property
    def room(self) -> int:
        """How many requests could be sent at once without opening a connection."""
        return len(self._idle) + sum(line.room for line in self._shared)

    def add(self, line: Carrier) -> None:
        """Know of an open connection, to close it in the end."""
        self._all.add(line)
        line.closed.add_done_callback(lambda _: self._all.discard(line))

    def keep(self, line: Carrier) -> None:
        """Let the next request have the connection."""
        if not line.is_open:
            return
        if line.http_version == "1.1":
            self._idle.append(line)
        elif line not in self._shared:
            self._shared.append(line)

    def take(self) -> Carrier | None:
        """Return the connection that was used last, if one has room and is not too long idle."""
        oldest_ns = self._now_ns() - _KEPT_IDLE_NS
        while self._idle:
            line = self._idle.pop()
            if line.is_open and line.idle_since_ns >= oldest_ns:
                return line
            line.abort()
        self._leave_stale(oldest_ns)
        return next((line for line in reversed(self._shared) if line.room), None)

    async def settle(self, patience_s: float) -> None:
        """Wait until it is known of shared connections how much they take, or for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                for line in tuple(self._shared):
                    await line.settled.wait()

    def close_stale(self) -> None:
        """Close what is too long idle, and forget what the other side has closed."""
        oldest_ns = self._now_ns() - _KEPT_IDLE_NS
        fresh = [line for line in self._idle if line.is_open and line.idle_since_ns >= oldest_ns]
        for line in set(self._idle) - set(fresh):
            line.abort()
        self._idle = fresh
        self._leave_stale(oldest_ns)

    async def close(self) -> None:
        """Close every connection; returns when they are gone."""
        self._idle.clear()
        self._shared.clear()
        for line in tuple(self._all):
            line.abort()
            await line.closed

    def _leave_stale(self, oldest_ns: int) -> None:
        for line in tuple(self._shared):
            is_stale = line.is_idle and line.idle_since_ns < oldest_ns
            if is_stale or not line.is_open:
                self._shared.remove(line)
                if line.is_idle:  # else: it closes itself when its last answer has come
                    line.abort()
